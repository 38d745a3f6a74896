//! Answers that are as wide as rows left out ask for: by the inputs and the answer, in every mode of a committee.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, SpreadChoice, file};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::common::{data_file, read, skipped};

/// Deviation of the noise at an input.
fn deviation(a: f64) -> f64 {
    0.1 * (1.2 * a).exp()
}

/// A wave whose noise grows with the first input, thirty times from one end to the other.
fn table(rows: usize, seed: u64) -> Frame {
    wave(rows, seed, 1.0)
}

/// The same with this share of its noise.
fn wave(rows: usize, seed: u64, noise: f64) -> Frame {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut unit = || ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let [mut a, mut b, mut y] = [(); 3].map(|()| Vec::with_capacity(rows));
    for _ in 0..rows {
        let (left, right) = (3.0 * unit() - 1.5, 3.0 * unit() - 1.5);
        let normal = Normal::standard().inverse_cdf(unit());
        y.push((2.0 * left).sin() + right + noise * deviation(left) * normal);
        a.push(left);
        b.push(right);
    }
    let columns = [("a", a), ("b", b), ("y", y)];
    Frame::from_columns(
        columns
            .into_iter()
            .map(|(name, values)| (name, Column::Number(values)))
            .collect(),
    )
    .unwrap()
}

fn fitted(mode: ModeChoice, spread: SpreadChoice) -> Model {
    learned(&table(5000, 1), mode, spread)
}

fn learned(rows: &Frame, mode: ModeChoice, spread: SpreadChoice) -> Model {
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        mode,
        spread,
        kernel: "se(ard)".parse().unwrap(),
        landmarks: (mode == ModeChoice::Landmarks).then_some(100),
        ..ModelSpec::new("y")
    };
    Model::fit(&spec, rows, &Unwatched).unwrap()
}

#[test]
fn intervals_follow_the_noise_of_the_rows() {
    let test = table(2000, 2);
    let Some(Column::Number(inputs)) = test.column("a") else {
        panic!("the table has no inputs");
    };
    for mode in [ModeChoice::Local, ModeChoice::Landmarks] {
        let model = fitted(mode, SpreadChoice::Auto);
        let coverage = model.evaluate(&test).unwrap().coverage_95;
        assert!((0.935..0.965).contains(&coverage), "{mode}: {coverage}");
        let told = model.predict(&test).unwrap().deviation(false);
        let ratios = told.iter().zip(inputs);
        let mut ratios: Vec<f64> = ratios.map(|(own, a)| own / deviation(*a)).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let (low, high) = (ratios[100], ratios[1899]);
        assert!(
            low > 0.75 && high < 1.35,
            "{mode}: {low} to {high} times the truth"
        );
    }
}

/// Without noise the error of an answer hangs on how many rows it comes from: a row left out must not know more of them
/// than a question does, or intervals are too narrow.
#[test]
fn intervals_hold_where_there_is_no_noise() {
    let model = learned(&wave(5000, 1, 0.0), ModeChoice::Local, SpreadChoice::Auto);
    let score = model.evaluate(&wave(2000, 2, 0.0)).unwrap();
    assert!(score.rmse < 1e-3, "{}", score.rmse);
    assert!(score.coverage_95 > 0.94, "{}", score.coverage_95);
}

#[test]
fn one_noise_can_be_had_and_is_worse() {
    let test = table(2000, 2);
    let [plain, wide] = [SpreadChoice::Constant, SpreadChoice::Auto]
        .map(|choice| fitted(ModeChoice::Landmarks, choice));
    assert!(plain.inspect().unwrap().spread.is_none());
    let [before, after] = [&plain, &wide].map(|model| model.evaluate(&test).unwrap());
    // The mean log deviation is 0.5 below the log of its root mean square: so much is to be gained, all told.
    let gain = before.nlpd - after.nlpd;
    assert!(gain > 0.4, "{gain}");
    let [old, new] = [&plain, &wide].map(|model| model.predict(&test).unwrap().mean);
    assert_eq!(old, new, "means stay");
}

#[test]
fn a_spread_lives_in_the_file_and_in_covariances_and_draws() {
    let model = fitted(ModeChoice::Landmarks, SpreadChoice::Auto);
    assert!(model.inspect().unwrap().spread.is_some());
    let few = table(3, 3);
    let told = model.predict(&few).unwrap();
    let again = file::from_bytes(&file::to_bytes(&model).unwrap(), "here").unwrap();
    assert_eq!(again.predict(&few).unwrap(), told);

    let joint = model.predict_joint(&few).unwrap();
    for latent in [true, false] {
        let covariance = joint.covariance(latent);
        for (row, variance) in told.variance(latent).iter().enumerate() {
            let own = covariance[row * 4];
            assert!((own / variance - 1.0).abs() < 1e-9, "{own} {variance}");
        }
    }
    let draws = model.sample(&few, 4000, 1, true).unwrap();
    for (row, variance) in told.variance(false).iter().enumerate() {
        let squares = draws
            .iter()
            .map(|draw| (draw[row] - told.mean[row]).powi(2));
        let drawn = squares.sum::<f64>() / 4000.0;
        // A variance of 4,000 draws has a standard error of 2.2 %.
        assert!((drawn / variance - 1.0).abs() < 0.08, "{drawn} {variance}");
    }
}

#[test]
fn given_hyperparameters_keep_one_noise() {
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        kernel: "se(ard)".parse().unwrap(),
        learn: LearnChoice::None,
        ..ModelSpec::new("y")
    };
    let model = Model::fit(&spec, &table(1000, 1), &Unwatched).unwrap();
    assert!(model.inspect().unwrap().spread.is_none());
}

#[test]
fn few_rows_that_were_foretold_too_surely_have_wider_answers() {
    // A fifth of the mixtures of concrete, whose strengths repeat with other values and grow with the age in jumps.
    let Some(path) = data_file("concrete.csv.gz") else {
        return skipped("concrete.csv.gz");
    };
    let all = read(&path);
    let rows = |is_wanted: &dyn Fn(usize) -> bool| -> Frame {
        let own: Vec<usize> = (0..all.rows()).filter(|row| is_wanted(*row)).collect();
        all.select_rows(&own)
    };
    let (train, test) = (rows(&|row| row % 5 == 2), rows(&|row| row % 5 != 2));
    let fitted = |spread: SpreadChoice| {
        let spec = ModelSpec {
            spread,
            restarts: Some(0),
            ..ModelSpec::new("y")
        };
        Model::fit(&spec, &train, &Unwatched).unwrap()
    };
    let (wide, plain) = (fitted(SpreadChoice::Auto), fitted(SpreadChoice::Constant));
    let said = wide.inspect().unwrap().outcome;
    assert!(said.contains("quarters of the rows ask for"), "{said}");
    let [wide, plain] = [wide, plain].map(|model| model.evaluate(&test).unwrap());
    println!(
        "{} {} {}",
        wide.nlpd_standardised, plain.nlpd_standardised, wide.coverage_95
    );
    assert_eq!(wide.rmse, plain.rmse, "means stay");
    assert!(wide.nlpd_standardised < 0.8, "{}", wide.nlpd_standardised);
    assert!(
        plain.nlpd_standardised > 10.0,
        "{}",
        plain.nlpd_standardised
    );
    assert!(
        (0.9..0.98).contains(&wide.coverage_95),
        "{}",
        wide.coverage_95
    );
}
