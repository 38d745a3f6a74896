//! Targets that do not depend on the inputs, and inputs that do not matter: no committee may see what is not there.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

fn unit(random: &mut ChaCha12Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// From a uniform number to a target.
type Draw = fn(f64) -> f64;

/// Three inputs and targets that know nothing of them.
fn table(rows: usize, seed: u64, target: Draw) -> Frame {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut column = |map: Draw| -> Column {
        Column::Number((0..rows).map(|_| map(unit(&mut random))).collect())
    };
    let same: Draw = |u| u;
    let [a, b, c] = [same; 3].map(&mut column);
    let y = column(target);
    Frame::from_columns(vec![("a", a), ("b", b), ("c", c), ("y", y)]).unwrap()
}

/// Uniform on [5, 15): mean 10, standard deviation 10 / sqrt(12).
fn uniform(u: f64) -> f64 {
    5.0 + 10.0 * u
}

/// Laplace's distribution around 10 by its quantiles, scale 2: standard deviation 2 sqrt(2), excess kurtosis 3.
fn heavy(u: f64) -> f64 {
    let centred = u - 0.5;
    10.0 - 2.0 * centred.signum() * (1.0 - 2.0 * centred.abs()).max(1e-12).ln()
}

#[test]
fn pure_noise_gives_its_mean_and_its_spread_in_every_mode() {
    let noises: [(&str, Draw, f64); 2] = [
        ("uniform", uniform, 10.0 / 12.0_f64.sqrt()),
        ("heavy", heavy, 8.0_f64.sqrt()),
    ];
    for (name, noise, deviation) in noises {
        let (train, test) = (table(300, 1, noise), table(400, 2, noise));
        for mode in [ModeChoice::Local, ModeChoice::Landmarks, ModeChoice::Joint] {
            let spec = ModelSpec {
                method: MethodChoice::Committee,
                mode,
                kernel: "matern32(ard)".parse().unwrap(),
                ..ModelSpec::new("y")
            };
            let model = Model::fit(&spec, &train, &Unwatched).unwrap();
            let prediction = model.predict(&test).unwrap();
            let rows = prediction.mean.len() as f64;
            let squares = prediction.mean.iter().map(|m| (m - 10.0).powi(2));
            let off = (squares.sum::<f64>() / rows).sqrt() / deviation;
            let spread = prediction.deviation(false).iter().sum::<f64>() / rows;
            let ratio = spread / deviation;
            let scores = model.evaluate(&test).unwrap();
            println!(
                "{name}, {mode}: mean off by {off:.3}, spread {ratio:.3}, coverage {:.3}",
                scores.coverage_95
            );
            // The mean of 300 rows alone has a standard error of 0.06 deviations.
            assert!(off < 0.3, "{name}, {mode}: mean off by {off} deviations");
            assert!((0.88..1.15).contains(&ratio), "{name}, {mode}: {ratio}");
            assert!(
                scores.coverage_95 > 0.92,
                "{name}, {mode}: {}",
                scores.coverage_95
            );
        }
    }
}

#[test]
fn few_rows_of_pure_noise_are_not_explained() {
    // Knowing mean and deviation has 2.45 with these tails; a deviation from 30 rows may be off by a third, from 15 by more.
    for (rows, seeds, most) in [(30, 1..=6, 3.0), (15, 1..=10, 3.5)] {
        let mut held = 0.0;
        for seed in seeds.clone() {
            let (train, test) = (table(rows, seed, heavy), table(300, 100 + seed, heavy));
            let model = Model::fit(&ModelSpec::new("y"), &train, &Unwatched).unwrap();
            let scores = model.evaluate(&test).unwrap();
            println!(
                "{rows} rows, seed {seed}: {} {}",
                scores.coverage_95, scores.nlpd
            );
            assert!(
                scores.nlpd < most,
                "{rows} rows, seed {seed}: {}",
                scores.nlpd
            );
            held += scores.coverage_95;
        }
        // Evidence alone held 79 to 93 % of such rows.
        let mean = held / seeds.count() as f64;
        assert!(mean > 0.9, "{rows} rows: {mean}");
    }
}

#[test]
fn a_free_number_for_each_of_many_levels_does_not_explain_noise() {
    let levels = |seed: u64, rows: usize| {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let level = (0..rows).map(|_| format!("k{}", (40.0 * unit(&mut random)) as u32));
        let level: Vec<Option<std::sync::Arc<str>>> = level.map(|own| Some(own.into())).collect();
        let y: Vec<f64> = (0..rows).map(|_| heavy(unit(&mut random))).collect();
        Frame::from_columns(vec![
            ("k", Column::Text(level)),
            ("x", Column::Number((0..rows).map(|i| i as f64).collect())),
            ("y", Column::Number(y)),
        ])
        .unwrap()
    };
    let model = Model::fit(&ModelSpec::new("y"), &levels(1, 80), &Unwatched).unwrap();
    let scores = model.evaluate(&levels(2, 300)).unwrap();
    // It held about half of them.
    assert!(scores.coverage_95 > 0.9, "{}", scores.coverage_95);
}

#[test]
fn a_map_without_noise_is_still_told_as_such_by_few_rows() {
    let map = |seed: u64, rows: usize| {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut column = || -> Vec<f64> { (0..rows).map(|_| 4.0 * unit(&mut random)).collect() };
        let (a, b) = (column(), column());
        let y = a.iter().zip(&b).map(|(a, b)| (2.0 * a).sin() + b).collect();
        let named = [("a", a), ("b", b), ("y", y)];
        let columns = named.map(|(name, cells)| (name, Column::Number(cells)));
        Frame::from_columns(columns.to_vec()).unwrap()
    };
    let model = Model::fit(&ModelSpec::new("y"), &map(1, 60), &Unwatched).unwrap();
    let scores = model.evaluate(&map(2, 300)).unwrap();
    assert!(scores.rmse < 0.002, "{}", scores.rmse);
}

#[test]
fn the_two_columns_of_fifty_that_matter_are_found() {
    let (rows, columns) = (500, 50);
    let mut random = ChaCha12Rng::seed_from_u64(7);
    let values: Vec<Vec<f64>> = (0..columns)
        .map(|_| (0..rows).map(|_| unit(&mut random) * 2.0 - 1.0).collect())
        .collect();
    let y = (0..rows)
        .map(|i| (3.0 * values[7][i]).sin() + 2.0 * values[31][i].powi(2) + 0.2 * unit(&mut random))
        .collect();
    let mut named: Vec<(String, Column)> = values
        .into_iter()
        .enumerate()
        .map(|(i, cells)| (format!("x{i}"), Column::Number(cells)))
        .collect();
    named.push(("y".into(), Column::Number(y)));
    let table = Frame::from_columns(named).unwrap();
    for mode in [ModeChoice::Local, ModeChoice::Landmarks] {
        let spec = ModelSpec {
            method: MethodChoice::Committee,
            mode,
            kernel: "se(ard)".parse().unwrap(),
            learn: LearnChoice::Auto,
            ..ModelSpec::new("y")
        };
        let model = Model::fit(&spec, &table, &Unwatched).unwrap();
        let mut inputs = model.inspect().unwrap().inputs;
        inputs.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
        let mut first: Vec<&str> = inputs[..2]
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        first.sort_unstable();
        assert_eq!(first, ["x31", "x7"], "{mode}");
        let (second, third) = (inputs[1].relevance, inputs[2].relevance);
        assert!(second > 4.0 * third, "{mode}: {second} and {third}");
        let scores = model.leave_one_out().number().unwrap();
        assert!(scores.smse < Some(0.05), "{mode}: {:?}", scores.smse);
    }
}
