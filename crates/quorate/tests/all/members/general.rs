//! Generalised linear models against scikit-learn, and in a committee.

use quorate::ensemble::Council;
use quorate::fusion::Fusion;
use quorate::gp::data::{Dataset, Inputs};
use quorate::gp::likelihood::{Extras, Gamma, Latent, Likelihood, Observations};
use quorate::gp::posterior::Predict;
use quorate::member::{Basis, Expansion, GeneralLinear, InWeights, Member, restore_general};

use super::{golden, near, numbers, width};

#[test]
fn weights_of_counts_and_amounts_are_those_of_scikit_learn() {
    let golden = golden("general.json");
    let tolerance = golden["tolerance"].as_f64().unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let (values, columns) = (numbers(&case["inputs"]), width(&case["inputs"]));
        let data = Dataset::new(values, columns, numbers(&case["target"]), None, None).unwrap();
        let seen = Observations::of(&data, Extras::default()).unwrap();
        // Half of scikit-learn's deviance of amounts is minus the log density of shape 1.
        let likelihood = match case["likelihood"].as_str().unwrap() {
            "gamma" => Likelihood::Gamma(Gamma { shape: 1.0 }),
            name => name.parse().unwrap(),
        };
        let alpha = case["alpha"].as_f64().unwrap();
        let found = GeneralLinear::fit_with(
            Basis::Linear,
            Expansion::numbers(columns),
            likelihood,
            alpha,
            &data,
            &seen,
        )
        .unwrap();
        for (ours, theirs) in found.weights().iter().zip(numbers(&case["weights"])) {
            near(*ours, theirs, tolerance);
        }
    }
}

/// Counts and amounts whose logarithm is a line.
fn line(rows: usize, salt: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let unit = |row: usize, rate: f64| ((row + 500 * salt) as f64 * rate).fract();
    let x: Vec<f64> = (0..rows)
        .map(|row| 4.0 * unit(row, 0.618_034) - 2.0)
        .collect();
    let mean = |row: usize| (0.5 + 0.9 * x[row]).exp();
    // The distribution's inverse at points that fill the unit interval.
    let count = |row: usize| {
        let (mut below, mut term, mut y) = (0.0, (-mean(row)).exp(), 0.0);
        while below + term < unit(row, 0.754_877_7) && y < 200.0 {
            below += term;
            y += 1.0;
            term *= mean(row) / y;
        }
        y
    };
    let counts = (0..rows).map(count).collect();
    let amounts = (0..rows).map(|row| -mean(row) * (1.0 - unit(row, 0.569_840_3)).ln().min(-1e-9));
    let amounts = amounts.collect();
    (x, counts, amounts)
}

