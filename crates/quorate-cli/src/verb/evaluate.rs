//! `quorate evaluate`: how well a model predicts rows whose target is known.

use std::path::PathBuf;

use clap::Args;
use quorate::Model;
use quorate_gp::data::Quantity;

use crate::failure::Result;
use crate::forecast::Time;
use crate::pages;
use crate::progress::Progress;
use crate::tables;
use crate::text::{Console, HEADING, count};

/// Score a model on rows whose target is known
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate evaluate houses.quorate held-out.csv
  quorate evaluate houses.quorate held-out.csv --json | jq .rmse
  quorate evaluate letters.quorate held-out.csv --json | jq .log_loss
  quorate evaluate patients.quorate held-out.csv --horizons 365,730")]
pub struct Evaluate {
    /// Model file made by `quorate fit`
    model: PathBuf,
    /// Table with the model's inputs and its target: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    data: PathBuf,
    /// Times at which the survival of lifetimes is scored [default: quartiles of those observed]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    horizons: Vec<Time>,
}

impl Evaluate {
    pub fn run(self, console: &Console) -> Result<()> {
        let model = Model::load(&self.model)?;
        let horizons: Vec<f64> = self.horizons.iter().map(|time| time.value).collect();
        let kind = model.schema().target().quantity().map(|code| code.quantity);
        if !horizons.is_empty() && kind != Some(Quantity::Positive) {
            let problem = "`--horizons` is about lifetimes, which this model does not predict";
            return Err(quorate::Error::Spec(problem.into()).into());
        }
        let mut source = tables::scoring(&self.data, &model, console)?;
        let progress = Progress::new(console);
        let unknown = tables::unknown_noise(source.header(), &model);
        let (scores, notes) = model.evaluate_at(&mut *source, &horizons, &progress)?;
        progress.finish();
        for note in notes.iter().chain(&unknown) {
            console.note(note);
        }
        console.answer(format!(
            "{HEADING}Scores of {} on {} of {}{HEADING:#}\n",
            self.model.display(),
            count(scores.rows(), "row"),
            self.data.display()
        ))?;
        console.answer(pages::scores(&scores).trim_end())?;
        console.json(&scores)
    }
}
