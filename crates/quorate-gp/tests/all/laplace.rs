//! Laplace's method: agreements with exact inference, differences, copies of rows, and hard data.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::latent_support;

use latent_support::{KERNEL, WIDTH, coordinates, inputs, kernel, likelihoods, problem, scattered};
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, tiles};
use quorate_gp::learn::{
    BlockEvidence, Hyperprior, LaplaceEvidence, Objective, Search, learn_latent,
};
use quorate_gp::likelihood::{
    Extras, Gamma, GaussianNoise, InverseGaussian, Likelihood, NegativeBinomial, Normal,
    Observation, Observations, Weibull,
};
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::{ExactPosterior, LaplacePosterior, Predict};
use quorate_gp::watch::Unwatched;

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
fn a_mode_far_from_zero_is_found_however_sharp_the_likelihood() {
    // Amounts over three decades that follow a curve to a few percent, as copies of rows make them seem: at a latent
    // function of zero one row has a curvature of e^100 and more.
    let rows = 40;
    let x = inputs(rows);
    let amounts: Vec<f64> = (0..rows)
        .map(|row| (3.5 * (2.0 * x[2 * row]).sin() + 0.02 * (7.0 * row as f64).sin()).exp())
        .collect();
    let data = Dataset::new(x, WIDTH, amounts, None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let weibull = |shape: f64| {
        Likelihood::Weibull(Weibull {
            shape,
            fixed: false,
        })
    };
    let gamma = |shape: f64| Likelihood::Gamma(Gamma { shape });
    let inverse = |shape: f64| Likelihood::InverseGaussian(InverseGaussian { shape });
    /// A likelihood of a shape, by what factor shapes grow, and the sharpest.
    type Family<'a> = (&'a dyn Fn(f64) -> Likelihood, f64, f64);
    let families: [Family<'_>; 3] = [
        (&weibull, 1.3, 60.0),
        (&gamma, 4.0, 5e6),
        (&inverse, 4.0, 5e6),
    ];
    for text in [
        "10 * se(length_scale=1)",
        "100 * matern32(length_scale=0.3)",
    ] {
        let kernel = kernel(text);
        let fit = |likelihood: Likelihood, start: Option<&[f64]>| {
            let (data, seen) = (data.clone(), seen.clone());
            LaplacePosterior::fit(kernel.clone(), likelihood, data, seen, start)
                .unwrap_or_else(|error| panic!("{text}, {likelihood:?}: {error}"))
        };
        for (family, factor, sharpest) in families {
            // The same modes by way of ever sharper likelihoods, none far from the one before.
            let mut near: Option<Vec<f64>> = None;
            let mut shape = 1.0;
            while shape < sharpest {
                let (guided, alone) = (
                    fit(family(shape), near.as_deref()),
                    fit(family(shape), None),
                );
                let (ours, theirs) = (alone.log_evidence(), guided.log_evidence());
                assert!(
                    (ours - theirs).abs() < 1e-7 * (1.0 + theirs.abs()),
                    "{text}, {:?}: {ours} against {theirs}",
                    family(shape)
                );
                near = Some(guided.weights().to_vec());
                shape *= factor;
            }
        }
    }
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

#[test]
fn who_doubts_believes_separable_rows_less() {
    let rows = 24;
    let values = inputs(rows);
    let labels = (0..rows).map(|row| f64::from(values[row * WIDTH] > 0.0));
    let data = Dataset::new(values.clone(), WIDTH, labels.collect(), None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let kernel = kernel("linear");
    let variance = |hyperprior: Hyperprior| {
        let search = Search {
            restarts: Some(0),
            hyperprior,
            ..Search::default()
        };
        let likelihood = "bernoulli".parse().unwrap();
        let found = learn_latent(&kernel, likelihood, &data, &seen, &search, &Unwatched).unwrap();
        coordinates(&found.0, &found.1)[0].exp()
    };
    let (weak, doubtful) = (variance(Hyperprior::Weak), variance(Hyperprior::Doubtful));
    // The evidence of what a line divides grows with the variance for ever: priors end it, 30 and 100 being where they begin.
    assert!(weak > 100.0 && weak < 1000.0, "{weak}");
    assert!(doubtful > 30.0 && doubtful < 0.5 * weak, "{doubtful}");
}
