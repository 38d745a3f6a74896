//! Several classes and expectation propagation: agreements, gradients and hard data.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{
    LaplaceEvidence, MulticlassEvidence, Objective, PropagationEvidence, Search, learn_classes,
    learn_propagation,
};
use quorate_gp::likelihood::{Classes, Extras, Likelihood, Observations};
use quorate_gp::posterior::{LaplacePosterior, MulticlassPosterior, PropagationPosterior};
use quorate_gp::watch::Unwatched;

fn kernel(text: &str) -> BoundKernel {
    let column = InputColumn {
        name: "x".into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    text.parse::<Kernel>().unwrap().bind(&[column]).unwrap()
}

fn places(rows: usize) -> Vec<f64> {
    (0..rows)
        .map(|i| (i as f64 * 0.7548776662).fract() * 6.0 - 3.0)
        .collect()
}

#[test]
fn two_coupled_classes_are_one_function_of_twice_the_variance() {
    // The softmax of two functions sees their difference alone, whose kernel is the sum of theirs.
    let x = places(40);
    let labels: Vec<f64> = x
        .iter()
        .map(|x| f64::from(x.sin() + 0.3 * (5.0 * x).cos() > 0.0))
        .collect();
    let data = Dataset::new(x, 1, labels, None, None).unwrap();
    let classes = Classes::of(&data, 2).unwrap();
    let coupled = MulticlassPosterior::fit(
        vec![kernel("1.5 * se(length_scale=0.8)")],
        data.clone(),
        classes,
        None,
    )
    .unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let likelihood: Likelihood = "bernoulli".parse().unwrap();
    let single = LaplacePosterior::fit(
        kernel("3 * se(length_scale=0.8)"),
        likelihood,
        data,
        seen,
        None,
    )
    .unwrap();
    assert!((coupled.log_evidence() - single.log_evidence()).abs() < 1e-9);
    let query = [-1.0, 0.3, 2.2];
    let query = Inputs::new(&query, 3, 1).unwrap();
    let (a, b) = (
        coupled.latents(query).unwrap(),
        single.latents(query).unwrap(),
    );
    for (pair, one) in a.iter().zip(&b) {
        assert!((pair.mean[1] - pair.mean[0] - one.mean).abs() < 1e-9);
        let c = &pair.covariance;
        assert!((c[(0, 0)] + c[(1, 1)] - 2.0 * c[(0, 1)] - one.variance).abs() < 1e-9);
    }
}

#[test]
fn gradients_agree_with_differences() {
    let x = places(30);
    let codes: Vec<f64> = x.iter().map(|x| ((x + 3.0) / 2.01).floor()).collect();
    // Repeated and weighted rows too.
    let mut x2 = x.clone();
    x2.push(x[4]);
    let mut codes2 = codes.clone();
    codes2.push((codes[4] + 1.0) % 3.0);
    let mut weights = vec![1.0; 31];
    weights[7] = 2.5;
    let data = Dataset::new(x2, 1, codes2, Some(weights), None).unwrap();
    let classes = Classes::of(&data, 3).unwrap();
    for kernels in [
        vec![kernel("2 * se(length_scale=0.9) + 0.3 * constant")],
        vec![
            kernel("2 * se(length_scale=0.9)"),
            kernel("1 * matern32(length_scale=0.5)"),
            kernel("4 * se(length_scale=1.5)"),
        ],
    ] {
        let evidence = MulticlassEvidence::new(&kernels, &data, &classes).unwrap();
        let point: Vec<f64> = kernels
            .iter()
            .flat_map(|k| k.parameters())
            .map(|p| p.coordinate())
            .collect();
        check_gradient(&evidence, &point);
    }
    let labels: Vec<f64> = places(30)
        .iter()
        .map(|x| f64::from(x.cos() > 0.2))
        .collect();
    let data = Dataset::new(places(30), 1, labels, None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let kernel = kernel("5 * se(length_scale=0.9) + 0.3 * constant");
    for name in ["probit", "bernoulli"] {
        let likelihood: Likelihood = name.parse().unwrap();
        let evidence = PropagationEvidence::new(&kernel, likelihood, &data, &seen).unwrap();
        let point: Vec<f64> = kernel.parameters().iter().map(|p| p.coordinate()).collect();
        check_gradient(&evidence, &point);
    }
}

fn check_gradient(objective: &dyn Objective, point: &[f64]) {
    let here = objective.evaluate(point).unwrap();
    for index in 0..point.len() {
        let at = |shift: f64| {
            let mut moved = point.to_vec();
            moved[index] += shift;
            objective.evaluate(&moved).unwrap().value
        };
        let h = 2e-3;
        let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        let error = (here.gradient[index] - difference).abs();
        assert!(
            error < 1e-6 * (1.0 + difference.abs()),
            "coordinate {index}: {} against {difference}",
            here.gradient[index]
        );
    }
}

#[test]
fn hard_classes_converge() {
    let x = places(40);
    let codes: Vec<f64> = x.iter().map(|x| ((x + 3.0) / 1.501).floor()).collect();
    for variance in [1.0, 1e3] {
        let kernel = kernel(&format!("{variance} * se(length_scale=1)"));
        // Separable; one class has a single row; a class was never seen.
        let mut alone = vec![0.0; 40];
        alone[3] = 1.0;
        for codes in [codes.clone(), alone, vec![2.0; 40]] {
            let data = Dataset::new(x.clone(), 1, codes, None, None).unwrap();
            let classes = Classes::of(&data, 5).unwrap();
            let posterior =
                MulticlassPosterior::fit(vec![kernel.clone()], data, classes, None).unwrap();
            let table = posterior
                .probabilities(Inputs::new(&[0.1, 9.0], 2, 1).unwrap())
                .unwrap();
            for row in 0..2 {
                let sum: f64 = (0..5).map(|c| table[(row, c)]).sum();
                assert!((sum - 1.0).abs() < 1e-12);
            }
        }
        for labels in [
            x.iter().map(|x| f64::from(*x > 0.0)).collect(),
            vec![1.0; 40],
        ] {
            let data = Dataset::new(x.clone(), 1, labels, None, None).unwrap();
            let seen = Observations::of(&data, Extras::default()).unwrap();
            for name in ["probit", "bernoulli"] {
                let posterior = PropagationPosterior::fit(
                    kernel.clone(),
                    name.parse().unwrap(),
                    data.clone(),
                    seen.clone(),
                )
                .unwrap();
                assert!(
                    posterior.log_evidence().is_finite() && posterior.log_evidence() < 0.0,
                    "{name} {variance}"
                );
            }
        }
    }
    let data = Dataset::new(vec![0.0, 1.0], 1, vec![0.0, 3.0], None, None).unwrap();
    assert!(
        Classes::of(&data, 3)
            .unwrap_err()
            .to_string()
            .contains("row 2")
    );
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let error = PropagationPosterior::fit(kernel("se"), "poisson".parse().unwrap(), data, seen)
        .unwrap_err();
    assert!(error.to_string().contains("Laplace"));
}

#[test]
fn learning_improves_the_evidence() {
    let x = places(60);
    let codes: Vec<f64> = x.iter().map(|x| ((x + 3.0) / 2.01).floor()).collect();
    let data = Dataset::new(x.clone(), 1, codes, None, None).unwrap();
    let classes = Classes::of(&data, 3).unwrap();
    let start = kernel("se");
    let search = Search {
        restarts: Some(0),
        ..Search::default()
    };
    let (learned, _) = learn_classes(
        std::slice::from_ref(&start),
        &data,
        &classes,
        &search,
        &Unwatched,
    )
    .unwrap();
    let value = |kernels: Vec<BoundKernel>| {
        MulticlassPosterior::fit(kernels, data.clone(), classes.clone(), None)
            .unwrap()
            .log_evidence()
    };
    assert!(value(learned) > value(vec![start.clone()]) + 1.0);
    let labels: Vec<f64> = x.iter().map(|x| f64::from(*x > 0.4)).collect();
    let data = Dataset::new(x, 1, labels, None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let probit: Likelihood = "probit".parse().unwrap();
    let (learned, _) =
        learn_propagation(&start, probit, &data, &seen, &search, &Unwatched).unwrap();
    let value = |kernel: BoundKernel| {
        PropagationPosterior::fit(kernel, probit, data.clone(), seen.clone())
            .unwrap()
            .log_evidence()
    };
    assert!(value(learned) > value(start) + 1.0);
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let x = places(300);
    let codes: Vec<f64> = x.iter().map(|x| ((x + 3.0) / 2.01).floor()).collect();
    let labels: Vec<f64> = codes.iter().map(|code| f64::from(*code > 0.5)).collect();
    let data = Dataset::new(x.clone(), 1, codes, None, None).unwrap();
    let classes = Classes::of(&data, 3).unwrap();
    let two = Dataset::new(x, 1, labels, None, None).unwrap();
    let seen = Observations::of(&two, Extras::default()).unwrap();
    let kernels = [kernel("2 * se(length_scale=0.9)")];
    let point: Vec<f64> = kernels[0]
        .parameters()
        .iter()
        .map(|p| p.coordinate())
        .collect();
    let likelihood: Likelihood = "bernoulli".parse().unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let coupled = MulticlassEvidence::new(&kernels, &data, &classes).unwrap();
            let ep = PropagationEvidence::new(&kernels[0], likelihood, &two, &seen).unwrap();
            let laplace = LaplaceEvidence::new(&kernels[0], likelihood, &two, &seen).unwrap();
            [
                coupled.evaluate(&point),
                ep.evaluate(&point),
                laplace.evaluate(&point),
            ]
            .map(Result::unwrap)
        })
    };
    assert_eq!(run(1), run(2));
}
