//! Support vector machines against libsvm.

use quorate::classifier::Sigmoid;
use quorate::gp::data::{Dataset, Roles, Schema};
use quorate::gp::kernel::Kernel;
use quorate::gp::likelihood::{Extras, Observations};
use quorate::gp::posterior::SupportVectorMachine;

use super::numbers;
use crate::common;

#[test]
fn support_vector_machines_decide_as_those_of_libsvm() {
    for (name, golden) in common::golden("machines") {
        let Some(table) = common::table(&golden) else {
            common::skipped(&name);
            continue;
        };
        let rows = |key: &str| -> Vec<usize> {
            let list = numbers(&golden[key]).into_iter();
            list.map(|row| row as usize).collect()
        };
        let (train, test) = (
            table.select_rows(&rows("train_rows")),
            table.select_rows(&rows("test_rows")),
        );
        let roles = Roles {
            target: "label".into(),
            ..Roles::default()
        };
        let (schema, _) = Schema::learn(&train, &roles).unwrap();
        let encoded = schema.encode(&train).unwrap();
        let labels = common::numbers_of(&train, "label");
        let data = Dataset::new(encoded.values, encoded.width, labels, None, None).unwrap();
        let seen = Observations::of(&data, Extras::default()).unwrap();
        let asked = schema.encode(&test).unwrap();
        let tolerance = golden["tolerance"].as_f64().unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let (cost, length) = (&case["cost"], &case["length_scale"]);
            let kernel: Kernel = format!("{cost} * se(length_scale={length})")
                .parse()
                .unwrap();
            let kernel = kernel.bind(schema.columns()).unwrap();
            let found = SupportVectorMachine::fit_with_offset(kernel, data.clone(), &seen).unwrap();
            let ours = found.decisions(asked.inputs()).unwrap();
            let theirs = numbers(&case["decisions"]);
            assert!(theirs.len() >= 80);
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert!((ours - theirs).abs() < tolerance, "{name}: {ours} {theirs}");
            }
        }
    }
}

#[test]
fn a_sigmoid_is_the_likeliest_of_all_and_survives_rows_without_an_error() {
    let decisions: Vec<f64> = (0..60).map(|row| (row as f64 * 0.7).sin() * 2.0).collect();
    let rows: Vec<(f64, bool, f64)> = decisions
        .iter()
        .enumerate()
        .map(|(row, &f)| {
            (
                f,
                f + (row as f64 * 1.3).cos() > 0.2,
                1.0 + (row % 2) as f64,
            )
        })
        .collect();
    let found = Sigmoid::fit(&rows);
    // Platt's targets, written out.
    let weight = |own: bool| -> f64 { rows.iter().filter(|r| r.1 == own).map(|r| r.2).sum() };
    let (high, low) = (
        (weight(true) + 1.0) / (weight(true) + 2.0),
        1.0 / (weight(false) + 2.0),
    );
    let loss = |sigmoid: Sigmoid| -> f64 {
        let each = rows.iter().map(|(f, own, weight)| {
            let (p, t) = (sigmoid.at(*f), if *own { high } else { low });
            -weight * (t * p.ln() + (1.0 - t) * (1.0 - p).ln())
        });
        each.sum()
    };
    let Sigmoid { slope, shift } = found;
    assert!(slope > 0.5);
    for (a, b) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
        let beside = Sigmoid {
            slope: slope + a,
            shift: shift + b,
        };
        assert!(loss(beside) > loss(found));
    }
    let sure: Vec<(f64, bool, f64)> = decisions.iter().map(|&f| (f, f > 0.0, 1.0)).collect();
    let found = Sigmoid::fit(&sure);
    assert!(found.slope.is_finite() && found.at(2.0) < 1.0 && found.at(-2.0) > 0.0);
}
