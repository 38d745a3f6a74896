//! Mixtures of experts, soft trees and mixtures of Gaussians: formulas of the papers, and other software.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use quorate::gp::data::{Column, Frame, Inputs};
use quorate::gp::learn::Objective;
use quorate::gp::watch::Unwatched;
use quorate::mixture::{
    DensitySettings, ExpertObjective, ExpertShape, GaussianMixture, Map, Node, SoftTree, Training,
    TreeRows, density_gate, train,
};
use quorate::{MethodChoice, Model, ModelSpec};
use serde_json::Value;

/// Two planes that meet in a fold.
fn fold(count: usize) -> (Vec<f64>, Vec<f64>) {
    let unit = |k: usize, step: f64| (k as f64 * step).fract() * 2.0 - 1.0;
    let mut inputs = Vec::new();
    let mut targets = Vec::new();
    for k in 0..count {
        let (a, b) = (1.7 * unit(k, 0.618_034), 1.7 * unit(k, 0.414_214));
        inputs.extend([a, b]);
        let noise = 0.1 * unit(k, 0.754_878);
        targets.push(if a < 0.0 { 1.0 - 0.8 * a } else { 0.5 * b - a } + noise);
    }
    (inputs, targets)
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[test]
fn gradients_of_section_3_1_are_those_of_small_steps() {
    let (inputs, targets) = fold(15);
    let weights: Vec<f64> = (0..15).map(|k| f64::from(k % 3)).collect();
    let rows = TreeRows {
        inputs: Inputs::new(&inputs, 15, 2).unwrap(),
        targets: &targets,
        weights: &weights,
    };
    let network = Map::Network { hidden: 2 };
    for (expert, gate, noise) in [
        (Map::Linear, Map::Linear, Map::Constant),
        (network, Map::Linear, Map::Linear),
        (Map::Linear, network, network),
    ] {
        let shape = ExpertShape {
            inputs: 2,
            experts: 3,
            expert,
            gate,
            noise,
        };
        for training in [Training::Competing, Training::Cooperating] {
            let objective = ExpertObjective {
                shape,
                rows,
                training,
                decay: 0.03,
            };
            let at: Vec<f64> = (0..shape.weights())
                .map(|k| (1.3 * k as f64).sin())
                .collect();
            let found = objective.evaluate(&at).unwrap();
            for place in 0..at.len() {
                let step = |by: f64| {
                    let mut moved = at.clone();
                    moved[place] += by;
                    objective.evaluate(&moved).unwrap().value
                };
                let central = (step(1e-5) - step(-1e-5)) / 2e-5;
                let error = (central - found.gradient[place]).abs();
                assert!(error < 1e-6 * (1.0 + central.abs()), "{place}: {error}");
            }
        }
    }
}

#[test]
fn a_fold_is_found_by_every_way_of_training() {
    let (inputs, targets) = fold(200);
    let weights = vec![1.0; 200];
    let rows = TreeRows {
        inputs: Inputs::new(&inputs, 200, 2).unwrap(),
        targets: &targets,
        weights: &weights,
    };
    let error = |mean: &dyn Fn(&[f64]) -> f64| {
        let squares = (0..200).map(|k| (targets[k] - mean(rows.inputs.row(k))).powi(2));
        squares.sum::<f64>() / 200.0
    };
    let shape = ExpertShape {
        inputs: 2,
        experts: 2,
        expert: Map::Linear,
        gate: Map::Linear,
        noise: Map::Constant,
    };
    for training in [Training::Competing, Training::Cooperating] {
        let objective = ExpertObjective {
            shape,
            rows,
            training,
            decay: 1e-3,
        };
        let (found, _) = train(&objective, 4, 1, &Unwatched).unwrap();
        let mean = |row: &[f64]| -> f64 {
            let voices = shape.voices(&found, row);
            voices.iter().map(|(share, mean, _)| share * mean).sum()
        };
        assert!(error(&mean) < 0.03, "{training:?}: {}", error(&mean));
    }
    let tree = SoftTree::from_cuts(rows, 2);
    let (tree, path) = tree.climb(rows, 100, 1e-7, &Unwatched).unwrap();
    assert!(
        path.windows(2)
            .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs())
    );
    assert!(path.len() > 5 && path[path.len() - 1] > path[0] + 100.0);
    let mean = |row: &[f64]| -> f64 {
        let voices = tree.voices(row);
        voices.iter().map(|(share, mean, _)| share * mean).sum()
    };
    assert!(error(&mean) < 0.02, "{}", error(&mean));
    let names = ["a".to_owned(), "b".to_owned()];
    let text = tree.describe(&names, &[(0.0, 1.0), (0.0, 1.0)], (0.0, 1.0));
    assert!(text.starts_with("gate of 2\n├─ otherwise: "), "{text}");
    assert_eq!(text.matches("% of the rows").count(), tree.experts().len());
    assert!(text.contains(" a > ") || text.contains(" a "), "{text}");
}

