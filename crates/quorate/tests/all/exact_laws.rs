//! What must hold of every exact posterior, against slow and obvious references.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::f64::consts::PI;

use common::dense;
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::gaussian::Joint;
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate::gp::learn::{BlockEvidence, Objective};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::{JitterPolicy, Matrix};
use quorate::gp::posterior::{ExactPosterior, Predict, draw};

const NOISE: GaussianNoise = GaussianNoise { variance: 0.05 };

/// Rows with repeated inputs, whole weights and known noise.
#[derive(Clone)]
struct Rows {
    inputs: Vec<[f64; 2]>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    known: Vec<f64>,
}

fn rows() -> Rows {
    let mut rows = Rows {
        inputs: vec![],
        targets: vec![],
        weights: vec![],
        known: vec![],
    };
    for i in 0..24 {
        let t = f64::from(i);
        // Every fourth row repeats the inputs (and known noise) of the one before it.
        let source = if i % 4 == 3 { t - 1.0 } else { t };
        rows.inputs
            .push([(source * 0.37).sin() * 2.0, (source * 0.91).cos()]);
        rows.targets
            .push((source * 0.37).sin() + 0.3 * (t * 1.7).sin());
        rows.weights.push(1.0 + f64::from(i % 3));
        rows.known.push(if i % 4 >= 2 { 0.02 } else { 0.0 });
    }
    rows
}

fn kernel() -> BoundKernel {
    let columns = ["a", "b"].map(|name| InputColumn {
        name: name.into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    });
    let text = "1.3 * matern52(ard, length_scale=[0.8, 1.7]) + 0.2 * linear";
    text.parse::<Kernel>().unwrap().bind(&columns).unwrap()
}

fn dataset(rows: &Rows) -> Dataset {
    let values = rows.inputs.iter().flatten().copied().collect();
    let weights = Some(rows.weights.clone());
    Dataset::new(
        values,
        2,
        rows.targets.clone(),
        weights,
        Some(rows.known.clone()),
    )
    .unwrap()
}

fn condition(rows: &Rows) -> ExactPosterior {
    ExactPosterior::condition(kernel(), NOISE, dataset(rows), JitterPolicy::default()).unwrap()
}

/// Covariances as vectors of rows.
fn covariances(rows: &[[f64; 2]], columns: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let mut block = Matrix::zeros(rows.len(), columns.len());
    kernel().fill(
        Inputs::new(rows.as_flattened(), rows.len(), 2).unwrap(),
        Inputs::new(columns.as_flattened(), columns.len(), 2).unwrap(),
        block.as_mut(),
    );
    (0..rows.len())
        .map(|i| (0..columns.len()).map(|j| block[(i, j)]).collect())
        .collect()
}

/// Mean, variance and log evidence by the textbook, every copy of a row a row of its own.
fn textbook(rows: &Rows, query: [f64; 2]) -> (f64, f64, f64) {
    let mut inputs = Vec::new();
    let mut targets = Vec::new();
    let mut noise = Vec::new();
    for i in 0..rows.targets.len() {
        for _ in 0..rows.weights[i] as usize {
            inputs.push(rows.inputs[i]);
            targets.push(rows.targets[i]);
            noise.push(NOISE.variance + rows.known[i]);
        }
    }
    let mut matrix = covariances(&inputs, &inputs);
    for (i, variance) in noise.iter().enumerate() {
        matrix[i][i] += variance;
    }
    let cross = covariances(&inputs, &[query]);
    let right: Vec<Vec<f64>> = (0..inputs.len())
        .map(|i| vec![targets[i], cross[i][0]])
        .collect();
    let (solved, log_determinant) = dense::solve(&matrix, &right);
    let sum = |f: &dyn Fn(usize) -> f64| (0..inputs.len()).map(f).sum::<f64>();
    let mean = sum(&|i| cross[i][0] * solved[i][0]);
    let variance = covariances(&[query], &[query])[0][0] - sum(&|i| cross[i][0] * solved[i][1]);
    let fit = sum(&|i| targets[i] * solved[i][0]);
    let evidence = -0.5 * fit - 0.5 * log_determinant - 0.5 * inputs.len() as f64 * (2.0 * PI).ln();
    (mean, variance, evidence)
}

#[test]
fn merged_weighted_rows_equal_repeated_unmerged_rows() {
    let rows = rows();
    let posterior = condition(&rows);
    for query in [[0.3, -0.4], [1.9, 0.8], [-5.0, 3.0]] {
        let (mean, variance, evidence) = textbook(&rows, query);
        let marginals = posterior
            .marginals(Inputs::new(&query, 1, 2).unwrap())
            .unwrap();
        assert!((marginals.mean[(0, 0)] - mean).abs() < 1e-11);
        assert!((marginals.variance[(0, 0)] - variance).abs() < 1e-11);
        assert!((posterior.log_evidence() - evidence).abs() < 1e-11 * evidence.abs());
    }
}

