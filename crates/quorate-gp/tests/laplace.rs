//! Laplace's method: agreements with exact inference, differences, copies of rows, and hard data.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel, tiles};
use quorate_gp::learn::{BlockEvidence, LaplaceEvidence, Objective, Search, learn_latent};
use quorate_gp::likelihood::{
    Extras, Gamma, GaussianNoise, InverseGaussian, Likelihood, NegativeBinomial, Normal,
    Observation, Observations, StudentT, Weibull,
};
use quorate_gp::linalg::{JitterPolicy, Matrix};
use quorate_gp::posterior::{ExactPosterior, LaplacePosterior, Predict, Working};
use quorate_gp::watch::Unwatched;

const WIDTH: usize = 2;

fn kernel(text: &str) -> BoundKernel {
    let column = |name: &str| InputColumn {
        name: name.into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    let kernel: Kernel = text.parse().unwrap();
    kernel.bind(&[column("a"), column("b")]).unwrap()
}

const KERNEL: &str = "1.3 * se(ard, length_scale=[0.9, 1.7]) + 0.2 * constant";

/// Numbers that look random and are the same everywhere.
fn scattered(count: usize, salt: u64) -> Vec<f64> {
    let mut state = salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 33) as f64 / (1u64 << 31) as f64) * 2.0 - 1.0
        })
        .collect()
}

fn inputs(rows: usize) -> Vec<f64> {
    scattered(rows * WIDTH, 7).iter().map(|v| 2.0 * v).collect()
}

/// Targets that each likelihood can produce, drawn by quantiles of a smooth function of the inputs.
fn problem(likelihood: &Likelihood, rows: usize) -> (Dataset, Observations) {
    let x = inputs(rows);
    let chance = scattered(rows, 11);
    let values: Vec<f64> = (0..rows)
        .map(|row| {
            let f = (1.5 * x[2 * row]).sin() + 0.5 * x[2 * row + 1];
            let level = (0.5 * (chance[row] + 1.0)).clamp(0.01, 0.99);
            let belief = quorate_gp::likelihood::Latent {
                mean: f,
                variance: 0.0,
            };
            likelihood.quantile(belief, level)
        })
        .collect();
    let offsets: Vec<f64> = scattered(rows, 13).iter().map(|v| 0.3 * v).collect();
    let observed: Vec<bool> = (0..rows)
        .map(|row| !(likelihood.takes_censoring() && row % 4 == 0))
        .collect();
    let data = Dataset::new(x, WIDTH, values, None, None).unwrap();
    let extras = Extras {
        offset: Some(&offsets),
        observed: Some(&observed),
    };
    let seen = Observations::of(&data, extras).unwrap();
    (data, seen)
}

fn likelihoods() -> Vec<Likelihood> {
    let mut all: Vec<Likelihood> = ["bernoulli", "probit", "poisson", "exponential", "hinge"]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    all.push(Likelihood::Gaussian(Normal { variance: 0.3 }));
    all.push(Likelihood::NegativeBinomial(NegativeBinomial { size: 1.7 }));
    all.push(Likelihood::Gamma(Gamma { shape: 2.5 }));
    all.push(Likelihood::InverseGaussian(InverseGaussian { shape: 2.0 }));
    all.push(Likelihood::Weibull(Weibull {
        shape: 1.6,
        fixed: false,
    }));
    all.push(Likelihood::StudentT(StudentT {
        degrees: 3.0,
        scale: 0.4,
    }));
    all
}

fn coordinates(kernel: &BoundKernel, likelihood: &Likelihood) -> Vec<f64> {
    let own = likelihood.parameters();
    let all = kernel.parameters().into_iter().chain(own);
    all.map(|p| p.coordinate()).collect()
}