#[test]
fn a_tree_of_one_level_is_a_mixture_of_experts() {
    let (inputs, targets) = fold(120);
    let weights = vec![1.0; 120];
    let rows = TreeRows {
        inputs: Inputs::new(&inputs, 120, 2).unwrap(),
        targets: &targets,
        weights: &weights,
    };
    let groups: Vec<usize> = (0..120)
        .map(|k| usize::from(rows.inputs.row(k)[0] > 0.0))
        .collect();
    let flat = SoftTree::flat(rows, &groups, 2).unwrap();
    let (tree, path) = flat.climb(rows, 200, 1e-9, &Unwatched).unwrap();
    assert!(
        path.windows(2)
            .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs())
    );
    // The same functions as weights of the mixture of experts give the same density, row by row.
    let Node::Gate { weights: gate, .. } = &tree.root else {
        panic!("the root is a gate");
    };
    let mut all: Vec<f64> = tree
        .experts()
        .iter()
        .flat_map(|e| e.weights.clone())
        .collect();
    all.extend(gate);
    all.extend(tree.experts().iter().map(|e| 0.5 * e.variance.ln()));
    let shape = ExpertShape {
        inputs: 2,
        experts: 2,
        expert: Map::Linear,
        gate: Map::Linear,
        noise: Map::Constant,
    };
    for row in 0..120 {
        let (a, b) = (
            tree.voices(rows.inputs.row(row)),
            shape.voices(&all, rows.inputs.row(row)),
        );
        for (a, b) in a.iter().zip(&b) {
            assert!((a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12);
            assert!((a.2 - b.2).abs() < 1e-12);
        }
    }
    // Where the rounds end, the likelihood is flat but for the priors of the two, which are weak.
    let objective = ExpertObjective {
        shape,
        rows,
        training: Training::Competing,
        decay: 0.0,
    };
    let slope = objective.evaluate(&all).unwrap().gradient;
    assert!(slope.iter().all(|slope| slope.abs() < 2.5), "{slope:?}");
}

#[test]
fn mixtures_of_gaussians_are_those_of_scikit_learn() {
    for (file, golden) in common::golden("mixtures") {
        let tolerance = golden["tolerance"].as_f64().unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let rows = numbers(&case["rows"]);
            let starts: Vec<Vec<f64>> = case["starts"]
                .as_array()
                .unwrap()
                .iter()
                .map(numbers)
                .collect();
            let ridge = case["ridge"].as_f64().unwrap();
            let count = rows.len() / starts[0].len();
            let settings = DensitySettings {
                rounds: case["rounds"].as_u64().unwrap() as usize,
                gain: f64::NEG_INFINITY,
                ridge,
            };
            let start = GaussianMixture::around(starts, &rows, ridge);
            let (found, path) = start.climb(&rows, &vec![1.0; count], settings).unwrap();
            assert!(
                path.windows(2).all(|pair| pair[1] >= pair[0] - 1e-4),
                "{path:?}"
            );
            let close = |ours: &[f64], theirs: &Value| {
                let theirs = numbers(theirs);
                assert_eq!(ours.len(), theirs.len());
                for (a, b) in ours.iter().zip(&theirs) {
                    assert!(
                        (a - b).abs() < tolerance * (1.0 + b.abs()),
                        "{file}: {a} {b}"
                    );
                }
            };
            close(&found.shares, &case["shares"]);
            close(&found.means.concat(), &case["means"]);
            close(&found.covariances.concat(), &case["covariances"]);
            let densities = found.log_densities(&rows).unwrap();
            close(
                &[densities.iter().sum::<f64>() / count as f64],
                &case["log_density"],
            );
            let voices = found.conditional(&numbers(&case["queries"])).unwrap();
            let gates: Vec<f64> = voices.iter().flat_map(|own| own.shares.clone()).collect();
            close(&gates, &case["gates"]);
            let moments = voices.iter().map(|own| {
                let each = own.shares.iter().zip(&own.means).zip(&own.variances);
                let mean: f64 = each.clone().map(|((g, m), _)| g * m).sum();
                let square = each.map(|((g, m), v)| g * (v + (m - mean).powi(2)));
                (mean, square.sum::<f64>())
            });
            let (mean, variance): (Vec<f64>, Vec<f64>) = moments.unzip();
            close(&mean, &case["mean"]);
            close(&variance, &case["variance"]);
        }
    }
}

