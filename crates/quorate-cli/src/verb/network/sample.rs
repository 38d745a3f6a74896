//! `quorate network sample`: rows drawn from a network.

use std::path::PathBuf;

use clap::Args;
use quorate_gp::data::{Column, ColumnType, Frame, Header};
use serde::Serialize;

use super::{given, open};
use crate::failure::Result;
use crate::sink::Sink;
use crate::text::{Console, LITERAL, count};
use crate::verb::usage::check_apart;

/// Draw rows from a network
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate network sample patients.network -n 1000 --given age=70 -o drawn.csv
  quorate network sample weather.network -n 20                     to standard output

With values given for variables of a Bayesian network, the column `log_weight` says how much each row counts.")]
pub struct Sample {
    /// Network file made by `quorate network fit`
    network: PathBuf,
    /// Number of rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    rows: usize,
    /// What is known, as column=value; exogenous columns always are
    #[arg(long, value_name = "COL=VALUE,..", value_delimiter = ',')]
    given: Vec<String>,
    /// Rounds over all columns, for a dependency network
    #[arg(long, value_name = "N", default_value_t = 50)]
    rounds: usize,
    /// File to write: CSV, CSV.gz, Parquet or Arrow by its ending; `-` for CSV on standard output [default: -]
    #[arg(short, long, value_name = "DATA")]
    output: Option<PathBuf>,
    /// Seed of the rows
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

#[derive(Serialize)]
struct Report<'a> {
    output: &'a str,
    rows: usize,
    columns: &'a [String],
}

impl Sample {
    pub fn run(self, console: &Console) -> Result<()> {
        let read = [Some(&*self.network)];
        check_apart("network sample", [self.output.as_deref()], read)?;
        let network = open(&self.network)?;
        let given = given(&self.given)?;
        let mut sink = Sink::new(self.output.as_deref(), console)?;
        let (mut table, weights) = network.draw(self.rows, &given, self.rounds, self.seed)?;
        let variables = |name: &String| network.graph.variables().any(|own| own == name);
        if !network.graph.dependency && given.iter().any(|(name, _)| variables(name)) {
            let mut header = Header::clone(&table.header);
            header.names.push("log_weight".to_owned());
            header.types.push(ColumnType::Number);
            let mut columns = table.columns;
            columns.push(Column::Number(weights));
            table = Frame::new(header.into(), columns, 1)?;
        }
        sink.header(&table.header)?;
        sink.write(&table)?;
        let Some(path) = sink.finish(&[])? else {
            return Ok(());
        };
        let output = path.display().to_string();
        console.say(format!(
            "Wrote {LITERAL}{output}{LITERAL:#}: {}",
            count(table.rows(), "row")
        ))?;
        console.json(&Report {
            output: &output,
            rows: table.rows(),
            columns: &table.header.names,
        })
    }
}