#[test]
fn with_gaussian_noise_it_is_exact() {
    let rows = 60;
    let data = Dataset::new(inputs(rows), WIDTH, scattered(rows, 3), None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let likelihood = Likelihood::Gaussian(Normal { variance: 0.2 });
    let noise = GaussianNoise { variance: 0.2 };
    let kernel = kernel(KERNEL);
    let laplace =
        LaplacePosterior::fit(kernel.clone(), likelihood, data.clone(), seen.clone(), None)
            .unwrap();
    let exact =
        ExactPosterior::condition(kernel.clone(), noise, data.clone(), JitterPolicy::default())
            .unwrap();
    assert!((laplace.log_evidence() - exact.log_evidence()).abs() < 1e-10);
    let query = scattered(40, 5);
    let query = Inputs::new(&query, 20, WIDTH).unwrap();
    let (a, b) = (laplace.joint(query).unwrap(), exact.joint(query).unwrap());
    assert!((&a.mean - &b.mean).norm_max() < 1e-12);
    assert!((&a.covariance - &b.covariance).norm_max() < 1e-12);
    let marginals = laplace.marginals(query).unwrap();
    for row in 0..20 {
        assert!((marginals.variance[(row, 0)] - b.covariance[(row, row)]).abs() < 1e-12);
    }
    let point = coordinates(&kernel, &likelihood);
    let ours = LaplaceEvidence::new(&kernel, likelihood, &data, &seen)
        .unwrap()
        .evaluate(&point)
        .unwrap();
    let theirs = BlockEvidence::new(&kernel, &data, JitterPolicy::default())
        .evaluate(&point)
        .unwrap();
    for (a, b) in ours.gradient.iter().zip(&theirs.gradient) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn the_gradient_is_that_of_the_evidence_for_every_likelihood() {
    let kernel = kernel(KERNEL);
    for likelihood in likelihoods() {
        let (data, seen) = problem(&likelihood, 40);
        let evidence = LaplaceEvidence::new(&kernel, likelihood, &data, &seen).unwrap();
        let point = coordinates(&kernel, &likelihood);
        let here = evidence.evaluate(&point).unwrap();
        for index in 0..point.len() {
            let at = |shift: f64| {
                let mut moved = point.clone();
                moved[index] += shift;
                evidence.evaluate(&moved).unwrap().value
            };
            let fixed = likelihood.name() == "exponential" && index + 1 == point.len();
            let h = 1e-3;
            let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let error = (here.gradient[index] - difference).abs();
            assert!(
                fixed || error < 2e-7 * (1.0 + difference.abs()),
                "{likelihood:?} coordinate {index}: {} against {difference}",
                here.gradient[index]
            );
        }
    }
}

#[test]
fn the_mode_solves_its_equation_and_weights_are_copies() {
    let kernel = kernel(KERNEL);
    for likelihood in likelihoods() {
        let (data, seen) = problem(&likelihood, 30);
        let fit = |data: &Dataset, seen: &Observations| {
            LaplacePosterior::fit(kernel.clone(), likelihood, data.clone(), seen.clone(), None)
                .unwrap()
        };
        let posterior = fit(&data, &seen);
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let terms = likelihood.derivatives_of(&seen, posterior.mode());
        for row in 0..30 {
            let pulled: f64 = (0..30).map(|j| covariance[(row, j)] * terms[j].slope).sum();
            assert!(
                (posterior.mode()[row] - pulled).abs() < 1e-8,
                "{likelihood:?}"
            );
        }
        // The first row twice, and with weight 2: the same posterior and evidence.
        let first = seen.of_group(0)[0];
        let twice = (0..30)
            .map(|g| (g, seen.of_group(g)[0]))
            .chain([(0, first)]);
        let twice = fit(&data, &Observations::grouped(30, twice).unwrap());
        let weighted = (0..30).map(|g| {
            let own = seen.of_group(g)[0];
            (g, if g == 0 { own.with_weight(2.0) } else { own })
        });
        let weighted = fit(&data, &Observations::grouped(30, weighted).unwrap());
        assert!((twice.log_evidence() - weighted.log_evidence()).abs() < 1e-10);
        assert!((twice.mode()[3] - weighted.mode()[3]).abs() < 1e-10);
        assert!((twice.mode()[0] - posterior.mode()[0]).abs() > 1e-6);
        // A search that sets out from the mode has nothing left to do.
        let again = LaplacePosterior::fit(
            kernel.clone(),
            likelihood,
            data.clone(),
            seen.clone(),
            Some(posterior.weights()),
        )
        .unwrap();
        assert!(
            again.steps() <= 2 || again.steps() < posterior.steps(),
            "{likelihood:?} {}",
            again.steps()
        );
        assert!((again.log_evidence() - posterior.log_evidence()).abs() < 1e-9);
    }
}

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

#[test]
fn hard_data_converge_or_say_why() {
    let rows = 50;
    let x = inputs(rows);
    let separable: Vec<f64> = (0..rows).map(|r| f64::from(x[2 * r] > 0.0)).collect();
    let cases: Vec<(&str, Vec<f64>, bool)> = vec![
        ("bernoulli", separable.clone(), false),
        ("probit", separable.clone(), false),
        ("hinge", separable, false),
        ("bernoulli", vec![1.0; rows], false),
        ("poisson", vec![0.0; rows], false),
        ("poisson", vec![1e5; rows], false),
        ("negative-binomial", vec![0.0; rows], false),
        (
            "gamma",
            (0..rows).map(|r| 10f64.powi(r as i32 % 7 - 3)).collect(),
            false,
        ),
        (
            "inverse-gaussian",
            (0..rows).map(|r| 10f64.powi(r as i32 % 5 - 2)).collect(),
            false,
        ),
        ("weibull", vec![2.0; rows], true),
        (
            "student-t",
            (0..rows)
                .map(|r| if r % 9 == 0 { 1e4 } else { 0.1 })
                .collect(),
            false,
        ),
    ];
    for variance in [1.0, 1e4] {
        let kernel = kernel(&format!("{variance} * matern32(length_scale=1)"));
        for (name, values, censored) in &cases {
            let likelihood: Likelihood = name.parse().unwrap();
            let rows: Vec<Observation> = values
                .iter()
                .map(|&v| {
                    if *censored {
                        Observation::of(v).censored()
                    } else {
                        Observation::of(v)
                    }
                })
                .collect();
            let data = Dataset::new(x.clone(), WIDTH, values.clone(), None, None).unwrap();
            let seen = Observations::each(rows).unwrap();
            let posterior = LaplacePosterior::fit(kernel.clone(), likelihood, data, seen, None)
                .unwrap_or_else(|error| panic!("{name} {variance}: {error}"));
            assert!(posterior.log_evidence().is_finite(), "{name} {variance}");
            let beliefs = posterior
                .latents(Inputs::new(&[0.3, 0.4], 1, WIDTH).unwrap())
                .unwrap();
            assert!(beliefs[0].mean.is_finite() && beliefs[0].variance >= 0.0);
        }
    }
    let data = Dataset::new(x, WIDTH, vec![0.5; rows], None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let error = LaplacePosterior::fit(kernel(KERNEL), "poisson".parse().unwrap(), data, seen, None)
        .unwrap_err();
    assert!(error.to_string().contains("must be a count"), "{error}");
}

#[test]
fn learning_climbs_and_is_the_same_on_any_number_of_threads() {
    let likelihood = Likelihood::NegativeBinomial(NegativeBinomial { size: 1.0 });
    let truth = Likelihood::NegativeBinomial(NegativeBinomial { size: 6.0 });
    let (data, seen) = problem(&truth, 120);
    let kernel = kernel("se(ard)");
    let search = Search {
        restarts: Some(1),
        ..Search::default()
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            learn_latent(&kernel, likelihood, &data, &seen, &search, &Unwatched).unwrap()
        })
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(coordinates(&one.0, &one.1), coordinates(&two.0, &two.1));
    assert_eq!(one.2, two.2);
    let evidence = LaplaceEvidence::new(&kernel, likelihood, &data, &seen).unwrap();
    let value = |kernel: &BoundKernel, likelihood: &Likelihood| {
        evidence
            .evaluate(&coordinates(kernel, likelihood))
            .unwrap()
            .value
    };
    assert!(value(&one.0, &one.1) > value(&kernel, &likelihood) + 3.0);
    let Likelihood::NegativeBinomial(found) = one.1 else {
        panic!()
    };
    assert!(found.size > 1.5, "{}", found.size);
}
