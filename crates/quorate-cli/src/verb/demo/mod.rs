//! `quorate demo`: a complete run on generated data, from rows to pictures.

mod data;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use quorate::{Model, ModelSpec, Scores};
use quorate_gp::data::{Column, Frame};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::plot::{self, Figure, Mark};
use crate::progress::Progress;
use crate::staged::StagedFolder;
use crate::tables;
use crate::text::{Align, Console, HEADING, LITERAL, Table, count, duration, percent, significant};
use data::Split;

/// Width of the picture when standard output is no terminal, and the most it takes of one.
const WIDTH: usize = 78;
const HEIGHT: usize = 16;
/// An input matters when its relevance is at least this share of the largest one.
const RELEVANT: f64 = 0.01;

/// Run everything once on generated data: fit, score, draw
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate demo
  quorate demo --output try-quorate --seed 7")]
pub struct Demo {
    /// Folder for the tables, models and the picture
    #[arg(short, long, value_name = "DIR", default_value = "quorate-demo")]
    output: PathBuf,
    /// Seed of the generated rows and of the search
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

/// One table of the demo after its fit.
struct Run {
    name: &'static str,
    split: Split,
    model: Model,
    scores: Scores,
    seconds: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    output: &'a Path,
    files: Vec<String>,
    runs: Vec<RunReport<'a>>,
}

#[derive(Serialize)]
struct RunReport<'a> {
    name: &'a str,
    rows: usize,
    kernel: String,
    noise: f64,
    seconds: f64,
    scores: &'a Scores,
}

impl Demo {
    pub fn run(self, console: &Console) -> Result<()> {
        let folder = StagedFolder::new(&self.output)?;
        console.say(format!(
            "{HEADING}Quorate {}{HEADING:#}: a complete run on generated data\n",
            env!("CARGO_PKG_VERSION")
        ))?;
        let sine = self.fit("sine", data::sine(self.seed)?, console)?;
        let figure = figure(&sine)?;
        self.show_sine(&sine, &figure, console)?;
        let friedman = self.fit("friedman", data::friedman(self.seed)?, console)?;
        show_friedman(&friedman, console)?;

        let mut files = Vec::new();
        for run in [&sine, &friedman] {
            let names = ["", "-new"].map(|suffix| format!("{}{suffix}.csv", run.name));
            tables::write(&run.split.train, &folder.path().join(&names[0]))
                .map_err(|e| folder.blame(e))?;
            tables::write(&run.split.test, &folder.path().join(&names[1]))
                .map_err(|e| folder.blame(e))?;
            files.extend(names);
            let model = format!("{}.quorate", run.name);
            run.model
                .save(&folder.path().join(&model))
                .map_err(|error| folder.blame(error.into()))?;
            files.push(model);
        }
        let picture = folder.path().join("sine.svg");
        std::fs::write(&picture, plot::svg::document(&figure))
            .map_err(|error| folder.blame(Failure::file(&picture, &error)))?;
        files.push("sine.svg".to_owned());
        folder.commit()?;

        show_scores(&[&sine, &friedman], console)?;
        self.show_next(&files, console)?;
        console.json(&Report {
            output: &self.output,
            files,
            runs: [&sine, &friedman].map(report).into(),
        })
    }

