//! `quorate inspect`: what a model file holds.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::{Inspection, Model};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::pages::{self, mixture_figure};
use crate::staged::Staged;
use crate::text::{Console, HEADING, bytes};

/// Show what a model file holds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate inspect houses.quorate
  quorate inspect houses.quorate --json | jq .kernel
  quorate inspect houses.quorate --plot relevance.svg    hyperparameters with error bars
  quorate inspect houses.quorate --spec > spec.json      every choice, for `quorate fit --spec`")]
pub struct Inspect {
    /// Model file made by `quorate fit`
    model: PathBuf,
    /// Print the specification as JSON; `quorate fit --spec` makes the same model from it and the same table
    #[arg(long)]
    spec: bool,
    /// Draw what is believed about the hyperparameters into an SVG file, for models learned by `nuts`, `hmc`, `lla` or
    /// `laplace-propagation`; or experts and gates, for mixtures of one input
    #[arg(long, value_name = "FILE", conflicts_with = "spec")]
    plot: Option<PathBuf>,
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
        if let Some(path) = &self.plot {
            match mixture_figure(&model)? {
                Some(picture) => write(&picture, path)?,
                None => draw(&inspection, path)?,
            }
        }
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

/// Writes the picture of the hyperparameters.
fn draw(found: &Inspection, path: &Path) -> Result<()> {
    let Some(belief) = &found.hyperposterior else {
        return Err(Failure::Failed(
            "this model has one value for each hyperparameter and nothing to draw: fit with `--learn nuts`, `hmc`, `lla` or `laplace-propagation`"
                .into(),
        ));
    };
    write(&pages::beliefs_figure(belief), path)
}

fn write(picture: &str, path: &Path) -> Result<()> {
    let staged = Staged::new(path)?;
    std::fs::write(staged.path(), picture)
        .map_err(|error| staged.blame(Failure::file(&staged.path(), &error)))?;
    staged.commit()
}
