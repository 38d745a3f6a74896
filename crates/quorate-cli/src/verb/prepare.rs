//! `quorate prepare`: a landmarks model with no rows, for parts absorbed anywhere.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use quorate::{Model, Scorecard};
use serde::Serialize;

use super::choices::{Choices, model_path};
use super::sums::{self, Sum};
use super::usage::check_apart;
use crate::failure::Result;
use crate::pages;
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables::Training;
use crate::text::{Console, HEADING, count, printable, readable_kernel};

/// Learn everything but the rows from a sample: a model that parts fitted anywhere have in common
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate prepare sample.csv --target y -o shared.quorate
  quorate prepare sample.csv --target y --landmarks 1500 --kernel 'se(ard)' -o shared.quorate
  quorate update shared.quorate north.csv -o north.quorate

The sample gives scaling, kernel, hyperparameters and landmarks; its rows are not in the model.")]
pub struct Prepare {
    /// Table to learn from: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    sample: PathBuf,
    /// Model file to write; an existing file is replaced when all is complete
    #[arg(short, long, value_name = "MODEL", value_parser = PathBufValueParser::new().try_map(model_path))]
    output: PathBuf,
    #[command(flatten)]
    choices: Choices,
}

#[derive(Serialize)]
struct Report<'a> {
    kernel: &'a str,
    outcome: &'a str,
    held_out: Option<&'a Scorecard>,
    notes: &'a [String],
    #[serde(flatten)]
    sum: Sum<'a>,
}

impl Prepare {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let read = [Some(&*self.sample)]
            .into_iter()
            .chain(self.choices.files());
        check_apart("prepare", [Some(&*self.output)], read)?;
        let mut spec = self.choices.specification("prepare")?;
        let staged = Staged::new(&self.output)?;
        let table = Training::open(&self.sample, &spec, console)?;
        self.choices
            .give_landmarks(&mut spec, &table.survey().sample.header)?;
        let progress = Progress::new(console);
        let model = Model::prepare(&spec, &table.survey().sample, &progress)?;
        progress.finish();
        let page = model.inspect()?;
        for note in &page.notes {
            console.note(note);
        }
        console.say(format!(
            "{HEADING}Kernel{HEADING:#}  {}\n{}",
            printable(&readable_kernel(&page.kernel)),
            printable(model.outcome())
        ))?;
        if let Some(scores) = &page.held_out {
            console.say(format!(
                "\n{HEADING}Held-out scores{HEADING:#} over {} of the sample\n",
                count(scores.rows(), "row")
            ))?;
            console.say(pages::scores(scores))?;
        }
        let sum = sums::write(&model, staged, &self.output, started, console)?;
        console.json(&Report {
            kernel: &page.kernel,
            outcome: model.outcome(),
            held_out: page.held_out.as_ref(),
            notes: &page.notes,
            sum,
        })
    }
}
