//! The committee against the papers' own forms, dense references and central differences.
#![allow(clippy::unwrap_used, clippy::needless_range_loop, missing_docs)]

use crate::common;

use common::dense;
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate::gp::learn::{BlockEvidence, ConditionalLikelihood, Group, Objective};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::{JitterPolicy, Matrix};
use quorate::gp::posterior::{ExactPosterior, Predict};
use quorate::landmarks::{CommitteeEvidence, LandmarkBelief, Landmarks, Summary, SummaryTree};

const NOISE: GaussianNoise = GaussianNoise { variance: 0.07 };

fn kernel() -> BoundKernel {
    let columns = ["a", "b"].map(|name| InputColumn {
        name: name.into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    });
    let text = "0.9 * matern32(ard, length_scale=[0.9, 1.4]) + 0.1 * linear";
    text.parse::<Kernel>().unwrap().bind(&columns).unwrap()
}

fn rows(from: usize, to: usize) -> (Vec<f64>, Vec<f64>) {
    let inputs = (from..to)
        .flat_map(|i| [(i as f64 * 0.77).sin() * 2.0, (i as f64 * 1.31).cos()])
        .collect();
    let targets = (from..to).map(|i| (i as f64 * 0.77).sin() + 0.2 * (i as f64 * 2.9).cos());
    (inputs, targets.collect())
}

fn part(from: usize, to: usize) -> Dataset {
    let (inputs, targets) = rows(from, to);
    let weights = (from..to).map(|i| 1.0 + (i % 2) as f64).collect();
    Dataset::new(inputs, 2, targets, Some(weights), None).unwrap()
}

fn parts() -> Vec<Dataset> {
    vec![part(0, 17), part(17, 30), part(30, 52)]
}

/// Landmarks that are not rows.
fn landmark_inputs() -> Vec<f64> {
    (0..7)
        .flat_map(|i| [(i as f64 - 3.0) * 0.6, (i as f64 * 2.1).sin()])
        .collect()
}

fn landmarks() -> Landmarks {
    let inputs = landmark_inputs();
    Landmarks::new(kernel(), Inputs::new(&inputs, 7, 2).unwrap()).unwrap()
}

fn summary(parts: &[Dataset]) -> Summary {
    let mut tree = SummaryTree::default();
    for part in parts {
        tree.push(Summary::of_part(&landmarks(), NOISE, part).unwrap())
            .unwrap();
    }
    tree.total(7).unwrap()
}

fn block(a: Inputs<'_>, b: Inputs<'_>) -> Vec<Vec<f64>> {
    let mut out = Matrix::zeros(a.rows(), b.rows());
    kernel().fill(a, b, out.as_mut());
    (0..a.rows())
        .map(|i| (0..b.rows()).map(|j| out[(i, j)]).collect())
        .collect()
}

/// The committee's model of the targets written out: low-rank between parts, exact within them.
fn dense_covariance(parts: &[Dataset], jitter: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let z = landmark_inputs();
    let z = Inputs::new(&z, 7, 2).unwrap();
    let mut prior = block(z, z);
    (0..7).for_each(|i| prior[i][i] += jitter);
    let crosses: Vec<Vec<Vec<f64>>> = parts.iter().map(|p| block(z, p.inputs())).collect();
    let solved: Vec<Vec<Vec<f64>>> = crosses.iter().map(|c| dense::solve(&prior, c).0).collect();
    let mut rows = Vec::new();
    for (i, a) in parts.iter().enumerate() {
        for r in 0..a.rows() {
            let mut row = Vec::new();
            for (j, b) in parts.iter().enumerate() {
                let own = block(a.inputs().slice(r, r + 1), b.inputs());
                for c in 0..b.rows() {
                    let through: f64 = (0..7).map(|k| crosses[i][k][r] * solved[j][k][c]).sum();
                    let same = if i == j && r == c {
                        NOISE.variance / a.weights()[r]
                    } else {
                        0.0
                    };
                    row.push(if i == j { own[0][c] + same } else { through });
                }
            }
            rows.push(row);
        }
    }
    let targets = parts.iter().flat_map(|p| p.targets().to_vec()).collect();
    (rows, targets)
}

#[test]
fn the_evidence_equals_a_dense_computation() {
    let parts = parts();
    let landmarks = landmarks();
    let (covariance, targets) = dense_covariance(&parts, landmarks.factor().jitter().absolute);
    let right: Vec<Vec<f64>> = targets.iter().map(|y| vec![*y]).collect();
    let (solved, log_determinant) = dense::solve(&covariance, &right);
    let fit: f64 = targets.iter().zip(&solved).map(|(y, s)| y * s[0]).sum();
    let within: f64 = parts
        .iter()
        .map(|p| NOISE.evidence_within_groups(p).0)
        .sum();
    let n = targets.len() as f64;
    let expected =
        -0.5 * fit - 0.5 * log_determinant - 0.5 * n * (2.0 * std::f64::consts::PI).ln() + within;
    let found = LandmarkBelief::new(landmarks, &summary(&parts))
        .unwrap()
        .log_evidence();
    assert!(
        (found - expected).abs() < 1e-9 * expected.abs(),
        "{found} and {expected}"
    );
}

