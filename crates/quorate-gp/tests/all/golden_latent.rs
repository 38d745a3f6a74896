//! Laplace's method, coupled classes and expectation propagation against numbers made by other software.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{LaplaceEvidence, MulticlassEvidence, Objective, PropagationEvidence};
use quorate_gp::likelihood::{Classes, Extras, Latent, Likelihood, Observations};
use quorate_gp::posterior::{
    LaplacePosterior, MulticlassPosterior, PropagationPosterior, SoftmaxAverage,
};
use serde_json::Value;

fn golden(prefix: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/laplace");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let found: Vec<(String, Value)> = paths
        .into_iter()
        .map(|path| {
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                path,
            )
        })
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, path)| {
            (
                name,
                serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(),
            )
        })
        .collect();
    assert!(!found.is_empty(), "{prefix}");
    found
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

/// Largest difference over the largest entry.
fn close(ours: &[f64], theirs: &[f64], tolerance: f64, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let size = theirs.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
    let difference = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
    let error = difference.fold(0.0, f64::max) / size;
    assert!(error <= tolerance, "{what}: off by {error:e}");
}

struct Problem {
    columns: Vec<InputColumn>,
    data: Dataset,
    test: Vec<f64>,
    tests: usize,
}

fn problem(file: &Value) -> Problem {
    let names = file["inputs"].as_array().unwrap();
    let columns: Vec<InputColumn> = names
        .iter()
        .map(|name| InputColumn {
            name: name.as_str().unwrap().into(),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    let data = Dataset::new(
        numbers(&file["x"]),
        columns.len(),
        numbers(&file["y"]),
        None,
        None,
    )
    .unwrap();
    let test = numbers(&file["x_test"]);
    Problem {
        tests: test.len() / columns.len(),
        columns,
        data,
        test,
    }
}

impl Problem {
    fn kernel(&self, text: &Value) -> BoundKernel {
        let kernel: Kernel = text.as_str().unwrap().parse().unwrap();
        kernel.bind(&self.columns).unwrap()
    }

    fn query(&self) -> Inputs<'_> {
        Inputs::new(&self.test, self.tests, self.columns.len()).unwrap()
    }

    /// Golden rows by group: equal inputs share a latent value.
    fn places(&self) -> Vec<usize> {
        self.data
            .members()
            .iter()
            .map(|member| member.group)
            .collect()
    }
}

fn coordinates(kernel: &BoundKernel, likelihood: &Likelihood) -> Vec<f64> {
    let own = likelihood.parameters();
    kernel
        .parameters()
        .into_iter()
        .chain(own)
        .map(|p| p.coordinate())
        .collect()
}

fn moments(latents: &[Latent]) -> (Vec<f64>, Vec<f64>) {
    (
        latents.iter().map(|l| l.mean).collect(),
        latents.iter().map(|l| l.variance).collect(),
    )
}

#[test]
fn two_classes_agree_with_scikit_learn() {
    let likelihood: Likelihood = "bernoulli".parse().unwrap();
    for (name, file) in golden("sklearn_") {
        let problem = problem(&file);
        let seen = Observations::of(&problem.data, Extras::default()).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let what = format!("{name} {}", case["kernel"]);
            let kernel = problem.kernel(&case["kernel"]);
            let evidence = LaplaceEvidence::new(&kernel, likelihood, &problem.data, &seen).unwrap();
            let found = evidence
                .evaluate(&coordinates(&kernel, &likelihood))
                .unwrap();
            close(
                &[found.value],
                &[case["log_evidence"].as_f64().unwrap()],
                1e-9,
                &what,
            );
            close(&found.gradient, &numbers(&case["gradient"]), 1e-6, &what);
            let posterior =
                LaplacePosterior::fit(kernel, likelihood, problem.data.clone(), seen.clone(), None)
                    .unwrap();
            let slopes: Vec<f64> = likelihood
                .derivatives_of(&seen, posterior.mode())
                .iter()
                .map(|d| d.slope)
                .collect();
            let slopes: Vec<f64> = problem.places().iter().map(|&g| slopes[g]).collect();
            close(&slopes, &numbers(&case["slope"]), 1e-6, &what);
            let latents = posterior.latents(problem.query()).unwrap();
            let (mean, variance) = moments(&latents);
            close(&mean, &numbers(&case["latent_mean"]), 1e-6, &what);
            close(&variance, &numbers(&case["latent_variance"]), 1e-6, &what);
            let probability: Vec<f64> = latents.iter().map(|&l| likelihood.mean(l)).collect();
            close(&probability, &numbers(&case["probability"]), 1e-6, &what);
            // Their own average is approximate by design.
            close(
                &probability,
                &numbers(&case["probability_sklearn"]),
                2e-3,
                &what,
            );
        }
    }
}

