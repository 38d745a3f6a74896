//! What the Python package asks of a model beyond predictions: evidence at any hyperparameters, gradients part by part,
//! differences of models, joint predictions, noise that is kept.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::shards::{bytes, quick, table};
use quorate::gp::watch::Unwatched;
use quorate::{Model, ModelSpec};

fn absorbed(empty: &Model, parts: &[(usize, usize)]) -> Model {
    parts.iter().fold(empty.fork(), |model, &(first, last)| {
        let name = format!("from-{first}");
        let rows = table(first, last);
        model.update(&rows, &name, false, &Unwatched).unwrap().0
    })
}

fn exact() -> Model {
    let spec = ModelSpec {
        restarts: Some(0),
        kernel: "se(ard)".parse().unwrap(),
        ..ModelSpec::new(quick().target)
    };
    Model::fit(&spec, &table(0, 120), &Unwatched).unwrap()
}

#[test]
fn what_parts_add_to_the_gradient_is_the_gradient() {
    let start = Model::prepare(&quick(), &table(0, 200), &Unwatched).unwrap();
    let parts = [(0, 120), (120, 260)];
    let here: Vec<f64> = start
        .hyperparameters()
        .unwrap()
        .iter()
        .map(|p| p.coordinate() + 0.1)
        .collect();
    let evidence = |point: &[f64]| {
        let total = absorbed(&start.emptied_at(point).unwrap(), &parts);
        (total.log_evidence().unwrap(), total)
    };
    let (_, total) = evidence(&here);
    let mut gradient = vec![0.0; here.len()];
    for (first, last) in parts {
        let own = total.committee_gradient(&table(first, last)).unwrap();
        gradient
            .iter_mut()
            .zip(own)
            .for_each(|(sum, own)| *sum += own);
    }
    let step = 1e-5;
    for index in 0..here.len() {
        let at = |sign: f64| {
            let mut point = here.clone();
            point[index] += sign * step;
            evidence(&point).0
        };
        let slope = (at(1.0) - at(-1.0)) / (2.0 * step);
        let error = (gradient[index] - slope).abs() / (1.0 + slope.abs());
        assert!(error < 1e-5, "{index}: {} and {slope}", gradient[index]);
    }
}

#[test]
fn the_evidence_of_an_exact_model_is_found_again_at_its_own_point() {
    let model = exact();
    let point: Vec<f64> = model
        .hyperparameters()
        .unwrap()
        .iter()
        .map(|p| p.coordinate())
        .collect();
    let found = model.evidence_at(&point).unwrap();
    assert!((found.value - model.log_evidence().unwrap()).abs() < 1e-8);
    let same = model.block_evidence_of(&table(0, 120), &point).unwrap();
    assert_eq!(same.value.to_bits(), found.value.to_bits());
    let error = model.evidence_at(&point[1..]).unwrap_err().to_string();
    assert!(error.starts_with("hyperparameters: expected"), "{error}");
}

#[test]
fn a_difference_undoes_a_sum() {
    let empty = Model::prepare(&quick(), &table(0, 200), &Unwatched).unwrap();
    let (a, b) = (
        absorbed(&empty, &[(0, 100)]),
        absorbed(&empty, &[(100, 250)]),
    );
    let both = Model::merge(vec![("a".into(), a.fork()), ("b".into(), b.fork())]).unwrap();
    let back = both.fork().subtract(b.fork()).unwrap();
    let query = table(300, 330);
    let (ours, theirs) = (back.predict(&query).unwrap(), a.predict(&query).unwrap());
    for (left, right) in ours.mean.iter().zip(&theirs.mean) {
        assert!((left - right).abs() < 1e-7);
    }
    assert_eq!(
        bytes(&both.subtract(both_of(&a, &b)).unwrap()),
        bytes(&empty_again(&empty))
    );
    let error = a.subtract(b).unwrap_err().to_string();
    assert!(error.contains("is not here"), "{error}");
}

fn both_of(a: &Model, b: &Model) -> Model {
    Model::merge(vec![("a".into(), a.fork()), ("b".into(), b.fork())]).unwrap()
}

/// A prepared model after everything it absorbed was taken away again.
fn empty_again(empty: &Model) -> Model {
    let part = absorbed(empty, &[(0, 50)]);
    part.fork().subtract(part).unwrap()
}

#[test]
fn joint_predictions_have_the_variances_of_single_ones() {
    let model = exact();
    let query = table(200, 220);
    let (joint, single) = (
        model.predict_joint(&query).unwrap(),
        model.predict(&query).unwrap(),
    );
    let covariance = joint.covariance(false);
    for (row, variance) in single.variance(false).iter().enumerate() {
        assert!((joint.mean[row] - single.mean[row]).abs() < 1e-9);
        assert!((covariance[row * 20 + row] - variance).abs() < 1e-9);
    }
}

#[test]
fn a_noise_variance_that_was_given_is_kept() {
    let spec = ModelSpec {
        noise_variance: Some(0.04),
        ..exact().spec().clone()
    };
    let model = Model::fit(&spec, &table(0, 120), &Unwatched).unwrap();
    assert!((model.inspect().unwrap().noise_variance - 0.04).abs() < 1e-15);
}
