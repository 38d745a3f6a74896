//! `quorate reproduce`: the papers' figures computed again, ours beside theirs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quorate_gp::data::{Frame, read_all};
use quorate_paper::reproduce::{Context, Experiment, Reproduction, Size};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::pages;
use crate::progress::Progress;
use crate::staged::StagedFolder;
use crate::text::{Align, Console, HEADING, LITERAL, Table, duration};

/// Compute a figure or claim of the papers again: ours beside theirs, as Markdown, CSV and SVG
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate reproduce                                     what there is
  quorate reproduce gbcm-figure-1
  quorate reproduce gbcm-6.1 --quick -o figures
  quorate reproduce thesis-4.1 --data tables            a folder with scatterometry.parquet

Without --quick, the sizes are those of the papers and take minutes.")]
pub struct Reproduce {
    /// What to compute; without it, the list
    #[arg(value_parser = experiments())]
    id: Option<Experiment>,
    /// Folder for ID.md, ID.csv and ID.svg; it is made if it does not exist
    #[arg(short, long, value_name = "DIR", default_value = "quorate-reproduce")]
    output: PathBuf,
    /// Small sizes, to see that it works
    #[arg(long)]
    quick: bool,
    /// Folder with tables that some experiments need, like scatterometry.parquet
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    what: &'static str,
    source: &'static str,
}

#[derive(Serialize)]
struct Outcome<'a> {
    id: &'static str,
    files: Vec<PathBuf>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    labels: &'a [String],
    columns: &'a [&'static str],
    rows: &'a [Vec<f64>],
    claims: Vec<Compared<'a>>,
}

#[derive(Serialize)]
struct Compared<'a> {
    theirs: &'a str,
    ours: &'a str,
    agrees: bool,
}

impl Reproduce {
    pub fn run(self, console: &Console) -> Result<()> {
        match self.id {
            None => list(console),
            Some(experiment) => self.compute(experiment, console),
        }
    }

    fn compute(&self, experiment: Experiment, console: &Console) -> Result<()> {
        let started = Instant::now();
        let folder = StagedFolder::new(&self.output)?;
        let progress = Progress::new(console);
        let context = Context {
            size: if self.quick { Size::Quick } else { Size::Paper },
            seed: self.seed,
            clock: &processor_seconds,
            wall: &wall_seconds,
            data: &|name| self.table(name),
            watch: &progress,
        };
        let found = match experiment {
            // Time is measured on one thread, as it was then.
            Experiment::GbcmFigure1 => rayon::ThreadPoolBuilder::new()
                .num_threads(1)
                .build()
                .map_err(|error| Failure::Failed(format!("threads: {error}")))?
                .install(|| experiment.run(&context))?,
            _ => experiment.run(&context)?,
        };
        progress.finish();
        let name = experiment.name();
        let command = self.command(experiment);
        let files = [
            ("md", pages::reproduction(experiment, &found, &command)),
            ("csv", pages::reproduction_csv(&found)),
            ("svg", pages::reproduction_picture(&found)),
        ];
        for (ending, content) in &files {
            let path = folder.path().join(format!("{name}.{ending}"));
            std::fs::write(&path, content)
                .map_err(|error| folder.blame(Failure::file(&path, &error)))?;
        }
        folder.commit()?;
        let written = files
            .iter()
            .map(|(ending, _)| self.output.join(format!("{name}.{ending}")))
            .collect();
        console.say(pages::reproduction_claims(experiment, &found).trim_end())?;
        console.say(format!(
            "\nWrote {LITERAL}{}{LITERAL:#}, .csv and .svg after {}",
            self.output.join(format!("{name}.md")).display(),
            duration(started.elapsed())
        ))?;
        console.json(&outcome(experiment, &found, written))
    }

    /// A table of the folder of tables.
    fn table(&self, name: &str) -> quorate::Result<Option<Frame>> {
        let Some(folder) = &self.data else {
            return Ok(None);
        };
        let mut path = folder.join(name);
        if let Some(plain) = name.strip_suffix(".gz").filter(|_| !path.exists()) {
            path = folder.join(plain);
        }
        let told = |error: quorate_table::Error| quorate::Error::Spec(error.to_string());
        let options = quorate_table::OpenOptions::default();
        let mut source = quorate_table::open(&path, &options).map_err(told)?;
        Ok(Some(read_all(source.as_mut())?))
    }

    /// What to type for the same result.
    fn command(&self, experiment: Experiment) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let seed = match self.seed {
            0 => String::new(),
            seed => format!(" --seed {seed}"),
        };
        let data = match &self.data {
            Some(_) if experiment.reads_tables() => " --data DIR",
            _ => "",
        };
        format!("quorate reproduce {}{quick}{data}{seed}", experiment.name())
    }
}

fn outcome(experiment: Experiment, found: &Reproduction, files: Vec<PathBuf>) -> Outcome<'_> {
    Outcome {
        id: experiment.name(),
        files,
        labels: &found.labels,
        columns: &found.columns,
        rows: &found.rows,
        claims: found
            .claims
            .iter()
            .map(|claim| Compared {
                theirs: &claim.theirs,
                ours: &claim.ours,
                agrees: claim.agrees,
            })
            .collect(),
    }
}

fn list(console: &Console) -> Result<()> {
    let mut table = Table::new([("id", Align::Left), ("what it shows", Align::Left)]);
    for experiment in Experiment::ALL {
        table.row([experiment.name(), experiment.description()]);
    }
    console.answer(format!(
        "{HEADING}What can be computed again{HEADING:#}\n\n{}",
        table.render().trim_end()
    ))?;
    let listed = Experiment::ALL.map(|experiment| Listed {
        id: experiment.name(),
        what: experiment.description(),
        source: experiment.source(),
    });
    console.json(&serde_json::json!({ "experiments": listed }))
}

/// The experiments with their sentences, so that help, completions and suggestions know them.
fn experiments() -> impl TypedValueParser<Value = Experiment> {
    let values = Experiment::ALL
        .map(|experiment| PossibleValue::new(experiment.name()).help(experiment.description()));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Experiment>())
}

/// Seconds of processor time of this thread where the system tells them, else of the clock on the wall: a busy machine
/// should not look like a slow method.
fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string(Path::new("/proc/thread-self/schedstat")).ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(wall_seconds, |nanoseconds| nanoseconds * 1e-9)
}

/// Seconds of the clock on the wall since the first time it was asked.
pub fn wall_seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
