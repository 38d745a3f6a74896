//! Rows of any likelihood as parts: working targets, landmarks, rows left out, groups, and the exact machine.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::latent_support;

use latent_support::{KERNEL, WIDTH, coordinates, inputs, kernel, likelihoods, problem, scattered};
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::tiles;
use quorate_gp::learn::{Group, LatentConditional, Objective};
use quorate_gp::likelihood::{Extras, Hinge, Likelihood, NegativeBinomial, Observations};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::{LaplacePosterior, Predict, SupportVectorMachine, Working};

#[test]
fn working_targets_carry_the_whole_posterior() {
    let kernel = kernel(KERNEL);
    for likelihood in likelihoods() {
        let rows = 30;
        let (data, seen) = problem(&likelihood, rows);
        let posterior =
            LaplacePosterior::fit(kernel.clone(), likelihood, data.clone(), seen.clone(), None)
                .unwrap();
        let working = posterior.working();
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let condensed = working.condense(covariance.as_ref()).unwrap();
        assert!(
            (condensed.log_evidence() - posterior.log_evidence()).abs() < 1e-9,
            "{likelihood:?}"
        );
        for (a, b) in condensed.vector().iter().zip(posterior.weights()) {
            assert!((a - b).abs() < 1e-8);
        }
        // Away from the mode, against the formula with 1/W: Q^-1 y with y = f + g / W.
        let latent: Vec<f64> = posterior.mode().iter().map(|f| 0.8 * f + 0.1).collect();
        let working = Working::at(&likelihood, &seen, &latent).unwrap();
        let condensed = working.condense(covariance.as_ref()).unwrap();
        if working.curvature.iter().any(|&w| w < 1e-6) {
            continue;
        }
        let mut q = covariance.clone();
        for i in 0..rows {
            q[(i, i)] += 1.0 / working.curvature[i];
        }
        let y: Vec<f64> = (0..rows)
            .map(|i| working.latent[i] + working.slope[i] / working.curvature[i])
            .collect();
        let mut back = vec![0.0; rows];
        for i in 0..rows {
            back[i] = (0..rows).map(|j| q[(i, j)] * condensed.vector()[j]).sum();
            let scale = 1.0 + y[i].abs() + 1.0 / working.curvature[i];
            assert!(
                (back[i] - y[i]).abs() < 1e-7 * scale,
                "{likelihood:?} {} {}",
                back[i],
                y[i]
            );
        }
        let mut right = Matrix::from_fn(rows, 1, |i, _| y[i]);
        condensed.solve(right.as_mut());
        for i in 0..rows {
            assert!(
                (right[(i, 0)] - condensed.vector()[i]).abs() < 1e-6 * (1.0 + right[(i, 0)].abs())
            );
        }
    }
}