fn fit(x: &[f64], y: &[f64], likelihood: &str) -> GeneralLinear {
    let data = Dataset::new(x.to_vec(), 1, y.to_vec(), None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let likelihood = likelihood.parse().unwrap();
    GeneralLinear::fit(
        Basis::Linear,
        Expansion::numbers(1),
        likelihood,
        &data,
        &seen,
    )
    .unwrap()
}

#[test]
fn members_of_counts_fuse_to_what_one_member_of_all_rows_says() {
    let (x, counts, amounts) = line(600, 1);
    let asked = [-1.5, 0.0, 1.5];
    let query = Inputs::new(&asked, 3, 1).unwrap();
    for (y, likelihood) in [
        (&counts, "poisson"),
        (&amounts, "gamma"),
        (&counts, "negative-binomial"),
    ] {
        let whole = fit(&x, y, likelihood);
        let parts: Vec<GeneralLinear> = (0..4)
            .map(|part| {
                fit(
                    &x[150 * part..150 * (part + 1)],
                    &y[150 * part..150 * (part + 1)],
                    likelihood,
                )
            })
            .collect();
        // Latent functions depart from levels of their own: brought to a common one before they are fused.
        let level = parts.iter().map(GeneralLinear::level).sum::<f64>() / 4.0;
        let apart = parts
            .iter()
            .map(|own| (own.level() - level).abs())
            .fold(0.0, f64::max);
        assert!(apart < 0.3, "{likelihood} {apart}");
        let boxed = parts
            .iter()
            .map(|own| Box::new(own.clone()) as Box<dyn Member>);
        let council = Council::of_one_kind(boxed.collect());
        let said = council.ask(query, false).unwrap();
        let fused = said
            .fuse(&Fusion::bayesian_committee_machine(), None)
            .unwrap();
        let one = whole.marginals(query).unwrap();
        for (row, x) in asked.iter().enumerate() {
            let truth = 0.5 + 0.9 * x;
            let (ours, theirs) = (
                fused.mean[(row, 0)] + level,
                one.mean[(row, 0)] + whole.level(),
            );
            assert!(
                (theirs - truth).abs() < 0.2,
                "{likelihood} {theirs} {truth}"
            );
            assert!((ours - theirs).abs() < 0.12, "{likelihood} {ours} {theirs}");
            assert!(fused.variance[(row, 0)] < 3.0 * one.variance[(row, 0)]);
            let latent = Latent {
                mean: ours,
                variance: fused.variance[(row, 0)],
            };
            let mean = whole.likelihood().mean(latent);
            assert!(
                (mean / truth.exp() - 1.0).abs() < 0.25,
                "{likelihood} {mean}"
            );
        }
    }
}

#[test]
fn the_evidence_chooses_dispersions_and_states_come_back() {
    let (x, _, amounts) = line(300, 2);
    let found = fit(&x, &amounts, "gamma");
    let Likelihood::Gamma(gamma) = found.likelihood() else {
        panic!("another likelihood came back")
    };
    // Exponential amounts have shape 1; 300 of them tell it to about eight per cent.
    assert!((gamma.shape - 1.0).abs() < 0.25, "{}", gamma.shape);
    let again = restore_general(&found.state().unwrap()).unwrap();
    let query = Inputs::new(&[0.3], 1, 1).unwrap();
    assert_eq!(
        again.marginals(query).unwrap(),
        found.marginals(query).unwrap()
    );
    assert_eq!(again.log_evidence(), found.log_evidence());
    // Beside the dispersion that was found the evidence of the same rows is less.
    let data = Dataset::new(x.clone(), 1, amounts, None, None).unwrap();
    let seen = Observations::of(&data, Extras::default()).unwrap();
    let shifted: Vec<_> = seen
        .rows()
        .iter()
        .map(|row| row.with_offset(found.level()))
        .collect();
    let shifted = Observations::grouped(seen.groups(), shifted.into_iter().enumerate()).unwrap();
    let at = |shape: f64| {
        let likelihood = Likelihood::Gamma(Gamma { shape });
        let (basis, expansion) = (Basis::Linear, Expansion::numbers(1));
        let alpha = found.prior_precision();
        let own = GeneralLinear::fit_with(basis, expansion, likelihood, alpha, &data, &shifted);
        own.unwrap().log_evidence().unwrap()
    };
    near(at(gamma.shape), found.log_evidence().unwrap(), 1e-7);
    assert!(at(1.1 * gamma.shape) < at(gamma.shape) && at(0.9 * gamma.shape) < at(gamma.shape));
    let wrong = Observations::of(
        &Dataset::new(vec![0.0, 1.0], 1, vec![1.5, -2.0], None, None).unwrap(),
        Extras::default(),
    )
    .unwrap();
    let data = Dataset::new(vec![0.0, 1.0], 1, vec![1.5, -2.0], None, None).unwrap();
    let poisson: Likelihood = "poisson".parse().unwrap();
    let refused = GeneralLinear::fit(Basis::Linear, Expansion::numbers(1), poisson, &data, &wrong);
    assert!(refused.unwrap_err().to_string().contains("row 1"));
}
