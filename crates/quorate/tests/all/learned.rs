//! Learning against scikit-learn's best of ten restarts, cell by cell (one set, one train/test split).
//!
//! The routine run takes the first splits of each set; `QUORATE_FULL=1` (`cargo xtask test --full`) takes all of them
//! and also compares mean test scores with their standard errors.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::collections::BTreeMap;

use quorate::gp::data::Frame;
use quorate::gp::watch::Unwatched;
use quorate::{Model, ModelSpec, Scores};
use serde_json::Value;

/// Splits per set in the routine run.
const ROUTINE_SPLITS: u64 = 1;
/// Larger tables wait for the full run.
const ROUTINE_ROWS: u64 = 1000;
/// Evidence may fall short of scikit-learn's by this many nats: its optimiser and ours stop on flat ground.
const SLACK: f64 = 0.01;

/// The finished cells of scikit-learn.
fn cells() -> Vec<Value> {
    let path = common::workspace().join("golden/learned/sklearn.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The test rows of a cell, from the splits beside the data (mcycle's are ours).
fn test_rows(cell: &Value) -> Vec<usize> {
    let name = cell["set"].as_str().unwrap();
    let path = if name == "mcycle" {
        common::workspace().join("golden/learned/mcycle_splits.csv")
    } else {
        common::data_file(&format!("splits/{name}.csv.gz")).unwrap()
    };
    let splits = common::read(&path);
    let split = cell["split"].as_f64().unwrap();
    let of_split = common::numbers_of(&splits, "split");
    let rows = common::numbers_of(&splits, "test_row");
    let of_cell = of_split.iter().zip(rows).filter(|(s, _)| **s == split);
    of_cell.map(|(_, row)| row as usize).collect()
}

fn fit(cell: &Value, table: &Frame) -> (Model, Scores) {
    let test = test_rows(cell);
    let train: Vec<usize> = (0..table.rows())
        .filter(|row| !test.contains(row))
        .collect();
    assert_eq!(train.len() as u64, cell["train_rows"].as_u64().unwrap());
    let mut spec = ModelSpec::new(cell["target"].as_str().unwrap());
    spec.kernel = "se(ard)".parse().unwrap();
    let model = Model::fit(&spec, &table.select_rows(&train), &Unwatched).unwrap();
    let scores = model.evaluate(&table.select_rows(&test)).unwrap();
    (model, scores)
}

#[test]
fn the_evidence_found_is_at_least_that_of_scikit_learn() {
    let full = std::env::var_os("QUORATE_FULL").is_some();
    let mut results: BTreeMap<String, Vec<[(f64, f64); 2]>> = BTreeMap::new();
    for cell in cells() {
        let whole = |key: &str| cell[key].as_u64().unwrap();
        if !full && (whole("split") >= ROUTINE_SPLITS || whole("train_rows") > ROUTINE_ROWS) {
            continue;
        }
        let name = cell["data"].as_str().unwrap();
        let Some(path) = common::data_file(name) else {
            common::skipped(&format!("learned {name}"));
            continue;
        };
        let (model, scores) = fit(&cell, &common::read(&path));
        let number = |key: &str| cell[key].as_f64().unwrap();
        let theirs = number("log_evidence");
        println!(
            "{name} split {}: evidence {:.4} (scikit-learn {theirs:.4}), rmse {:.4} ({:.4}), nlpd {:.4} ({:.4})",
            cell["split"],
            model.log_evidence().unwrap(),
            scores.rmse,
            number("rmse"),
            scores.nlpd,
            number("nlpd"),
        );
        assert!(
            model.log_evidence().unwrap() >= theirs - SLACK,
            "{name} split {}: {} < {theirs}",
            cell["split"],
            model.log_evidence().unwrap()
        );
        let both = [(scores.rmse, number("rmse")), (scores.nlpd, number("nlpd"))];
        results.entry(name.to_owned()).or_default().push(both);
    }
    if full {
        for (name, cells) in &results {
            for (place, what) in ["rmse", "nlpd"].into_iter().enumerate() {
                let pairs: Vec<(f64, f64)> = cells.iter().map(|both| both[place]).collect();
                no_worse(name, what, &pairs);
            }
        }
    }
}

/// Our mean over the splits is no worse than theirs by more than one standard error of their mean; the paired
/// difference, whose error is smaller because splits share their difficulty, is printed beside it.
fn no_worse(name: &str, what: &str, pairs: &[(f64, f64)]) {
    let moments = |values: Vec<f64>| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        (mean, (square / (n - 1.0).max(1.0) / n).sqrt())
    };
    let (ours, _) = moments(pairs.iter().map(|pair| pair.0).collect());
    let (theirs, error) = moments(pairs.iter().map(|pair| pair.1).collect());
    let (paired, paired_error) = moments(pairs.iter().map(|pair| pair.0 - pair.1).collect());
    println!(
        "{name}: {what} {ours:.4}, theirs {theirs:.4} +- {error:.4}, paired {paired:+.4} +- {paired_error:.4}, {} splits",
        pairs.len()
    );
    assert!(
        ours <= theirs + error,
        "{name}: {what} {ours}, theirs {theirs} +- {error}"
    );
}