#[test]
fn rows_that_say_nothing_have_no_infinite_noise() {
    // Saturated: the latent function is so far out that the curvature underflows.
    let likelihood: Likelihood = "bernoulli".parse().unwrap();
    let data = Dataset::new(inputs(4), WIDTH, vec![1.0; 4], None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let working = Working::at(&likelihood, &seen, &[800.0, 3.0, 900.0, 1.0]).unwrap();
    assert_eq!(working.curvature[0], 0.0);
    let kernel = kernel(KERNEL);
    let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
    let condensed = working.condense(covariance.as_ref()).unwrap();
    assert!(condensed.vector().iter().all(|v| v.is_finite()));
    assert!(condensed.log_evidence().is_finite());
}

/// `L^-1 right` for a lower triangular matrix, by hand.
fn forward(lower: &Matrix, right: &Matrix) -> Matrix {
    let mut out = right.clone();
    for c in 0..out.ncols() {
        for i in 0..out.nrows() {
            let known: f64 = (0..i).map(|j| lower[(i, j)] * out[(j, c)]).sum();
            out[(i, c)] = (out[(i, c)] - known) / lower[(i, i)];
        }
    }
    out
}

fn cholesky(matrix: &Matrix) -> Matrix {
    let n = matrix.nrows();
    let mut lower = Matrix::zeros(n, n);
    for j in 0..n {
        for i in j..n {
            let known: f64 = (0..j).map(|k| lower[(i, k)] * lower[(j, k)]).sum();
            let rest = matrix[(i, j)] - known;
            lower[(i, j)] = if i == j {
                rest.sqrt()
            } else {
                rest / lower[(j, j)]
            };
        }
    }
    lower
}

#[test]
fn a_part_speaks_to_landmarks_as_the_whole_posterior_would() {
    // B = I + V Q^-1 V', b = V Q^-1 y from the condensed part: the belief at the landmarks is Laplace's own there.
    let kernel = kernel(KERNEL);
    let likelihood: Likelihood = "poisson".parse().unwrap();
    let (data, seen) = problem(&likelihood, 25);
    let posterior =
        LaplacePosterior::fit(kernel.clone(), likelihood, data.clone(), seen, None).unwrap();
    let places = scattered(12, 19);
    let landmarks = Inputs::new(&places, 6, WIDTH).unwrap();
    let lower = cholesky(&tiles::block(&kernel, landmarks, landmarks));
    let v = forward(&lower, &tiles::block(&kernel, landmarks, data.inputs()));
    let mut remainder = tiles::block(&kernel, data.inputs(), data.inputs());
    remainder -= v.transpose() * &v;
    let part = posterior.working().condense(remainder.as_ref()).unwrap();
    let mut scaled = v.transpose().to_owned();
    part.whiten(scaled.as_mut());
    let information = &(scaled.transpose() * &scaled) + &Matrix::identity(6, 6);
    let vector = &v * &Matrix::from_fn(25, 1, |i, _| part.vector()[i]);
    let root = cholesky(&information);
    let half = forward(&root, &vector);
    let spread = forward(&root, &lower.transpose().to_owned());
    let (mean, covariance) = (spread.transpose() * &half, spread.transpose() * &spread);
    let direct = posterior.joint(landmarks).unwrap();
    assert!((&mean - &direct.mean).norm_max() < 1e-8);
    assert!((&covariance - &direct.covariance).norm_max() < 1e-8);
    // And the evidence: the part's own share, with the landmarks' two terms.
    let log_root: f64 = (0..6).map(|i| root[(i, i)].ln()).sum();
    let total = part.log_evidence() - log_root + 0.5 * half.norm_l2().powi(2);
    assert!((total - posterior.log_evidence()).abs() < 1e-8);
}

#[test]
fn leaving_a_row_out_is_close_to_fitting_without_it() {
    let kernel = kernel(KERNEL);
    for name in ["bernoulli", "poisson", "weibull"] {
        let likelihood: Likelihood = name.parse().unwrap();
        let rows = 40;
        let (data, seen) = problem(&likelihood, rows);
        let posterior =
            LaplacePosterior::fit(kernel.clone(), likelihood, data.clone(), seen.clone(), None)
                .unwrap();
        let quick = posterior.leave_one_out().unwrap();
        let fitted = posterior.latents(data.inputs()).unwrap();
        let (mut error, mut naive) = (0.0, 0.0);
        for left in (0..rows).step_by(5) {
            let others: Vec<usize> = (0..rows).filter(|&row| row != left).collect();
            let without = LaplacePosterior::fit(
                kernel.clone(),
                likelihood,
                data.select(&others),
                seen.select(&others),
                None,
            )
            .unwrap();
            let query = Inputs::new(data.inputs().row(left), 1, WIDTH).unwrap();
            let exact = without.latents(query).unwrap()[0];
            error += (quick[left].mean - exact.mean).abs()
                + (quick[left].variance - exact.variance).abs();
            naive += (fitted[left].mean - exact.mean).abs()
                + (fitted[left].variance - exact.variance).abs();
        }
        assert!(error < 0.25 * naive, "{name}: {error} against {naive}");
    }
}

#[test]
fn a_conditional_likelihood_is_a_difference_of_evidences() {
    let kernel = kernel(KERNEL);
    let likelihood = Likelihood::NegativeBinomial(NegativeBinomial { size: 1.7 });
    let (data, seen) = problem(&likelihood, 40);
    let groups = [
        Group {
            rows: (0..15).collect(),
            neighbours: 10,
        },
        Group {
            rows: (15..25).collect(),
            neighbours: 0,
        },
    ];
    let objective = LatentConditional::new(&kernel, likelihood, &data, &seen, &groups).unwrap();
    let point = coordinates(&kernel, &likelihood);
    let here = objective.evaluate(&point).unwrap();
    let evidence = |rows: std::ops::Range<usize>| {
        let rows: Vec<usize> = rows.collect();
        LaplacePosterior::fit(
            kernel.clone(),
            likelihood,
            data.select(&rows),
            seen.select(&rows),
            None,
        )
        .unwrap()
        .log_evidence()
    };
    let direct = 40.0 / 15.0 * (evidence(0..15) - evidence(0..10) + evidence(15..25));
    assert!((here.value - direct).abs() < 1e-9);
    for index in 0..point.len() {
        let at = |shift: f64| {
            let mut moved = point.clone();
            moved[index] += shift;
            objective.evaluate(&moved).unwrap().value
        };
        let h = 1e-3;
        let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        assert!((here.gradient[index] - difference).abs() < 1e-6 * (1.0 + difference.abs()));
    }
}

#[test]
fn the_exact_machine_is_the_limit_of_the_smoothed_hinge() {
    let kernel = kernel("4 * se(length_scale=0.8) + 2 * constant");
    let likelihood: Likelihood = "hinge".parse().unwrap();
    let (data, seen) = problem(&likelihood, 60);
    let machine = SupportVectorMachine::fit(kernel.clone(), data.clone(), &seen).unwrap();
    assert!(machine.gap() < 1e-7 && machine.support() < 60);
    let query = scattered(20, 23);
    let query = Inputs::new(&query, 10, WIDTH).unwrap();
    let exact = machine.decisions(query).unwrap();
    let mut last = f64::INFINITY;
    for sharpness in [10.0, 100.0, 1000.0] {
        let smooth = Likelihood::Hinge(Hinge { sharpness });
        // Offsets shift the smoothed hinge's margins; the machine has none.
        let plain =
            Observations::each(seen.rows().iter().map(|row| row.with_offset(0.0)).collect())
                .unwrap();
        let posterior =
            LaplacePosterior::fit(kernel.clone(), smooth, data.clone(), plain, None).unwrap();
        let latents = posterior.latents(query).unwrap();
        let distance = latents
            .iter()
            .zip(&exact)
            .map(|(a, b)| (a.mean - b).abs())
            .fold(0.0, f64::max);
        assert!(distance < last);
        last = distance;
    }
    assert!(last < 0.01, "{last}");
}
