//! Exact posteriors, evidences and gradients against numbers made by other software.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::golden;
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate::gp::learn::{BlockEvidence, Objective};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::JitterPolicy;
use quorate::gp::posterior::{ExactPosterior, Predict};
use serde_json::Value;

/// Largest difference over the largest entry.
fn relative_difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let size = theirs.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
    let difference = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
    difference.fold(0.0, f64::max) / size
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

fn flat(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().flat_map(numbers).collect()
}

struct Table {
    columns: Vec<InputColumn>,
    train: Dataset,
    test: Vec<f64>,
    tests: usize,
}

/// Standardised rows of a golden file, computed here from the raw table.
fn table(golden: &Value) -> Option<Table> {
    let frame = common::table(golden)?;
    let names: Vec<String> = golden["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap().into())
        .collect();
    let rows = |key: &str| -> Vec<usize> {
        golden[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_u64().unwrap() as usize)
            .collect()
    };
    let (train, test) = (rows("train_rows"), rows("test_rows"));
    let column = |name: &str| common::numbers_of(&frame, name);
    let mut scaled = Vec::new();
    let mut columns = Vec::new();
    for name in &names {
        let raw = column(name);
        if let Some(levels) = golden["categories"][name].as_array() {
            let levels: Vec<f64> = levels.iter().map(|v| v.as_f64().unwrap()).collect();
            let code = |value: &f64| levels.iter().position(|level| level == value).unwrap() as f64;
            scaled.push(raw.iter().map(code).collect());
            let kind = ColumnKind::Category {
                levels: levels.len(),
            };
            columns.push(InputColumn {
                name: name.clone(),
                kind,
                deviation: 1.0,
            });
            continue;
        }
        let (mean, deviation) = moments(&train.iter().map(|&r| raw[r]).collect::<Vec<_>>());
        scaled.push(
            raw.iter()
                .map(|v| (v - mean) / deviation)
                .collect::<Vec<f64>>(),
        );
        columns.push(InputColumn {
            name: name.clone(),
            kind: ColumnKind::Number,
            deviation,
        });
    }
    let gather = |rows: &[usize]| -> Vec<f64> {
        rows.iter()
            .flat_map(|&r| scaled.iter().map(move |c| c[r]))
            .collect()
    };
    let raw = column(golden["target"].as_str().unwrap());
    let targets: Vec<f64> = train.iter().map(|&r| raw[r]).collect();
    let (mean, deviation) = moments(&targets);
    let targets = targets.iter().map(|v| (v - mean) / deviation).collect();
    Some(Table {
        train: Dataset::new(gather(&train), names.len(), targets, None, None).unwrap(),
        test: gather(&test),
        tests: test.len(),
        columns,
    })
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (
        mean,
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt(),
    )
}

/// Both gradients in the order of the golden file, matched by the parameters' names.
fn matched_gradients(kernel: &BoundKernel, ours: &[f64], case: &Value) -> (Vec<f64>, Vec<f64>) {
    let mut named: Vec<(String, f64)> = kernel
        .parameters()
        .iter()
        .map(|parameter| plain_name(&parameter.name))
        .chain(["noise_variance".to_owned()])
        .zip(ours.iter().copied())
        .collect();
    let names = case["gradient_of"].as_array().unwrap();
    let ordered = names
        .iter()
        .map(|name| {
            let name = name.as_str().unwrap();
            let name = name.split_once(' ').map_or(name, |(_, rest)| {
                rest.split_once(' ').map_or(rest, |(_, rest)| rest)
            });
            // Terms stand in the same order on both sides, so the first unused entry of a name is the right one.
            let place = named.iter().position(|(own, _)| own == name);
            named
                .remove(place.unwrap_or_else(|| panic!("{name} among {named:?}")))
                .1
        })
        .collect();
    assert!(named.is_empty(), "not in the golden file: {named:?}");
    (ordered, numbers(&case["gradient"]))
}

/// `matern32#2.length_scale[age]` without the number that tells equal atoms apart; a term's variance is `variance`.
fn plain_name(name: &str) -> String {
    let (atom, rest) = name.split_once('.').unwrap();
    let atom = atom.split('#').next().unwrap();
    if rest == "variance" {
        rest.to_owned()
    } else {
        format!("{atom}.{rest}")
    }
}

fn check_case(file: &str, table: &Table, case: &Value, tolerance: f64) {
    let text = case["kernel"].as_str().unwrap();
    let kernel: Kernel = text.parse().unwrap();
    let bound = kernel.bind(&table.columns).unwrap();
    let noise = GaussianNoise {
        variance: case["noise_variance"].as_f64().unwrap(),
    };
    let policy = JitterPolicy::default();
    let posterior =
        ExactPosterior::condition(bound.clone(), noise, table.train.clone(), policy).unwrap();
    assert_eq!(posterior.jitter().relative, 0.0, "{file}: {text}");

    let width = table.columns.len();
    let query = Inputs::new(&table.test, table.tests, width).unwrap();
    let marginals = posterior.marginals(query).unwrap();
    let means: Vec<f64> = (0..table.tests).map(|i| marginals.mean[(i, 0)]).collect();
    let deviations: Vec<f64> = (0..table.tests)
        .map(|i| marginals.variance[(i, 0)].sqrt())
        .collect();
    let stored = case["covariance"].as_array().unwrap().len();
    let joint = posterior.joint(query.slice(0, stored)).unwrap();
    let covariance: Vec<f64> = (0..stored)
        .flat_map(|i| (0..stored).map(move |j| (i, j)))
        .map(|at| joint.covariance[at])
        .collect();
    let mut coordinates: Vec<f64> = bound.parameters().iter().map(|p| p.coordinate()).collect();
    coordinates.push(noise.variance.ln());
    let evaluation = BlockEvidence::new(&bound, &table.train, policy)
        .evaluate(&coordinates)
        .unwrap();

    let check = |what: &str, ours: &[f64], theirs: &[f64]| {
        let difference = relative_difference(ours, theirs);
        assert!(
            difference <= tolerance,
            "{file}: {text}: {what} differs by {difference:.2e}\n ours {ours:?}\n theirs {theirs:?}"
        );
    };
    check("mean", &means, &numbers(&case["mean"]));
    check("std", &deviations, &numbers(&case["std_latent"]));
    check("covariance", &covariance, &flat(&case["covariance"]));
    check(
        "evidence",
        &[posterior.log_evidence()],
        &[case["log_evidence"].as_f64().unwrap()],
    );
    check(
        "evidence",
        &[evaluation.value],
        &[case["log_evidence"].as_f64().unwrap()],
    );
    let (ours, theirs) = matched_gradients(&bound, &evaluation.gradient, case);
    check("gradient", &ours, &theirs);

    let prior = posterior.prior(query);
    for i in 0..stored {
        let gap = (joint.covariance[(i, i)] - marginals.variance[(i, 0)]).abs();
        assert!(
            gap <= 1e-10 * prior.variance[(i, 0)],
            "{file}: {text}: std^2 and covariance"
        );
    }
}

#[test]
fn posterior_evidence_and_gradient_equal_other_software() {
    let mut cases = 0;
    let mut committed = std::collections::BTreeSet::new();
    for (file, golden) in golden("exact") {
        let Some(table) = table(&golden) else {
            common::skipped(&format!("golden/exact/{file}"));
            continue;
        };
        if golden["committed"].as_bool().unwrap() {
            committed.insert(golden["data"].as_str().unwrap().to_owned());
        }
        let tolerance = golden["tolerance"].as_f64().unwrap();
        assert!(tolerance <= 1e-8, "{file}");
        for case in golden["cases"].as_array().unwrap() {
            check_case(&file, &table, case, tolerance);
            cases += 1;
        }
    }
    assert!(committed.len() >= 5, "committable sets: {committed:?}");
    assert!(cases >= 100, "only {cases} cases were compared");
}
