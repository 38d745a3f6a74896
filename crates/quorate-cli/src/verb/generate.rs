//! `quorate generate`: tables to try things on.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quorate_paper::{Generator, Options, generate};
use serde::Serialize;

use crate::failure::Result;
use crate::sink::Sink;
use crate::text::{Align, Console, LITERAL, Table, count};

/// Make a table of artificial data
#[derive(Args, Debug)]
#[command(after_help = examples())]
pub struct Generate {
    /// What to make, see below
    #[arg(value_parser = kinds(), hide_possible_values = true)]
    kind: Generator,
    /// Number of rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    rows: usize,
    /// Seed of the rows
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// File to write: CSV, CSV.gz, Parquet or Arrow by its ending; `-` for CSV on standard output [default: -]
    #[arg(short, long, value_name = "DATA")]
    output: Option<PathBuf>,
    /// Number of input columns, where the kind leaves a choice
    #[arg(long, value_name = "N")]
    inputs: Option<usize>,
    /// Standard deviation of the noise
    #[arg(long, value_name = "SD")]
    noise: Option<f64>,
    /// Seed of the hidden function: tables with the same one and other rows can be learned from and judged by
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    function: u64,
    /// Add a column `truth`: the target without noise
    #[arg(long)]
    truth: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    kind: &'a str,
    output: &'a str,
    rows: usize,
    columns: &'a [String],
    target: &'a str,
    seed: u64,
    function: u64,
}

impl Generate {
    pub fn run(self, console: &Console) -> Result<()> {
        let options = Options {
            inputs: self.inputs,
            noise: self.noise,
            function: self.function,
            truth: self.truth,
        };
        let mut sink = Sink::new(self.output.as_deref(), console)?;
        let table = generate(self.kind, self.rows, self.seed, &options)?;
        sink.header(&table.header)?;
        sink.write(&table)?;
        let Some(path) = sink.finish(&[])? else {
            return Ok(());
        };
        let output = path.display().to_string();
        console.say(format!(
            "Wrote {LITERAL}{output}{LITERAL:#}: {} of {}, columns {}; the target is {}",
            count(table.rows(), "row"),
            self.kind,
            table.header.names.join(", "),
            self.kind.target()
        ))?;
        console.json(&Report {
            kind: self.kind.name(),
            output: &output,
            rows: table.rows(),
            columns: &table.header.names,
            target: self.kind.target(),
            seed: self.seed,
            function: self.function,
        })
    }
}

fn examples() -> String {
    let mut kinds = Table::new([("", Align::Left), ("", Align::Left)]);
    for kind in Generator::ALL {
        kinds.row([kind.name(), kind.description()]);
    }
    format!(
        "\
Kinds:
{}
Examples:
  quorate generate sine -n 100 -o sine.csv
  quorate generate friedman -n 1000 --seed 1 -o train.parquet
  quorate generate art -n 500 --seed 2 --truth -o art.csv
  quorate generate categories -n 20                             to standard output",
        kinds.render()
    )
}

/// The generators with their sentences, so that help, completions and suggestions know them.
fn kinds() -> impl TypedValueParser<Value = Generator> {
    let values =
        Generator::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.description()));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Generator>())
}
