//! Each verb as a person would use it: what it prints, what it writes. One file a verb.
#![allow(clippy::unwrap_used)]

use crate::harness;

mod browser;
mod classes;
mod common;
mod evaluate;
mod fit;
mod generate;
mod inspect;
mod predict;
mod quantities;
mod report;
mod reproduce;

use harness::{Place, rows};

const FIT: &str =
    "fit train.csv --target y --kernel se(ard)+category[site] --restarts 0 -o model.quorate";

/// Field names of scores, the contract of `evaluate --json`.
const SCORES: [&str; 15] = [
    "n",
    "rmse",
    "mae",
    "crps",
    "nlpd",
    "coverage_50",
    "coverage_90",
    "coverage_95",
    "width_50",
    "width_90",
    "width_95",
    "smse",
    "msll",
    "rmse_standardised",
    "nlpd_standardised",
];

fn with_train() -> Place {
    let place = Place::new();
    place.write("train.csv", rows(40, 1));
    place
}

/// Cells of a CSV text, header first.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|line| line.split(',').map(String::from).collect())
        .collect()
}

fn numbers(text: &str, column: &str) -> Vec<f64> {
    let table = cells(text);
    let index = table[0].iter().position(|name| name == column).unwrap();
    table[1..]
        .iter()
        .map(|row| row[index].parse().unwrap())
        .collect()
}