#[test]
fn other_likelihoods_agree_with_the_slow_reference() {
    for (name, file) in golden("reference_") {
        let problem = problem(&file);
        let offsets = numbers(&file["offset"]);
        let observed: Vec<bool> = numbers(&file["event"]).iter().map(|&e| e == 1.0).collect();
        let extras = Extras {
            offset: Some(&offsets),
            observed: Some(&observed),
        };
        let seen = Observations::of(&problem.data, extras).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let what = format!("{name} {}", case["kernel"]);
            let kernel = problem.kernel(&case["kernel"]);
            let mut likelihood: Likelihood = file["likelihood"].as_str().unwrap().parse().unwrap();
            let dispersion: Vec<f64> = numbers(&case["dispersion"])
                .iter()
                .map(|d| d.ln())
                .collect();
            likelihood.set_coordinates(&dispersion).unwrap();
            let evidence = LaplaceEvidence::new(&kernel, likelihood, &problem.data, &seen).unwrap();
            let found = evidence
                .evaluate(&coordinates(&kernel, &likelihood))
                .unwrap();
            close(
                &[found.value],
                &[case["log_evidence"].as_f64().unwrap()],
                1e-8,
                &what,
            );
            close(&found.gradient, &numbers(&case["gradient"]), 1e-6, &what);
            let posterior =
                LaplacePosterior::fit(kernel, likelihood, problem.data.clone(), seen.clone(), None)
                    .unwrap();
            let mode: Vec<f64> = problem
                .places()
                .iter()
                .map(|&g| posterior.mode()[g])
                .collect();
            close(&mode, &numbers(&case["mode"]), 1e-7, &what);
            let (mean, variance) = moments(&posterior.latents(problem.query()).unwrap());
            close(&mean, &numbers(&case["latent_mean"]), 1e-6, &what);
            close(&variance, &numbers(&case["latent_variance"]), 1e-6, &what);
        }
    }
}

#[test]
fn several_classes_agree_with_the_dense_reference() {
    for (name, file) in golden("multiclass_") {
        let problem = problem(&file);
        let count = file["classes"].as_u64().unwrap() as usize;
        let classes = Classes::of(&problem.data, count).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let texts = case["kernels"].as_array().unwrap();
            let what = format!("{name} with {} kernels", texts.len());
            let kernels: Vec<BoundKernel> = texts.iter().map(|text| problem.kernel(text)).collect();
            let evidence = MulticlassEvidence::new(&kernels, &problem.data, &classes).unwrap();
            let point: Vec<f64> = kernels
                .iter()
                .flat_map(|k| k.parameters())
                .map(|p| p.coordinate())
                .collect();
            let found = evidence.evaluate(&point).unwrap();
            close(
                &[found.value],
                &[case["log_evidence"].as_f64().unwrap()],
                1e-9,
                &what,
            );
            close(&found.gradient, &numbers(&case["gradient"]), 1e-6, &what);
            let posterior =
                MulticlassPosterior::fit(kernels, problem.data.clone(), classes.clone(), None)
                    .unwrap();
            let places = problem.places();
            let mode: Vec<f64> = posterior
                .mode()
                .iter()
                .flat_map(|own| places.iter().map(|&g| own[g]))
                .collect();
            close(&mode, &numbers(&case["mode"]), 1e-7, &what);
            let latents = posterior.latents(problem.query()).unwrap();
            let mean: Vec<f64> = latents.iter().flat_map(|l| l.mean.clone()).collect();
            close(&mean, &numbers(&case["latent_mean"]), 1e-6, &what);
            let covariance: Vec<f64> = latents
                .iter()
                .flat_map(|l| {
                    (0..count * count)
                        .map(|k| l.covariance[(k / count, k % count)])
                        .collect::<Vec<_>>()
                })
                .collect();
            close(
                &covariance,
                &numbers(&case["latent_covariance"]),
                1e-6,
                &what,
            );
            let average = SoftmaxAverage::new(count);
            let probability: Vec<f64> = latents
                .iter()
                .flat_map(|l| average.of(l).unwrap())
                .collect();
            close(&probability, &numbers(&case["probability"]), 0.003, &what);
            let table = posterior.probabilities(problem.query()).unwrap();
            assert_eq!(table[(1, 2)], probability[count + 2]);
        }
    }
}