#[test]
fn the_gradient_of_the_evidence_equals_central_differences() {
    let data = dataset(&rows());
    let kernel = kernel();
    let objective = BlockEvidence::new(&kernel, &data, JitterPolicy::default());
    let mut point: Vec<f64> = kernel.parameters().iter().map(|p| p.coordinate()).collect();
    point.push(NOISE.variance.ln());
    let gradient = objective.evaluate(&point).unwrap().gradient;
    for i in 0..point.len() {
        let step = 1e-5;
        let at = |shift: f64| {
            let mut moved = point.clone();
            moved[i] += shift;
            objective.evaluate(&moved).unwrap().value
        };
        let difference = (at(step) - at(-step)) / (2.0 * step);
        assert!(
            (gradient[i] - difference).abs() < 1e-6 * (1.0 + difference.abs()),
            "coordinate {i}: {} and {difference}",
            gradient[i]
        );
    }
}

#[test]
fn leaving_one_row_out_equals_a_refit_without_it() {
    let mut rows = rows();
    rows.weights.fill(1.0);
    let answers = condition(&rows).leave_one_out();
    for left_out in 0..rows.targets.len() {
        let mut fewer = rows.clone();
        let query = fewer.inputs.remove(left_out);
        fewer.targets.remove(left_out);
        fewer.weights.remove(left_out);
        fewer.known.remove(left_out);
        let (mean, variance, _) = textbook(&fewer, query);
        assert!(
            (answers.mean[left_out] - mean).abs() < 1e-10,
            "row {left_out}"
        );
        assert!(
            (answers.variance[left_out] - variance).abs() < 1e-10,
            "row {left_out}"
        );
        assert_eq!(
            answers.noise[left_out],
            NOISE.variance + rows.known[left_out]
        );
    }
}

#[test]
fn effective_parameters_are_the_trace_of_the_smoother() {
    let mut rows = rows();
    // Distinct rows only: the smoother of repeated rows is not the smoother of their means.
    rows.inputs
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| x[0] += 0.01 * i as f64);
    rows.weights.fill(1.0);
    let kernel = covariances(&rows.inputs, &rows.inputs);
    let mut noisy = kernel.clone();
    for (i, row) in noisy.iter_mut().enumerate() {
        row[i] += NOISE.variance + rows.known[i];
    }
    let (smoother, _) = dense::solve(&noisy, &kernel);
    let trace: f64 = (0..smoother.len()).map(|i| smoother[i][i]).sum();
    let found = condition(&rows).leave_one_out().effective_parameters;
    assert!((found - trace).abs() < 1e-10, "{found} and {trace}");
}

#[test]
fn draws_have_the_mean_and_covariance_of_the_joint_belief() {
    let posterior = condition(&rows());
    let query = [0.3, -0.4, 0.5, -0.2, 1.9, 0.8];
    let joint = posterior.joint(Inputs::new(&query, 3, 2).unwrap()).unwrap();
    let count = 40_000;
    for noise in [0.0, 0.3] {
        check_draws(&joint, noise, count);
    }
}

fn check_draws(joint: &Joint, noise: f64, count: usize) {
    let draws = draw(joint, &[noise; 3], count, 7).unwrap();
    let mean = [0, 1, 2].map(|i| (0..count).map(|c| draws[(i, c)]).sum::<f64>() / count as f64);
    for i in 0..3 {
        let variance_i = joint.covariance[(i, i)] + noise;
        // Five standard errors: a wrong mean or covariance is far outside, chance is not.
        assert!((mean[i] - joint.mean[(i, 0)]).abs() < 5.0 * (variance_i / count as f64).sqrt());
        for j in 0..3 {
            let expected = joint.covariance[(i, j)] + if i == j { noise } else { 0.0 };
            let found = (0..count)
                .map(|c| (draws[(i, c)] - mean[i]) * (draws[(j, c)] - mean[j]))
                .sum::<f64>()
                / count as f64;
            let variance_j = joint.covariance[(j, j)] + noise;
            let error = ((variance_i * variance_j + expected * expected) / count as f64).sqrt();
            assert!(
                (found - expected).abs() < 5.0 * error,
                "{i},{j}: {found} and {expected}"
            );
        }
    }
}

#[test]
fn draws_from_the_prior_have_its_covariance() {
    let query = [[0.0, 0.0], [1.0, 0.5], [-2.0, 1.0]];
    let covariance = covariances(&query, &query);
    let joint = Joint {
        mean: Matrix::zeros(3, 1),
        covariance: Matrix::from_fn(3, 3, |i, j| covariance[i][j]),
    };
    check_draws(&joint, 0.0, 40_000);
}
