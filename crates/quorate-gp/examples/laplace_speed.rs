//! Times of two-class Laplace: learning, fitting and predicting on tables of numbers, the 0/1 label last.
//!
//! `cargo run --release -p quorate-gp --example laplace_speed -- TRAIN.csv TEST.csv [KERNEL]`; `benches/laplace_peers.py` makes the
//! tables, runs this and scikit-learn on them, and prints both.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate_gp::kernel::Kernel;
use quorate_gp::learn::{Search, learn_latent};
use quorate_gp::likelihood::{Extras, Likelihood, Observations};
use quorate_gp::posterior::LaplacePosterior;
use quorate_gp::watch::Unwatched;

type Failure = Box<dyn std::error::Error>;

/// Inputs row after row, their number of columns, and labels.
fn read(path: &str) -> Result<(Vec<f64>, usize, Vec<f64>), Failure> {
    let (mut values, mut labels, mut width) = (Vec::new(), Vec::new(), 0);
    for line in std::fs::read_to_string(path)?.lines() {
        let row: Result<Vec<f64>, _> = line.split(',').map(str::parse).collect();
        let row = row?;
        let (label, inputs) = row.split_last().ok_or("an empty line")?;
        width = inputs.len();
        values.extend_from_slice(inputs);
        labels.push(*label);
    }
    Ok((values, width, labels))
}

fn main() -> Result<(), Failure> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let (train, test, kernel) = match paths.as_slice() {
        [train, test] => (train, test, None),
        [train, test, kernel] => (train, test, Some(kernel)),
        _ => return Err("laplace_speed TRAIN.csv TEST.csv [KERNEL]".into()),
    };
    let (x, width, y) = read(train)?;
    let (query, _, labels) = read(test)?;
    let columns: Vec<InputColumn> = (0..width)
        .map(|i| InputColumn {
            name: format!("x{i}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    let data = Dataset::new(x, width, y, None, None)?;
    let seen = Observations::of(&data, Extras::default())?;
    let likelihood: Likelihood = "bernoulli".parse()?;
    let start = kernel.cloned();
    let start = start.unwrap_or_else(|| format!("1 * se(length_scale={})", (width as f64).sqrt()));
    let kernel = start.parse::<Kernel>()?.bind(&columns)?;
    // One ascent from the given start, as scikit-learn's; it begins on a quarter of the rows.
    let search = Search {
        restarts: Some(0),
        ..Search::default()
    };

    let begun = Instant::now();
    let fixed =
        LaplacePosterior::fit(kernel.clone(), likelihood, data.clone(), seen.clone(), None)?;
    println!(
        "fit at fixed hyperparameters {:.3} s, {} Newton steps, log evidence {:.6}",
        begun.elapsed().as_secs_f64(),
        fixed.steps(),
        fixed.log_evidence()
    );
    let begun = Instant::now();
    let (kernel, likelihood, records) =
        learn_latent(&kernel, likelihood, &data, &seen, &search, &Unwatched)?;
    let posterior = LaplacePosterior::fit(kernel.clone(), likelihood, data, seen, None)?;
    let evaluations: usize = records.iter().map(|record| record.evaluations).sum();
    println!(
        "fit with learning {:.3} s, {evaluations} evaluations, log evidence {:.6}, {}",
        begun.elapsed().as_secs_f64(),
        posterior.log_evidence(),
        kernel.kernel()
    );
    let begun = Instant::now();
    let beliefs = posterior.latents(Inputs::new(&query, labels.len(), width)?)?;
    let probabilities: Vec<f64> = beliefs
        .iter()
        .map(|&belief| likelihood.mean(belief))
        .collect();
    println!(
        "predict {:.3} s for {} rows",
        begun.elapsed().as_secs_f64(),
        labels.len()
    );
    let loss = |(p, y): (&f64, &f64)| -(if *y > 0.5 { *p } else { 1.0 - p }).ln();
    let total: f64 = probabilities.iter().zip(&labels).map(loss).sum();
    let wrong = |(p, y): (&f64, &f64)| (*p > 0.5) != (*y > 0.5);
    let errors = probabilities
        .iter()
        .zip(&labels)
        .filter(|pair| wrong(*pair))
        .count();
    println!(
        "log loss {:.6}, {errors} errors",
        total / labels.len() as f64
    );
    Ok(())
}
