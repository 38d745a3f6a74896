//! `quorate fit`: from a table to a model file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use quorate::plan::{Entry, Plan};
use quorate::{Model, Scorecard};
use serde::Serialize;

use super::choices::{Choices, checkpoint_path, model_path};
use super::plan;
use super::usage::check_apart;
use crate::failure::Result;
use crate::pages;
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables::Training;
use crate::text::{Console, HEADING, LITERAL, bytes, count, duration, printable, readable_kernel};

/// Fit a model to a table and write it to a file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate fit houses.csv --target price -o houses.quorate
  quorate fit houses.csv --target price --ignore id,address -o houses.quorate
  quorate fit trial.parquet --target dose --kernel 'matern52(ard) + category[site]' -o trial.quorate
  quorate fit motorcycle.csv --target y --likelihood heteroscedastic -o motorcycle.quorate
  quorate fit step.csv --target y --method mixture --experts 10 -o step.quorate
  quorate fit sensors.parquet --target load --memory 4GiB --time 2min -o sensors.quorate
  quorate fit claims.parquet --target claims --exposure years --likelihood poisson -o claims.quorate
  quorate fit patients.csv --target days --event died -o patients.quorate
  quorate inspect houses.quorate --spec > spec.json
  quorate fit houses.csv --spec spec.json -o again.quorate      the same model, byte for byte

Kernels: se, matern12, matern32, matern52, rq, periodic, linear, polynomial, constant, network, basis, category, \
put together with + and *; (ard) gives every input its own length scale, [columns] names the inputs of a part.")]
pub struct Fit {
    /// Table to learn from: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    train: PathBuf,
    /// Model file to write; an existing file is replaced when the fit is complete
    #[arg(short, long, value_name = "MODEL", value_parser = PathBufValueParser::new().try_map(model_path))]
    output: PathBuf,
    /// File in which the fit writes down how far it has come; the same command goes on from there after an interruption
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(checkpoint_path))]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
}

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    bytes: u64,
    rows: usize,
    distinct_rows: usize,
    inputs: Vec<String>,
    target: &'a str,
    kernel: &'a str,
    log_evidence: Option<f64>,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    leave_one_out: Option<&'a Scorecard>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_out: Option<&'a Scorecard>,
    notes: &'a [String],
    planned: &'a Entry,
    seconds: f64,
}

impl Fit {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let read = [Some(&*self.train)].into_iter().chain(self.choices.files());
        check_apart(
            "fit",
            [Some(&*self.output), self.checkpoint.as_deref()],
            read,
        )?;
        let mut spec = self.choices.specification("fit")?;
        let staged = Staged::new(&self.output)?;
        let mut table = Training::open(&self.train, &spec, console)?;
        self.choices
            .give_landmarks(&mut spec, &table.survey().sample.header)?;
        let plan = Model::plan(&spec, table.survey())?;
        plan::announce(&plan, console);
        let progress = Progress::kept(console, self.checkpoint.as_deref())?;
        let model = if plan.streams() {
            let mut rows = table.rows()?;
            Model::fit_stream(&spec, &plan, table.survey(), &mut rows, &progress)
        } else {
            let whole = Cow::Owned(table.whole()?);
            Model::fit_planned(&spec, &plan, whole, &progress)
        };
        let model = progress.outcome(model)?;
        model
            .save(&staged.path())
            .map_err(|error| staged.blame(error.into()))?;
        let size = std::fs::metadata(staged.path()).map_or(0, |found| found.len());
        staged.commit()?;
        progress.done()?;
        self.report(&model, &plan, size, started, console)
    }

    fn report(
        &self,
        model: &Model,
        plan: &Plan,
        size: u64,
        started: Instant,
        console: &Console,
    ) -> Result<()> {
        let page = model.inspect()?;
        let types = model.schema().expected_types();
        let inputs: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
        console.say(format!(
            "{HEADING}{}{HEADING:#} from {} and {}: {}",
            printable(&page.target.name),
            count(page.rows, "row"),
            count(inputs.len(), "input"),
            printable(&listed(&inputs))
        ))?;
        for note in &page.notes {
            console.note(note);
        }
        console.detail(format!("\n{}", pages::inputs(&page, &types).trim_end()))?;
        console.say(format!(
            "\n{HEADING}Kernel{HEADING:#}  {}",
            printable(&readable_kernel(&page.kernel))
        ))?;
        if console.verbose {
            console.say(pages::learning(&page, true).trim_end())?;
        } else {
            console.say(printable(model.outcome()))?;
        }
        let scores = model.leave_one_out();
        console.say(format!(
            "\n{HEADING}{}{HEADING:#} over {}\n",
            pages::kind_of_scores(&page),
            count(scores.rows(), "row")
        ))?;
        console.say(pages::scores(scores))?;
        console.say(format!(
            "Wrote {LITERAL}{}{LITERAL:#} ({}) after {}",
            self.output.display(),
            bytes(size),
            duration(started.elapsed())
        ))?;
        console.json(&Report {
            model: &self.output,
            bytes: size,
            rows: page.rows,
            distinct_rows: page.distinct_rows,
            inputs,
            target: &page.target.name,
            kernel: &page.kernel,
            log_evidence: page.log_evidence,
            outcome: model.outcome(),
            leave_one_out: page.leave_one_out.as_ref(),
            held_out: page.held_out.as_ref(),
            notes: &page.notes,
            planned: &plan.chosen,
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// Names for a line: all of a few, the first of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}