#[test]
fn experts_trained_elsewhere_speak_where_their_rows_were() {
    // Two experts whose rows lay around -2 and 2; the second saw three times as many.
    let around = |centre: f64| GaussianMixture {
        shares: vec![1.0],
        means: vec![vec![centre]],
        covariances: vec![vec![1.0]],
    };
    let gate = density_gate(
        &[0.25, 0.75],
        &[around(-2.0), around(2.0)],
        &[-2.0, 0.0, 2.0],
    )
    .unwrap();
    let ratio = |x: f64| {
        let near = |centre: f64| (-0.5 * (x - centre).powi(2)).exp();
        0.25 * near(-2.0) / (0.25 * near(-2.0) + 0.75 * near(2.0))
    };
    for (row, x) in [-2.0, 0.0, 2.0].into_iter().enumerate() {
        assert!((gate[row][0] - ratio(x)).abs() < 1e-12);
        assert!((gate[row].iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn every_kind_of_expert_is_a_model_with_a_file() {
    let (inputs, targets) = fold(120);
    let column = |place: usize| inputs.iter().skip(place).step_by(2).copied().collect();
    let table = Frame::from_columns(vec![
        ("a", Column::Number(column(0))),
        ("b", Column::Number(column(1))),
        ("y", Column::Number(targets)),
    ])
    .unwrap();
    let mixture = ModelSpec {
        method: MethodChoice::Mixture,
        experts: Some(2),
        restarts: Some(1),
        ..ModelSpec::new("y")
    };
    let fit = |expert: &str, gates: &str, training: &str| {
        let spec = ModelSpec {
            expert: Some(expert.parse().unwrap()),
            gates: Some(gates.parse().unwrap()),
            training: Some(training.parse().unwrap()),
            ..mixture.clone()
        };
        Model::fit(&spec, &table, &Unwatched)
    };
    for (expert, gates, training, most) in [
        ("linear", "linear", "competing", 0.3),
        ("linear", "tree", "competing", 0.3),
        ("linear", "density", "competing", 0.8),
        ("linear", "linear", "cooperating", 0.4),
        ("network", "linear", "competing", 0.4),
        ("linear", "network", "competing", 0.4),
    ] {
        let model = fit(expert, gates, training).unwrap();
        let scores = model.leave_one_out().number().unwrap();
        let told = (scores.rmse_standardised, scores.coverage_95);
        assert!(
            told.0 < most && told.1 > 0.85,
            "{expert} {gates} {training}: {told:?}"
        );
        let bytes = quorate::file::to_bytes(&model).unwrap();
        let again = quorate::file::from_bytes(&bytes, "memory").unwrap();
        assert_eq!(quorate::file::to_bytes(&again).unwrap(), bytes);
        assert_eq!(
            again.predict(&table).unwrap(),
            model.predict(&table).unwrap()
        );
        assert_eq!(again.sample(&table, 2, 0, true).unwrap().len(), 2);
    }
    let refused = fit("network", "tree", "competing").unwrap_err().to_string();
    assert!(
        refused.contains("these gates are for other experts"),
        "{refused}"
    );
    let refused = fit("process", "process", "cooperating")
        .unwrap_err()
        .to_string();
    assert!(refused.contains("experts with weights"), "{refused}");
}
