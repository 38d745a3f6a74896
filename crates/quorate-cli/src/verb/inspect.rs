//! `quorate inspect`: what a model file holds.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::{Inspection, Model};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::pages;
use crate::text::{Console, HEADING, bytes};

/// Show what a model file holds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate inspect houses.quorate
  quorate inspect houses.quorate --json | jq .kernel
  quorate inspect houses.quorate --spec > spec.json      every choice, for `quorate fit --spec`")]
pub struct Inspect {
    /// Model file made by `quorate fit`
    model: PathBuf,
    /// Print the specification as JSON; `quorate fit --spec` makes the same model from it and the same table
    #[arg(long)]
    spec: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    bytes: u64,
    #[serde(flatten)]
    inspection: &'a Inspection,
}

impl Inspect {
    pub fn run(self, console: &Console) -> Result<()> {
        let model = Model::load(&self.model)?;
        if self.spec {
            let text = serde_json::to_string_pretty(model.spec())
                .map_err(|error| Failure::Failed(format!("specification: {error}")))?;
            return console.raw(&format!("{text}\n"));
        }
        let size = std::fs::metadata(&self.model).map_or(0, |found| found.len());
        let inspection = model.inspect()?;
        let types = model.schema().expected_types();
        console.answer(format!(
            "{HEADING}{}{HEADING:#}  {}, format {}, quorate {}\n",
            self.model.display(),
            bytes(size),
            inspection.format_version,
            inspection.quorate_version
        ))?;
        console.answer(pages::model(&inspection, &types, console.verbose).trim_end())?;
        console.json(&Report {
            file: &self.model,
            bytes: size,
            inspection: &inspection,
        })
    }
}
