//! `quorate fit`: from a table to a model file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory};
use quorate::{KernelChoice, LearnChoice, MethodChoice, Model, ModelSpec, Scores};
use serde::Serialize;

use crate::arguments::Arguments;
use crate::columns::ColumnList;
use crate::failure::{Failure, Result};
use crate::pages;
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables;
use crate::text::{Console, HEADING, LITERAL, bytes, count, duration, printable, readable_kernel};

/// Fit a model to a table and write it to a file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate fit houses.csv --target price -o houses.quorate
  quorate fit houses.csv --target price --ignore id,address -o houses.quorate
  quorate fit trial.parquet --target dose --kernel 'matern52(ard) + category[site]' -o trial.quorate
  quorate inspect houses.quorate --spec > spec.json
  quorate fit houses.csv --spec spec.json -o again.quorate      the same model, byte for byte

Kernels: se, matern12, matern32, matern52, rq, periodic, linear, polynomial, constant, network, basis, category, \
put together with + and *; (ard) gives every input its own length scale, [columns] names the inputs of a part.")]
pub struct Fit {
    /// Table to learn from: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    train: PathBuf,
    /// Column to predict
    #[arg(short, long, value_name = "COL", required_unless_present = "spec")]
    target: Option<String>,
    /// Model file to write; an existing file is replaced when the fit is complete
    #[arg(short, long, value_name = "MODEL", value_parser = PathBufValueParser::new().try_map(model_path))]
    output: PathBuf,
    /// Columns to use as inputs [default: all others]
    #[arg(long, value_name = "COL,..", conflicts_with = "ignore")]
    inputs: Option<ColumnList>,
    /// Columns to leave out
    #[arg(long, value_name = "COL,..")]
    ignore: Option<ColumnList>,
    /// Column of weights: weight k counts as k copies of the row
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// Column of known noise: the variance of the row's target, in squared units of the target
    #[arg(long, value_name = "COL")]
    noise: Option<String>,
    /// Kernel: `auto` chooses by evidence, or a kernel as text [default: auto]
    #[arg(long, value_name = "SPEC")]
    kernel: Option<KernelChoice>,
    /// One exact process, or a committee of experts for neighbourhoods; `auto` decides by size [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = methods())]
    method: Option<MethodChoice>,
    /// Nearest rows an expert of the committee takes for each question [default: 300]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    neighbours: Option<usize>,
    /// How hyperparameters are learned; `none` keeps those of the kernel's text [default: auto]
    #[arg(long, value_name = "HOW", value_parser = ways_of_learning())]
    learn: Option<LearnChoice>,
    /// Further starting points of the search [default: as many as the size of the table affords]
    #[arg(long, value_name = "N")]
    restarts: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Every choice from a file, as `quorate inspect --spec` prints it; other flags override it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
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
    leave_one_out: &'a Scores,
    notes: &'a [String],
    seconds: f64,
}

impl Fit {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let spec = self.specification()?;
        let staged = Staged::new(&self.output)?;
        let table = tables::training(&self.train, &spec, console)?;
        let progress = Progress::new(console);
        let model = Model::fit(&spec, &table, &progress)?;
        progress.finish();
        model
            .save(&staged.path())
            .map_err(|error| staged.blame(error.into()))?;
        let size = std::fs::metadata(staged.path()).map_or(0, |found| found.len());
        staged.commit()?;
        self.report(&model, size, started, console)
    }

    /// The choices of the file, if any, overridden by those of the command line.
    fn specification(&self) -> Result<ModelSpec> {
        let mut spec = match &self.spec {
            Some(path) => read_specification(path)?,
            None => ModelSpec::new(""),
        };
        if let Some(target) = &self.target {
            spec.target.clone_from(target);
        }
        if let Some(ColumnList(inputs)) = &self.inputs {
            spec.inputs = Some(inputs.clone());
            spec.ignore.clear();
        }
        if let Some(ColumnList(ignore)) = &self.ignore {
            spec.ignore.clone_from(ignore);
            spec.inputs = None;
        }
        if self.weight.is_some() {
            spec.weight.clone_from(&self.weight);
        }
        if self.noise.is_some() {
            spec.noise.clone_from(&self.noise);
        }
        if let Some(kernel) = &self.kernel {
            spec.kernel = kernel.clone();
        }
        if let Some(learn) = &self.learn {
            spec.learn = *learn;
        }
        if let Some(method) = &self.method {
            spec.method = *method;
        }
        spec.neighbours = self.neighbours.or(spec.neighbours);
        spec.restarts = self.restarts.or(spec.restarts);
        spec.seed = self.seed.unwrap_or(spec.seed);
        if spec.target.is_empty() {
            return Err(usage("the specification names no target; add --target COL").into());
        }
        Ok(spec)
    }

    fn report(&self, model: &Model, size: u64, started: Instant, console: &Console) -> Result<()> {
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
        for note in model.notes() {
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
            "\n{HEADING}Leave-one-out scores{HEADING:#} over {}\n",
            count(scores.n, "row")
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
            leave_one_out: scores,
            notes: model.notes(),
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

fn methods() -> impl TypedValueParser<Value = MethodChoice> {
    let names = MethodChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<MethodChoice>())
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number of at least 1 is needed".to_owned()),
        Ok(count) => Ok(count),
    }
}

fn ways_of_learning() -> impl TypedValueParser<Value = LearnChoice> {
    let names = LearnChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<LearnChoice>())
}

/// Names for a line: all of a few, the first of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}

fn read_specification(path: &Path) -> Result<ModelSpec> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        // The parser ends its message with the place; ours goes first, as in every message.
        let message = error.to_string();
        let problem = message.split(" at line ").next().unwrap_or(&message);
        Failure::Failed(format!(
            "{}:{}:{}: {problem}; `quorate inspect MODEL --spec` prints a specification to start from",
            path.display(),
            error.line(),
            error.column()
        ))
    })
}

/// A usage error of this verb, shown as clap shows its own.
fn usage(message: &str) -> clap::Error {
    let mut command = Arguments::command();
    command.build();
    match command.find_subcommand_mut("fit") {
        Some(fit) => fit.error(ErrorKind::MissingRequiredArgument, message),
        None => command.error(ErrorKind::MissingRequiredArgument, message),
    }
}

fn model_path(path: PathBuf) -> std::result::Result<PathBuf, &'static str> {
    if path == Path::new("-") {
        return Err("a model is written to a file, not to standard output");
    }
    Ok(path)
}
