//! `quorate plan`: how a table would be fitted, and what that takes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use quorate::Model;
use quorate::plan::{self, Cost};

use super::choices::Choices;
use crate::failure::Result;
use crate::tables::Training;
use crate::text::{Align, Console, HEADING, Table, bytes, count, duration};

/// Say how a table would be fitted, with the memory and the time it takes, and do not start
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate plan houses.csv --target price
  quorate plan sensors.parquet --target load --memory 4GiB --time 2min
  quorate plan sensors.parquet --target load --method exact --memory 16GiB

Times are those of two cores with nothing else to do. `quorate fit` makes the same plan before it starts.")]
pub struct Plan {
    /// Table to learn from: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    train: PathBuf,
    #[command(flatten)]
    choices: Choices,
}

impl Plan {
    pub fn run(self, console: &Console) -> Result<()> {
        let mut spec = self.choices.specification("plan")?;
        let table = Training::open(&self.train, &spec, console)?;
        self.choices
            .give_landmarks(&mut spec, &table.survey().sample.header)?;
        let plan = Model::plan(&spec, table.survey())?;
        let shape = &plan.shape;
        console.answer(format!(
            "{} ({} distinct), {}\n",
            count(shape.rows, "row"),
            shape.distinct_rows,
            count(shape.inputs, "input"),
        ))?;
        let mut ways = Table::new([
            ("", Align::Left),
            ("way", Align::Left),
            ("memory", Align::Right),
            ("time", Align::Right),
        ]);
        for entry in &plan.ways {
            let mark = match entry {
                _ if entry == &plan.chosen => ">",
                _ if entry.fits => "",
                _ => "too much",
            };
            ways.row([
                mark.to_owned(),
                entry.way.to_string(),
                bytes(entry.cost.bytes),
                expected(entry.cost),
            ]);
        }
        console.answer(ways.render())?;
        if let Some(told) = otherwise(&plan) {
            console.answer(format!("\n{told}\n"))?;
        }
        console.json(&plan)
    }
}

/// Tells what a fit will take before it starts.
pub fn announce(plan: &plan::Plan, console: &Console) {
    let chosen = &plan.chosen;
    // Who has stopped listening still gets the model; a full disk is reported with the result.
    let _ = console.say(format!(
        "{HEADING}Plan{HEADING:#}  {}: about {} and {} on two cores\n",
        chosen.way,
        bytes(chosen.cost.bytes),
        expected(chosen.cost)
    ));
    if let Some(told) = otherwise(plan) {
        let _ = console.say(format!("{told}\n"));
    }
}

/// What is done where landmarks turn out to be no help.
fn otherwise(plan: &plan::Plan) -> Option<String> {
    let cost = plan.otherwise?;
    Some(format!(
        "Where landmarks predict rows left out no better than a sample, a larger sample is fitted: about {} and {}.",
        bytes(cost.bytes),
        expected(cost)
    ))
}

fn expected(cost: Cost) -> String {
    duration(Duration::from_secs_f64(cost.seconds))
}
