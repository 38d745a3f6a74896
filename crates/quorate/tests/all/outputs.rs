//! Rows with several targets under one factor: the sum of what each target says alone.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::shards::table;
use quorate::gp::data::{Column, Dataset, Frame, Inputs};
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate::gp::learn::{BlockEvidence, ConditionalLikelihood, Evaluation, Group, Objective};
use quorate::gp::linalg::JitterPolicy;
use quorate::gp::posterior::ExactPosterior;
use quorate::gp::watch::Unwatched;
use quorate::landmarks::CommitteeEvidence;
use quorate::{Forecast, LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, TaskChoice};

const ROWS: usize = 60;
const OUTPUTS: usize = 3;

fn kernel() -> BoundKernel {
    let kernel: Kernel = "matern32(ard) + se(length_scale=2)".parse().unwrap();
    let columns = quorate::gp::data::Schema::learn(
        &table(0, 40),
        &quorate::gp::data::Roles {
            inputs: Some(vec!["x".into(), "z".into()]),
            ..quorate::gp::data::Roles::of_target("y")
        },
    )
    .unwrap()
    .0;
    kernel.bind(columns.columns()).unwrap()
}

/// Inputs with copies, weights and known noise: all that a row can have.
fn data(outputs: std::ops::Range<usize>) -> Dataset {
    let place = |i: usize, stride: f64| (i as f64 * stride + 0.21).fract();
    let row = |i: usize| if i % 9 == 8 { i - 5 } else { i };
    let inputs = (0..ROWS).flat_map(|i| [place(row(i), 0.7548) * 3.0, place(row(i), 0.5698) * 2.0]);
    let target = |i: usize, o: usize| ((i * (o + 2)) as f64 * 0.37).sin() + 0.2 * o as f64;
    let targets = (0..ROWS).flat_map(|i| outputs.clone().map(move |o| target(i, o)));
    let weights = (0..ROWS).map(|i| 1.0 + (i % 3) as f64).collect();
    let noise = (0..ROWS).map(|i| 0.01 * (row(i) % 4) as f64).collect();
    let count = outputs.len();
    let (inputs, targets) = (inputs.collect(), targets.collect());
    Dataset::with_outputs(inputs, 2, targets, count, Some(weights), Some(noise)).unwrap()
}

/// What an objective says of all outputs together, and the sum of what it says of each.
fn compare(objective: impl Fn(&Dataset) -> Evaluation) {
    let together = objective(&data(0..OUTPUTS));
    let mut alone = Evaluation {
        value: 0.0,
        gradient: vec![0.0; together.gradient.len()],
    };
    for output in 0..OUTPUTS {
        alone = alone.merge(&objective(&data(output..output + 1)));
    }
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    assert!(close(together.value, alone.value), "{together:?} {alone:?}");
    for (a, b) in together.gradient.iter().zip(&alone.gradient) {
        assert!(close(*a, *b), "{together:?} {alone:?}");
    }
}

fn point(kernel: &BoundKernel) -> Vec<f64> {
    let mut point: Vec<f64> = kernel.parameters().iter().map(|p| p.coordinate()).collect();
    point.push(0.05f64.ln());
    point
}

#[test]
fn evidence_and_its_gradient_are_sums_over_the_outputs() {
    let (kernel, policy) = (kernel(), JitterPolicy::default());
    let at = point(&kernel);
    compare(|data| {
        let block = BlockEvidence::new(&kernel, data, policy);
        block.evaluate(&at).unwrap()
    });
    compare(|data| {
        let rows = data.rows();
        let groups = [
            Group {
                rows: (6..40).chain(0..6).collect(),
                neighbours: 34,
            },
            Group {
                rows: (20..rows).collect(),
                neighbours: 12,
            },
        ];
        let conditional = ConditionalLikelihood::new(&kernel, data, &groups, policy);
        conditional.evaluate(&at).unwrap()
    });
    compare(|data| {
        let lists = vec![(0..30).collect(), (30..data.rows()).collect()];
        let parts = data.split(&lists);
        let landmarks: Vec<f64> = (0..10).map(|i| f64::from(i) * 0.3).collect();
        let landmarks = Inputs::new(&landmarks, 5, 2).unwrap();
        let committee = CommitteeEvidence::new(&kernel, &parts, landmarks);
        committee.evaluate(&at).unwrap()
    });
}

