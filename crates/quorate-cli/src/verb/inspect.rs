//! `quorate inspect`: what a model file holds.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::ensemble::{CommitteeModel, CommitteeSpec, NoGuests};
use quorate::file::members;
use quorate::{Inspection, Model, Scorecard};
use serde::Serialize;

use super::usage::check_apart;
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
  quorate inspect committee.quorate --plot weights.svg   weights of a committee's members
  quorate inspect houses.quorate --spec > spec.json      every choice, for `quorate fit --spec`")]
pub struct Inspect {
    /// Model file made by `quorate fit`, or the file of a committee of members
    model: PathBuf,
    /// Print the specification as JSON; `quorate fit --spec` makes the same model from it and the same table
    #[arg(long)]
    spec: bool,
    /// Draw what is believed about the hyperparameters into an SVG file, for models learned by `nuts`, `hmc`, `lla` or
    /// `laplace-propagation`; or experts and gates, for mixtures of one input; or the weights of a committee of members
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

/// What is told of a committee of members.
#[derive(Serialize)]
struct Account<'a> {
    file: &'a Path,
    bytes: u64,
    spec: &'a CommitteeSpec,
    rule: &'a str,
    members: &'a [String],
    weights: Option<&'a [f64]>,
    out_of_bag: Option<&'a Scorecard>,
    notes: &'a [String],
}

impl Inspect {
    pub fn run(self, console: &Console) -> Result<()> {
        check_apart("inspect", [self.plot.as_deref()], [Some(&*self.model)])?;
        if let Some(model) = committee(&self.model)? {
            return self.members(&model, console);
        }
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

    /// The page of a committee of members.
    fn members(&self, model: &CommitteeModel, console: &Console) -> Result<()> {
        if self.spec {
            let text = serde_json::to_string_pretty(model.spec())
                .map_err(|error| Failure::Failed(format!("specification: {error}")))?;
            return console.raw(&format!("{text}\n"));
        }
        if let Some(path) = &self.plot {
            let Some(picture) = pages::weights_figure(model) else {
                return Err(Failure::Failed(format!(
                    "the rule `{}` weighs members anew at every row, so that there are no weights to draw",
                    model.rule()
                )));
            };
            write(&picture, path)?;
        }
        let size = std::fs::metadata(&self.model).map_or(0, |found| found.len());
        console.answer(format!(
            "{HEADING}{}{HEADING:#}  {}, a committee of members\n",
            self.model.display(),
            bytes(size)
        ))?;
        console.answer(pages::committee(model).trim_end())?;
        console.json(&Account {
            file: &self.model,
            bytes: size,
            spec: model.spec(),
            rule: model.rule(),
            members: model.kinds(),
            weights: model.weights(),
            out_of_bag: model.out_of_bag(),
            notes: model.notes(),
        })
    }
}

/// The committee of members that the file holds; none where it holds something else.
fn committee(path: &Path) -> Result<Option<CommitteeModel>> {
    let Ok(bytes) = std::fs::read(path) else {
        return Ok(None); // Told by whoever reads it next.
    };
    if !members::is_committee(&bytes) {
        return Ok(None);
    }
    let origin = path.display().to_string();
    Ok(Some(members::from_bytes(&bytes, &origin, &NoGuests)?))
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