fn check_gradient(objective: &dyn Objective, point: &[f64]) {
    let gradient = objective.evaluate(point).unwrap().gradient;
    for i in 0..point.len() {
        let step = 1e-5;
        let at = |shift: f64| {
            let mut moved = point.to_vec();
            moved[i] += shift;
            objective.evaluate(&moved).unwrap().value
        };
        let difference = (at(step) - at(-step)) / (2.0 * step);
        let near = (gradient[i] - difference).abs() < 2e-6 * (1.0 + difference.abs());
        assert!(near, "coordinate {i}: {} and {difference}", gradient[i]);
    }
}

fn point() -> Vec<f64> {
    let mut point: Vec<f64> = kernel()
        .parameters()
        .iter()
        .map(|p| p.coordinate())
        .collect();
    point.push(NOISE.variance.ln());
    point
}

#[test]
fn the_gradient_of_the_committee_evidence_equals_central_differences() {
    let (kernel, parts, z) = (kernel(), parts(), landmark_inputs());
    let evidence = CommitteeEvidence::new(&kernel, &parts, Inputs::new(&z, 7, 2).unwrap());
    check_gradient(&evidence, &point());
}

#[test]
fn the_grouped_conditional_likelihood_is_a_difference_of_evidences() {
    let (kernel, data) = (kernel(), part(0, 52));
    let policy = JitterPolicy::default();
    let groups = [
        Group {
            rows: (5..40).chain(0..5).collect(),
            neighbours: 35,
        },
        Group {
            rows: (30..52).collect(),
            neighbours: 12,
        },
    ];
    let objective = ConditionalLikelihood::new(&kernel, &data, &groups, policy);
    let evidence = |rows: &[usize]| {
        let data = data.select(rows);
        BlockEvidence::new(&kernel, &data, policy)
            .evaluate(&point())
            .unwrap()
    };
    let mut value = 0.0;
    let mut gradient = vec![0.0; point().len()];
    for group in &groups {
        let (both, given) = (
            evidence(&group.rows),
            evidence(&group.rows[..group.neighbours]),
        );
        value += both.value - given.value;
        for (total, (a, b)) in gradient
            .iter_mut()
            .zip(both.gradient.iter().zip(&given.gradient))
        {
            *total += a - b;
        }
    }
    let scale = 52.0 / 15.0;
    let found = objective.evaluate(&point()).unwrap();
    assert!((found.value - scale * value).abs() < 1e-9 * value.abs());
    for (a, b) in found.gradient.iter().zip(&gradient) {
        assert!(
            (a - scale * b).abs() < 1e-8 * (1.0 + b.abs()),
            "{a} and {}",
            scale * b
        );
    }
    check_gradient(&objective, &point());
}

#[test]
fn merging_is_order_free_and_forgetting_equals_never_having_seen() {
    let parts = parts();
    let forward = summary(&parts);
    let backward = summary(&[parts[2].clone(), parts[0].clone(), parts[1].clone()]);
    let near = |a: &Summary, b: &Summary| {
        let scale = a.information.norm_max();
        (0..7).all(|i| {
            (0..=i).all(|j| (a.information[(i, j)] - b.information[(i, j)]).abs() < 1e-13 * scale)
        }) && (a.log_evidence - b.log_evidence).abs() < 1e-12 * a.log_evidence.abs()
            && (&a.vector - &b.vector).norm_max() < 1e-13 * a.vector.norm_max()
    };
    assert!(near(&forward, &backward));
    let last = Summary::of_part(&landmarks(), NOISE, &parts[2]).unwrap();
    assert!(near(&summary(&parts[..2]), &forward.remove(&last).unwrap()));
}

#[test]
fn one_part_equals_the_exact_process_at_the_landmarks() {
    let data = part(0, 52);
    let exact =
        ExactPosterior::condition(kernel(), NOISE, data.clone(), JitterPolicy::default()).unwrap();
    let belief = LandmarkBelief::new(landmarks(), &summary(&[data])).unwrap();
    let z = landmark_inputs();
    let query = Inputs::new(&z, 7, 2).unwrap();
    let (ours, theirs) = (belief.joint(query).unwrap(), exact.joint(query).unwrap());
    let marginals = belief.marginals(query).unwrap();
    assert!((belief.log_evidence() - exact.log_evidence()).abs() < 1e-8);
    for i in 0..7 {
        // The jitter of the landmarks' prior is part of the answer.
        assert!((ours.mean[(i, 0)] - theirs.mean[(i, 0)]).abs() < 1e-10);
        assert!((marginals.variance[(i, 0)] - theirs.covariance[(i, i)]).abs() < 1e-10);
        for j in 0..7 {
            assert!((ours.covariance[(i, j)] - theirs.covariance[(i, j)]).abs() < 1e-10);
        }
    }
}
