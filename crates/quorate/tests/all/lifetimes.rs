//! Lifetimes, some of them cut off, from a table to survival.
#![allow(clippy::unwrap_used)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{LikelihoodChoice, Model, ModelSpec, TaskChoice};

use crate::common::quantities::{forecast, numbers, place, spec, table, truth};

#[test]
fn lifetimes_that_were_cut_off_are_not_taken_for_short_ones() {
    let mut spec = spec(LikelihoodChoice::Auto);
    spec.exposure = None;
    spec.event = Some("event".into());
    spec.ignore = vec!["exposure".into()];
    spec.inputs = None;
    let train = table("exponential", 0..300, 4.0);
    let model = Model::fit(&spec, &train, &Unwatched).unwrap();
    assert!(
        model
            .notes()
            .iter()
            .any(|note| note.contains("was taken for lifetimes"))
    );
    let shown = model.inspect().unwrap().quantity.unwrap();
    assert_eq!(shown.through.likelihood.name(), "weibull");
    assert!((shown.dispersions[0].value - 1.0).abs() < 0.25);
    let test = table("exponential", 300..600, 4.0);
    let found = forecast(&model, &test);
    let x = numbers(&test, "x");
    let gap: f64 = (0..300)
        .map(|row| {
            let truly = (-2.0 / truth(x[row]).exp()).exp();
            (found.survival(2.0)[row] - truly).abs() / 300.0
        })
        .take(40)
        .sum::<f64>()
        * 300.0
        / 40.0;
    assert!(gap < 0.1, "{gap}");
    let median = found.quantile(0.5, false);
    let survival: Vec<f64> = (0..3).map(|row| found.survival(median[row])[row]).collect();
    assert!(survival.iter().all(|s| (s - 0.5).abs() < 1e-6));
    let scores = model.score(&test).unwrap();
    let scores = scores.quantity().unwrap();
    assert!(
        scores.observed < scores.n && scores.concordance.unwrap() > 0.6,
        "{scores:?}"
    );
    assert!(scores.brier_at.len() == 3 && scores.brier_at.iter().all(|at| at.brier < 0.25));
    // The other sense of the flag says the same.
    let flipped: Vec<f64> = numbers(&train, "event").iter().map(|e| 1.0 - e).collect();
    let columns = vec![
        ("x", Column::Number(numbers(&train, "x").to_vec())),
        ("y", Column::Number(numbers(&train, "y").to_vec())),
        ("cut", Column::Number(flipped)),
    ];
    let other = ModelSpec {
        event: None,
        censored: Some("cut".into()),
        ignore: Vec::new(),
        ..spec
    };
    let again = Model::fit(&other, &Frame::from_columns(columns).unwrap(), &Unwatched).unwrap();
    assert_eq!(again.log_evidence(), model.log_evidence());
}

#[test]
fn lifetimes_without_noise_have_a_shape_that_stays_bounded() {
    let x: Vec<f64> = (0..60).map(|i| place(i, 0.754_877_666) * 4.0).collect();
    // Two values, by the side of 2: every row would gain from a shape that is larger still.
    let two = |x: &f64| if *x < 2.0 { 1.0 } else { 3.0 };
    let smooth = |x: &f64| truth(*x).exp();
    for target in [
        x.iter().map(two).collect::<Vec<f64>>(),
        x.iter().map(smooth).collect(),
    ] {
        let columns = vec![
            ("x", Column::Number(x.clone())),
            ("y", Column::Number(target.clone())),
        ];
        let train = Frame::from_columns(columns).unwrap();
        let spec = ModelSpec {
            task: TaskChoice::Lifetime,
            exposure: None,
            ..spec(LikelihoodChoice::Weibull)
        };
        let model = Model::fit(&spec, &train, &Unwatched).unwrap();
        let shape = &model.inspect().unwrap().quantity.unwrap().dispersions[0];
        assert!((5.0..60.0).contains(&shape.value), "{shape:?}");
        let median = forecast(&model, &train).quantile(0.5, false);
        let near = |(told, seen): (&f64, &f64)| (told / seen).ln().abs() < 0.3;
        let right = median
            .iter()
            .zip(&target)
            .filter(|pair| near(*pair))
            .count();
        assert!(right >= 54, "{right} of 60");
    }
}

/// Lifetimes with whole weights from 0 to 3, half of them censored; or the same rows as so many copies.
fn weighted_lifetimes(as_copies: bool) -> Frame {
    let mut columns = vec![Vec::new(); 5];
    for i in 0..50 {
        let j = i + 400;
        let x = 4.0 * place(j, 0.754_877_666) - 2.0;
        let z = 2.0 * place(j, 0.569_840_291) - 1.0;
        let level = 0.02 + 0.96 * place(j * j + 7, 0.618_034);
        let t = ((2.0 * x).sin() + 0.3 * z).exp() * (-(1.0 - level).ln()).sqrt();
        let weight = (i * 7) % 4;
        let (copies, weight) = match as_copies {
            true => (weight, 1.0),
            false => (1, weight as f64),
        };
        for _ in 0..copies {
            for (column, value) in columns.iter_mut().zip([x, z, t, (i % 2) as f64, weight]) {
                column.push(value);
            }
        }
    }
    let names = ["x", "z", "t", "event", "weight"];
    let cells = names
        .into_iter()
        .zip(columns.into_iter().map(Column::Number));
    Frame::from_columns(cells.collect()).unwrap()
}

#[test]
fn lifetimes_with_weights_are_fitted_as_their_copies_are() {
    for (seed, restarts) in [(0, None), (4, None), (0, Some(0))] {
        let fit = |as_copies: bool| {
            let spec = ModelSpec {
                event: Some("event".into()),
                weight: Some("weight".into()),
                kernel: "matern32(ard)".parse().unwrap(),
                restarts,
                seed,
                ..ModelSpec::new("t")
            };
            Model::fit(&spec, &weighted_lifetimes(as_copies), &Unwatched)
                .unwrap_or_else(|error| panic!("seed {seed}, copies {as_copies}: {error}"))
        };
        let (weighted, copied) = (fit(false), fit(true));
        let [ours, theirs] = [&weighted, &copied].map(|model| model.log_evidence().unwrap());
        // Both climbs end where a step gains less than a billionth, after sums in another order.
        assert!(
            (ours - theirs).abs() < 1e-3 * (1.0 + ours.abs()),
            "seed {seed}: {ours} against {theirs}"
        );
        assert!(ours > -1e3, "{ours}");
    }
}
