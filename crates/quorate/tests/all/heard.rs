//! Mixtures that hear long tables through landmarks: what they must agree with.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use crate::common::{bound, frame};
use quorate::gp::data::Inputs;
use quorate::gp::kernel::tiles;
use quorate::gp::linalg::Matrix;
use quorate::gp::watch::Unwatched;
use quorate::landmarks::Landmarks;
use quorate::mixture::{
    Belief, MixtureRows, Prior, Responses, Settings, Smoothed, Voice, climb, climb_through,
};
use quorate::{MethodChoice, Model, ModelSpec};

/// A wave that is rough and quiet on the left, smooth and loud on the right: places, then targets.
fn wave(rows: usize) -> (Vec<f64>, Vec<f64>) {
    let x = (0..rows).map(|row| 6.0 * ((0.754_877_666 * row as f64) % 1.0) - 3.0);
    let x: Vec<f64> = x.collect();
    let noise = |row: usize| ((0.569_840_291 * row as f64) % 1.0 - 0.5) * 2.0;
    let y = x.iter().enumerate().map(|(row, x)| {
        if *x < 0.0 {
            (4.0 * x).sin() + 0.05 * noise(row)
        } else {
            0.5 * x + 0.4 * noise(row)
        }
    });
    let y = y.collect();
    (x, y)
}

fn prior(experts: usize) -> Prior {
    let lengths = (0..experts).map(|place| 0.3 * 3_f64.powi(place as i32));
    Prior {
        experts: lengths
            .map(|length| bound(&format!("matern32(length_scale={length})")))
            .collect(),
        gate: bound("constant + 4 * matern32(length_scale=1)"),
        noise: bound("constant + 0.5 * matern32(length_scale=1)"),
        level: -1.5,
    }
}

fn far(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let pairs = ours.iter().zip(theirs);
    pairs
        .map(|(ours, theirs)| (ours - theirs).abs())
        .fold(0.0, f64::max)
}

fn voices_differ(ours: &[Voice], theirs: &[Voice]) -> f64 {
    let each = ours.iter().zip(theirs).map(|(ours, theirs)| {
        let all = [
            far(&ours.share, &theirs.share),
            far(&ours.mean, &theirs.mean),
            far(&ours.variance, &theirs.variance),
            far(&ours.spread, &theirs.spread),
            far(&ours.spread_variance, &theirs.spread_variance),
        ];
        all.into_iter().fold(0.0, f64::max)
    });
    each.fold(0.0, f64::max)
}

#[test]
fn with_every_row_a_landmark_it_is_the_mixture_of_all_pairs() {
    let (x, y) = wave(60);
    let rows = Arc::new(MixtureRows::new(x.clone(), 1, y, None).unwrap());
    let questions = [-2.7, -0.9, 0.05, 1.3, 5.0];
    let query = Inputs::new(&questions, 5, 1).unwrap();
    for experts in [1, 3] {
        for responses in [Responses::LeftOut, Responses::Seen] {
            let way = Settings {
                responses,
                rounds: 15,
                gain: 0.0,
                ..Settings::default()
            };
            let prior = prior(experts);
            let (pairs, their) = climb(&prior, &rows, way, &Unwatched).unwrap();
            let (through, our) = climb_through(&prior, &rows, &x, way, &Unwatched).unwrap();
            assert_eq!(our.kept, their.kept);
            assert!(far(&our.objective, &their.objective) < 1e-6);
            assert!(far(&our.left_out, &their.left_out) < 1e-6);
            let [ours, theirs] = [&through, &pairs].map(|own| own.voices(query).unwrap());
            let differ = voices_differ(&ours, &theirs);
            assert!(differ < 1e-7, "{experts} {responses:?}: {differ}");
            assert!(voices_differ(&through.left_out(), &pairs.left_out()) < 1e-7);
            let sampled = [&through, &pairs].map(|own| own.sample(query, 2, 1, true).unwrap());
            assert_eq!(sampled[0].len(), 2);
            assert!(through.summaries().is_some() && pairs.summaries().is_none());
        }
    }
}

