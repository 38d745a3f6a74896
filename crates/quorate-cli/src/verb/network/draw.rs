//! `quorate network draw`: the graph as a picture.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::open;
use crate::failure::{Failure, Result};
use crate::plot::svg::graph;
use crate::staged::Staged;
use crate::text::{Console, LITERAL};
use crate::verb::usage::check_apart;

/// Draw the graph of a network as SVG
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate network draw patients.network -o patients.svg")]
pub struct Draw {
    /// Network file made by `quorate network fit`
    network: PathBuf,
    /// SVG file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    output: &'a Path,
    nodes: usize,
    edges: usize,
}

impl Draw {
    pub fn run(self, console: &Console) -> Result<()> {
        check_apart(
            "network draw",
            [Some(&*self.output)],
            [Some(&*self.network)],
        )?;
        let network = open(&self.network)?;
        let staged = Staged::new(&self.output)?;
        let picture = graph(&network.graph)?;
        let place = staged.path();
        std::fs::write(&place, picture)
            .map_err(|error| staged.blame(Failure::file(&place, &error)))?;
        staged.commit()?;
        console.say(format!(
            "Wrote {LITERAL}{}{LITERAL:#}",
            self.output.display()
        ))?;
        let parents = network.graph.parents.iter();
        console.json(&Report {
            output: &self.output,
            nodes: network.graph.parents.len() + network.graph.exogenous.len(),
            edges: parents.map(|(_, parents)| parents.len()).sum(),
        })
    }
}