#[test]
fn expectation_propagation_agrees_with_gpy_and_with_a_long_chain() {
    for (name, file) in golden("ep_") {
        let problem = problem(&file);
        let seen = Observations::of(&problem.data, Extras::default()).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let what = format!("{name} {}", case["kernel"]);
            let kernel = problem.kernel(&case["kernel"]);
            let probit: Likelihood = "probit".parse().unwrap();
            let evidence = PropagationEvidence::new(&kernel, probit, &problem.data, &seen).unwrap();
            let found = evidence.evaluate(&coordinates(&kernel, &probit)).unwrap();
            close(
                &[found.value],
                &[case["log_evidence"].as_f64().unwrap()],
                1e-6,
                &what,
            );
            close(&found.gradient, &numbers(&case["gradient"]), 1e-4, &what);
            for likelihood in ["probit", "bernoulli"] {
                let likelihood: Likelihood = likelihood.parse().unwrap();
                let fit = |data: &Dataset| {
                    PropagationPosterior::fit(
                        kernel.clone(),
                        likelihood,
                        data.clone(),
                        seen.clone(),
                    )
                    .unwrap()
                };
                let latents = fit(&problem.data).latents(problem.query()).unwrap();
                let probability: Vec<f64> = latents.iter().map(|&l| likelihood.mean(l)).collect();
                if likelihood.name() == "probit" {
                    let (mean, variance) = moments(&latents);
                    close(&mean, &numbers(&case["latent_mean"]), 1e-5, &what);
                    close(&variance, &numbers(&case["latent_variance"]), 1e-5, &what);
                    close(&probability, &numbers(&case["probability"]), 1e-5, &what);
                }
                // The chain itself is the truth within its error: EP within 0.01 of it, Laplace further away.
                let chain = numbers(&case["probability_chain"][likelihood.name()]);
                let error = numbers(&case["chain_error"][likelihood.name()]);
                let laplace = LaplacePosterior::fit(
                    kernel.clone(),
                    likelihood,
                    problem.data.clone(),
                    seen.clone(),
                    None,
                )
                .unwrap();
                let timid: Vec<f64> = laplace
                    .latents(problem.query())
                    .unwrap()
                    .iter()
                    .map(|&l| likelihood.mean(l))
                    .collect();
                let distance = |ours: &[f64]| {
                    ours.iter()
                        .zip(&chain)
                        .map(|(a, b)| (a - b).abs())
                        .sum::<f64>()
                };
                for i in 0..chain.len() {
                    assert!(
                        (probability[i] - chain[i]).abs() < 0.01 + 4.0 * error[i],
                        "{what} {likelihood} row {i}: {} {}",
                        probability[i],
                        chain[i]
                    );
                }
                assert!(
                    distance(&probability) < distance(&timid),
                    "{what} {likelihood}"
                );
            }
        }
    }
}

#[test]
fn a_linear_kernel_under_a_broad_prior_is_a_generalised_linear_model() {
    for (name, file) in golden("glm_") {
        let problem = problem(&file);
        let offsets = numbers(&file["offset"]);
        let observed: Vec<bool> = numbers(&file["event"]).iter().map(|&e| e == 1.0).collect();
        let extras = Extras {
            offset: Some(&offsets),
            observed: Some(&observed),
        };
        let seen = Observations::of(&problem.data, extras).unwrap();
        let case = &file["cases"][0];
        let mut likelihood: Likelihood = file["likelihood"].as_str().unwrap().parse().unwrap();
        let dispersion: Vec<f64> = numbers(&case["dispersion"])
            .iter()
            .map(|d| d.ln())
            .collect();
        likelihood.set_coordinates(&dispersion).unwrap();
        let kernel = problem.kernel(&Value::from("1e5 * linear + 1e5 * constant"));
        let posterior =
            LaplacePosterior::fit(kernel, likelihood, problem.data.clone(), seen, None).unwrap();
        let latents = posterior.latents(problem.query()).unwrap();
        let (mean, variance) = moments(&latents);
        // A prior of variance 1e5 on coefficients of order 1 moves them by about 1e-5 of their own variance.
        close(&mean, &numbers(&case["predictor"]), 1e-5, &name);
        if !case["predictor_error"].is_null() {
            let error: Vec<f64> = variance.iter().map(|v| v.sqrt()).collect();
            // Statsmodels uses the expected curvature throughout, which differs where the link is not canonical.
            let tolerance = if file["likelihood"] == "poisson" {
                1e-5
            } else {
                0.1
            };
            close(&error, &numbers(&case["predictor_error"]), tolerance, &name);
        }
    }
}