#[test]
fn few_landmarks_are_the_process_that_they_say() {
    // The dense covariance `V'V + diag(k - |V|^2)`, with its own factor over all rows, is the slow and obvious reference.
    let (x, y) = wave(50);
    let weights = (0..50).map(|row| f64::from(row % 4)).collect();
    let rows = Arc::new(MixtureRows::new(x.clone(), 1, y, Some(weights)).unwrap());
    let landmarks = [-2.6, -1.4, -0.2, 0.9, 2.2];
    let prior = prior(2);
    let way = Settings {
        rounds: 8,
        ..Settings::default()
    };
    let (mixture, _) = climb_through(&prior, &rows, &landmarks, way, &Unwatched).unwrap();
    let own = &mixture.experts()[0];
    let kernel = &prior.experts[0];
    let places = Inputs::new(&landmarks, 5, 1).unwrap();
    let inputs = rows.inputs().unwrap();
    let whitened = Landmarks::new(kernel.clone(), places)
        .unwrap()
        .whitened(inputs);
    let full = tiles::block(kernel, inputs, inputs);
    let dense = Matrix::from_fn(50, 50, |i, j| {
        let through: f64 = (0..5).map(|l| whitened[(l, i)] * whitened[(l, j)]).sum();
        if i == j { full[(i, i)] } else { through }
    });
    let reference = Smoothed::new(&dense, own.sites().clone()).unwrap();
    assert!(far(&own.mean, &reference.mean) < 1e-9);
    assert!(far(&own.variance, &reference.variance) < 1e-9);
    assert!(far(&own.weights, &reference.weights) < 1e-6);
    assert!((own.divergence() - reference.divergence()).abs() < 1e-8);
    for row in 0..50 {
        let (ours, theirs) = (own.left_out(row), reference.left_out(row));
        assert!((ours.0 - theirs.0).abs() < 1e-8 && (ours.1 - theirs.1).abs() < 1e-8);
    }
}

#[test]
fn rounds_through_few_landmarks_never_lose() {
    let (x, y) = wave(80);
    let rows = Arc::new(MixtureRows::new(x, 1, y, None).unwrap());
    let landmarks: Vec<f64> = (0..9).map(|place| -2.8 + 0.7 * f64::from(place)).collect();
    for experts in [1, 2, 4] {
        for belief in [Belief::Distribution, Belief::Mode] {
            let way = Settings {
                responses: Responses::Seen,
                belief,
                rounds: 20,
                gain: 1e-9,
                keeps_start: true,
                ..Settings::default()
            };
            let prior = prior(experts);
            let (_, record) = climb_through(&prior, &rows, &landmarks, way, &Unwatched).unwrap();
            assert!(record.objective.len() > 5);
            for pair in record.objective.windows(2) {
                assert!(
                    pair[1] >= pair[0] - 1e-9 * pair[0].abs(),
                    "{experts} {belief:?}: {:?}",
                    record.objective
                );
            }
        }
    }
}

fn spec(experts: usize, landmarks: usize) -> ModelSpec {
    ModelSpec {
        kernel: "matern32".parse().unwrap(),
        method: MethodChoice::Mixture,
        experts: Some(experts),
        landmarks: Some(landmarks),
        restarts: Some(0),
        ..ModelSpec::new("y")
    }
}

#[test]
fn it_lives_in_a_file_of_sums_and_damage_is_seen() {
    let (x, y) = wave(150);
    let table = frame(vec![("x", x), ("y", y)]);
    let spec = spec(2, 20);
    let pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    };
    let fit = || Model::fit(&spec, &table, &Unwatched).unwrap();
    let (one, two) = (pool(1).install(fit), pool(2).install(fit));
    let bytes = quorate::file::to_bytes(&one).unwrap();
    assert_eq!(bytes, quorate::file::to_bytes(&two).unwrap());
    let read = quorate::file::from_bytes(&bytes, "memory").unwrap();
    let questions = frame(vec![("x", vec![-2.0, 0.3, 2.0])]);
    let told = one.predict(&questions).unwrap();
    assert_eq!(told, read.predict(&questions).unwrap());
    assert_eq!(
        one.sample(&questions, 3, 1, true).unwrap(),
        read.sample(&questions, 3, 1, true).unwrap()
    );
    let seen = read.inspect().unwrap();
    assert_eq!(seen.rows, 150);
    assert!(seen.outcome.contains("all 150 rows through 20 landmarks"));
    let place = bytes.len() - 100;
    let mut damaged = bytes.clone();
    damaged[place] ^= 1;
    let message = quorate::file::from_bytes(&damaged, "memory").unwrap_err();
    assert!(message.to_string().contains("damaged"), "{message}");
    assert!(quorate::file::from_bytes(&bytes[..place], "memory").is_err());
}

#[test]
fn few_landmarks_lose_little_and_answer_like_all_rows() {
    let (x, y) = wave(400);
    let (train, test) = (
        frame(vec![("x", x[..300].to_vec()), ("y", y[..300].to_vec())]),
        frame(vec![("x", x[300..].to_vec()), ("y", y[300..].to_vec())]),
    );
    let score = |spec: &ModelSpec| {
        let model = Model::fit(spec, &train, &Unwatched).unwrap();
        model.evaluate(&test).unwrap().nlpd
    };
    let whole = ModelSpec {
        landmarks: None,
        ..spec(3, 100)
    };
    let (all, few) = (score(&whole), score(&spec(3, 100)));
    println!("NLPD of all pairs {all:.3}, through 100 landmarks {few:.3}");
    assert!(few < all + 0.05, "{few} {all}");
}