    fn fit(&self, name: &'static str, split: Split, console: &Console) -> Result<Run> {
        let started = Instant::now();
        let progress = Progress::new(console);
        let mut spec = ModelSpec::new("y");
        spec.seed = self.seed;
        let model = Model::fit(&spec, &split.train, &progress)?;
        progress.finish();
        let scores = model.evaluate(&split.test)?;
        Ok(Run {
            name,
            split,
            model,
            scores,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn show_sine(&self, run: &Run, figure: &Figure, console: &Console) -> Result<()> {
        console.say(format!(
            "{HEADING}1. A noisy sine with a gap{HEADING:#}  {}, fitted in {}\n",
            count(run.split.train.rows(), "row"),
            seconds(run.seconds)
        ))?;
        let width = terminal_width().clamp(40, WIDTH);
        console.say(plot::terminal::render(figure, width, HEIGHT))
    }

    fn show_next(&self, files: &[String], console: &Console) -> Result<()> {
        let folder = self.output.display();
        console.say(format!(
            "Wrote {LITERAL}{folder}/{LITERAL:#}: {}\n",
            files.join(", ")
        ))?;
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        for (command, meaning) in [
            (
                format!("quorate inspect {folder}/friedman.quorate"),
                "what was learned, input by input",
            ),
            (
                format!("quorate predict {folder}/friedman.quorate {folder}/friedman-new.csv"),
                "mean and interval of every row",
            ),
            (
                format!("quorate evaluate {folder}/sine.quorate {folder}/sine-new.csv"),
                "scores on rows with a known target",
            ),
            (
                "quorate fit YOUR.csv --target COLUMN -o model.quorate".to_owned(),
                "your own table",
            ),
        ] {
            table.row([command.as_str(), meaning]);
        }
        console.say(format!(
            "{HEADING}What to type next{HEADING:#}\n{}",
            table.render().trim_end()
        ))
    }
}

fn show_friedman(run: &Run, console: &Console) -> Result<()> {
    console.say(format!(
        "{HEADING}2. Ten inputs, of which five matter{HEADING:#}  {}, fitted in {}\n",
        count(run.split.train.rows(), "row"),
        seconds(run.seconds)
    ))?;
    let page = run.model.inspect()?;
    let largest = page
        .inputs
        .iter()
        .map(|input| input.relevance)
        .fold(0.0, f64::max);
    let relevant: Vec<&str> = page
        .inputs
        .iter()
        .filter(|input| input.relevance > RELEVANT * largest)
        .map(|input| input.name.as_str())
        .collect();
    console.say(format!("  found to matter: {}", relevant.join(", ")))?;
    console.say(format!("  {}\n", run.model.outcome()))
}

fn show_scores(runs: &[&Run], console: &Console) -> Result<()> {
    let mut table = Table::new([
        ("table", Align::Left),
        ("held-out rows", Align::Right),
        ("RMSE", Align::Right),
        ("true noise", Align::Right),
        ("NLPD", Align::Right),
        ("inside the 95 % interval", Align::Right),
    ]);
    for run in runs {
        table.row([
            run.name,
            &run.scores.n.to_string(),
            &significant(run.scores.rmse, 3),
            &significant(run.split.noise, 3),
            &significant(run.scores.nlpd, 3),
            &percent(run.scores.coverage_95),
        ]);
    }
    console.say(format!(
        "{HEADING}Scores on rows the models have not seen{HEADING:#}"
    ))?;
    console.say(table.render())
}

fn report(run: &Run) -> RunReport<'_> {
    RunReport {
        name: run.name,
        rows: run.split.train.rows(),
        kernel: run.model.kernel().to_string(),
        noise: run.split.noise,
        seconds: run.seconds,
        scores: &run.scores,
    }
}

/// The fit on a fine grid: interval, truth, rows and mean.
fn figure(run: &Run) -> Result<Figure> {
    let grid: Vec<f64> = (0..=400).map(|step| f64::from(step) / 200.0).collect();
    let table = Frame::from_columns(vec![("x", Column::Number(grid.clone()))])?;
    let belief = run.model.predict(&table)?;
    let (lower, upper) = (belief.quantile(0.025, false), belief.quantile(0.975, false));
    let band = grid
        .iter()
        .zip(lower)
        .zip(upper)
        .map(|((x, l), u)| (*x, l, u));
    let truth = grid.iter().map(|x| (*x, quorate_paper::sine(*x)));
    let rows = numbers(&run.split.train, "x").zip(numbers(&run.split.train, "y"));
    let mean = grid.iter().copied().zip(belief.mean.iter().copied());
    Ok(Figure::new(
        "A noisy sine with a gap, and what the model believes",
        "x",
        "y",
    )
    .with("95 % interval", Mark::Band(band.collect()))
    .with("truth", Mark::Dashes(truth.collect()))
    .with("rows", Mark::Points(rows.collect()))
    .with("mean", Mark::Line(mean.collect())))
}

fn numbers<'a>(table: &'a Frame, name: &str) -> impl Iterator<Item = f64> + 'a {
    let cells = match table.column(name) {
        Some(Column::Number(cells)) => cells.as_slice(),
        _ => &[],
    };
    cells.iter().copied()
}

fn seconds(number: f64) -> String {
    duration(std::time::Duration::from_secs_f64(number))
}

fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0))
}
