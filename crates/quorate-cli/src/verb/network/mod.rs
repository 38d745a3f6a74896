//! `quorate network`: networks of Gaussian processes, fitted, asked, sampled and drawn.

mod draw;
mod fit;
mod query;
mod sample;

use std::path::Path;

use clap::{Args, Subcommand};
use quorate::network::{Value, load_network};

use crate::failure::{Failure, Result};
use crate::text::Console;

/// Fit, ask, sample or draw a network of columns whose conditionals are Gaussian processes
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate network fit patients.csv --structure graph.json -o patients.network
  quorate network fit patients.csv --search --exogenous age -o patients.network
  quorate network fit baskets.csv --dependency -o baskets.network
  quorate network query patients.network --about disease --given age=70,fever=yes
  quorate network sample patients.network -n 1000 --given age=70 -o drawn.csv
  quorate network draw patients.network -o patients.svg

A structure is JSON: {\"exogenous\": [\"age\"], \"parents\": {\"disease\": [\"age\"], \"fever\": [\"disease\"]}}")]
pub struct Network {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    Fit(fit::Fit),
    Query(query::Query),
    Sample(sample::Sample),
    Draw(draw::Draw),
}

impl Network {
    pub fn run(self, console: &Console) -> Result<()> {
        match self.deed {
            Deed::Fit(deed) => deed.run(console),
            Deed::Query(deed) => deed.run(console),
            Deed::Sample(deed) => deed.run(console),
            Deed::Draw(deed) => deed.run(console),
        }
    }
}

/// `name=value` pairs.
fn given(pairs: &[String]) -> Result<Vec<(String, Value)>> {
    let each = pairs.iter().map(|pair| match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            let value = match value.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Number(number),
                _ => Value::Label(value.to_owned()),
            };
            Ok((name.to_owned(), value))
        }
        _ => Err(Failure::Failed(format!(
            "`{pair}` is not a column and its value: write `age=70`"
        ))),
    });
    each.collect()
}

fn open(path: &Path) -> Result<quorate::network::Network> {
    Ok(load_network(path)?)
}