#[test]
fn rows_left_out_are_told_the_same_together_and_alone() {
    let noise = quorate::gp::likelihood::GaussianNoise { variance: 0.05 };
    let left_out = |data: Dataset| {
        ExactPosterior::condition(kernel(), noise, data, JitterPolicy::default())
            .unwrap()
            .leave_one_out()
    };
    let together = left_out(data(0..OUTPUTS));
    for output in 0..OUTPUTS {
        let (ours, alone) = (
            together.of_output(output, OUTPUTS),
            left_out(data(output..output + 1)),
        );
        assert_eq!(ours.target, alone.target);
        for (a, b) in ours.mean.iter().zip(&alone.mean) {
            assert!((a - b).abs() < 1e-10);
        }
        assert_eq!(ours.variance, alone.variance);
    }
}

/// The endless table with a second target.
fn two_targets(from: usize, to: usize) -> Frame {
    let frame = table(from, to);
    let cells = |name: &str| match frame.column(name) {
        Some(Column::Number(cells)) => cells.clone(),
        _ => panic!("{name}"),
    };
    let pairs = cells("x").into_iter().zip(cells("z"));
    let other = pairs.map(|(x, z)| 100.0 + 3.0 * (x * z).cos()).collect();
    Frame::from_columns(vec![
        ("x", Column::Number(cells("x"))),
        ("z", Column::Number(cells("z"))),
        ("y", Column::Number(cells("y"))),
        ("other", Column::Number(other)),
    ])
    .unwrap()
}

#[test]
fn several_targets_equal_separate_fits_with_the_same_hyperparameters() {
    for (mode, method) in [
        (ModeChoice::Auto, MethodChoice::Exact),
        (ModeChoice::Local, MethodChoice::Committee),
        (ModeChoice::Landmarks, MethodChoice::Committee),
        (ModeChoice::Joint, MethodChoice::Committee),
    ] {
        let landmarks = mode == ModeChoice::Landmarks;
        let spec = |target: &str| ModelSpec {
            method,
            mode,
            kernel: "matern52(length_scale=0.8)".parse().unwrap(),
            learn: LearnChoice::None,
            landmarks: landmarks.then_some(30),
            task: TaskChoice::Regression,
            inputs: Some(vec!["x".into(), "z".into()]),
            ..ModelSpec::new(target)
        };
        let (train, test) = (two_targets(0, 300), two_targets(300, 360));
        let both = ModelSpec {
            further_targets: vec!["other".into()],
            ..spec("y")
        };
        let both = Model::fit(&both, &train, &Unwatched).unwrap();
        let loaded = quorate::file::from_bytes(&quorate::file::to_bytes(&both).unwrap(), "m");
        let Forecast::Numbers(together) = loaded.unwrap().forecast(&test).unwrap() else {
            panic!("{mode}");
        };
        for (name, together) in together {
            let alone = Model::fit(&spec(&name), &train, &Unwatched).unwrap();
            let alone = alone.predict(&test).unwrap();
            for row in 0..60 {
                let gap = (together.mean[row] - alone.mean[row]).abs();
                assert!(
                    gap < 1e-9 * (1.0 + alone.mean[row].abs()),
                    "{mode} {name} {gap}"
                );
            }
            let same = together
                .deviation(false)
                .into_iter()
                .zip(alone.deviation(false));
            same.for_each(|(a, b)| assert!((a / b - 1.0).abs() < 1e-9, "{mode} {name}"));
        }
        assert_eq!(both.score(&test).unwrap().rows(), 60);
    }
}
