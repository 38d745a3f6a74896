//! Mixtures of Gaussian processes: what they must agree with, and what they are for.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::{bound, frame, read, workspace};
use quorate::gp::data::{Dataset, Frame, Inputs, random_rows};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::JitterPolicy;
use quorate::gp::posterior::{ExactPosterior, Predict};
use quorate::gp::watch::Unwatched;
use quorate::mixture::{
    Belief, Judge, MixtureOfProcesses, MixtureRows, Prior, Responses, Settings, Sites, Voice, climb,
};
use quorate::{LikelihoodChoice, MethodChoice, Model, ModelSpec, Scores};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

fn normal(random: &mut ChaCha12Rng) -> f64 {
    (0..12)
        .map(|_| random.next_u32() as f64 / f64::from(u32::MAX))
        .sum::<f64>()
        - 6.0
}

/// A wave that is quiet on the left and loud on the right.
fn loud_wave(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..rows).map(|_| 1.5 * normal(&mut random)).collect();
    let y = x
        .iter()
        .map(|x| x.sin() + (0.05 + 0.3 * f64::from(u8::from(*x > 0.0))) * normal(&mut random));
    let y = y.collect();
    (x, y)
}

fn settings(responses: Responses, belief: Belief) -> Settings {
    Settings {
        responses,
        belief,
        rounds: 40,
        gain: 1e-9,
        keeps_start: true,
        ..Settings::default()
    }
}

#[test]
fn one_expert_with_constant_noise_is_regression() {
    let (x, y) = loud_wave(40, 1);
    let rows = MixtureRows::new(x.clone(), 1, y.clone(), None).unwrap();
    let kernel = bound("0.8 * se(length_scale=1.1)");
    let prior = Prior {
        experts: vec![kernel.clone()],
        gate: bound("constant"),
        noise: bound("1e6 * constant"),
        level: -0.5,
    };
    let way = Settings {
        rounds: 400,
        gain: 1e-13,
        ..settings(Responses::Seen, Belief::Distribution)
    };
    let (mixture, record) = climb(&prior, &rows, way, &Unwatched).unwrap();
    let spread = mixture.noises()[0].mean[0];
    let noise = GaussianNoise {
        variance: (2.0 * (prior.level + spread)).exp(),
    };
    let data = Dataset::new(x, 1, y, None, None).unwrap();
    let condition = |noise| {
        let (kernel, data) = (kernel.clone(), data.clone());
        ExactPosterior::condition(kernel, noise, data, JitterPolicy::default()).unwrap()
    };
    let exact = condition(noise);
    let questions = [-3.0, -0.4, 0.0, 0.9, 2.2, 7.0];
    let query = Inputs::new(&questions, 6, 1).unwrap();
    let (ours, theirs) = (
        mixture.marginals(query).unwrap(),
        exact.marginals(query).unwrap(),
    );
    for row in 0..6 {
        assert!((ours.mean[(row, 0)] - theirs.mean[(row, 0)]).abs() < 1e-6);
        assert!((ours.variance[(row, 0)] - theirs.variance[(row, 0)]).abs() < 1e-6);
    }
    // The bound is the evidence, and the noise where its rounds end is the one with the most evidence.
    let last = *record.objective.last().unwrap();
    assert!((last - exact.log_evidence()).abs() < 1e-4, "{last}");
    for factor in [0.9, 1.1] {
        let other = GaussianNoise {
            variance: factor * noise.variance,
        };
        assert!(condition(other).log_evidence() < exact.log_evidence());
    }
}

#[test]
fn left_out_answers_are_those_of_refits() {
    let (x, y) = loud_wave(25, 2);
    let rows = MixtureRows::new(x, 1, y, None).unwrap();
    let prior = Prior {
        experts: vec![bound("se(length_scale=0.2)"), bound("se(length_scale=2)")],
        gate: bound("constant + 3 * se"),
        noise: bound("constant + 0.5 * se"),
        level: -1.5,
    };
    let (mixture, _) = climb(&prior, &rows, Settings::default(), &Unwatched).unwrap();
    let sites = mixture.sites();
    assert_eq!(sites.len(), 6);
    let told = mixture.left_out();
    for row in [0, 7, 24] {
        let silent = |own: &Sites| {
            let mut own = own.clone();
            (own.precision[row], own.shift[row]) = (0.0, 0.0);
            own
        };
        let without: Vec<Sites> = sites.iter().map(silent).collect();
        let again = MixtureOfProcesses::condition(prior.clone(), rows.clone(), without).unwrap();
        let place = [rows.inputs().unwrap().row(row)[0]];
        let query = Inputs::new(&place, 1, 1).unwrap();
        for (seen, refitted) in told.iter().zip(again.voices(query).unwrap()) {
            assert!((seen.mean[row] - refitted.mean[0]).abs() < 1e-8);
            assert!((seen.variance[row] - refitted.variance[0]).abs() < 1e-8);
            assert!((seen.share[row] - refitted.share[0]).abs() < 1e-8);
            assert!((seen.spread[row] - refitted.spread[0]).abs() < 1e-8);
            assert!((seen.spread_variance[row] - refitted.spread_variance[0]).abs() < 1e-8);
        }
    }
}

#[test]
fn what_is_kept_is_the_round_that_was_judged() {
    let (x, y) = loud_wave(50, 5);
    let rows = MixtureRows::new(x, 1, y, None).unwrap();
    let prior = Prior {
        experts: vec![bound("se(length_scale=0.2)"), bound("se(length_scale=1.5)")],
        gate: bound("constant + 6 * se"),
        noise: bound("constant + 0.5 * se"),
        level: -1.5,
    };
    // Few rounds, so that gates and noises are still on their way: one more step of theirs would be told.
    for rounds in [2, 3, 5] {
        for judge in [Judge::Density, Judge::Last] {
            let way = Settings {
                rounds,
                judge,
                ..Settings::default()
            };
            let (mixture, record) = climb(&prior, &rows, way, &Unwatched).unwrap();
            if judge == Judge::Last {
                assert_eq!(record.kept, rounds - 1);
            }
            let voices = mixture.left_out();
            // As rounds are judged: each noise at its mode.
            let each = rows.targets().iter().enumerate().map(|(row, y)| {
                let parts = voices.iter().map(|voice| {
                    let variance = voice.variance[row] + (2.0 * voice.spread[row]).exp();
                    let square = (y - voice.mean[row]).powi(2) / variance;
                    voice.share[row] * (-0.5 * square).exp()
                        / (2.0 * std::f64::consts::PI * variance).sqrt()
                });
                parts.sum::<f64>().ln()
            });
            let told: f64 = each.sum();
            let judged = record.left_out[record.kept];
            assert!(
                (told - judged).abs() < 1e-9 * judged.abs().max(1.0),
                "{rounds} {judge:?}: {told} {judged}"
            );
        }
    }
}

#[test]
fn rows_left_out_of_a_round_are_told_too_well() {
    // Targets that do not depend on the inputs: nobody can tell new ones, and rows left out only seem told.
    let (mut known, mut fresh) = (0.0, 0.0);
    for seed in 0..4 {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut draw =
            |count: usize| -> Vec<f64> { (0..count).map(|_| normal(&mut random)).collect() };
        let (x, y, asked, truth) = (draw(80), draw(80), draw(80), draw(80));
        let rows = MixtureRows::new(x, 1, y, None).unwrap();
        let lengths = [0.03, 0.1, 0.3, 1.0];
        let prior = Prior {
            experts: lengths
                .map(|length| bound(&format!("se(length_scale={length})")))
                .to_vec(),
            gate: bound("constant + 4 * se"),
            noise: bound("0.01 * constant"),
            level: 0.5 * 0.05_f64.ln(),
        };
        let way = Settings {
            rounds: 3,
            judge: Judge::Last,
            ..Settings::default()
        };
        let (mixture, _) = climb(&prior, &rows, way, &Unwatched).unwrap();
        let error = |voices: &[Voice], targets: &[f64]| -> f64 {
            let each = targets.iter().enumerate().map(|(row, y)| {
                let parts = voices
                    .iter()
                    .map(|voice| voice.share[row] * voice.mean[row]);
                (parts.sum::<f64>() - y).powi(2)
            });
            each.sum()
        };
        known += error(&mixture.left_out(), rows.targets());
        let query = Inputs::new(&asked, 80, 1).unwrap();
        fresh += error(&mixture.voices(query).unwrap(), &truth);
    }
    assert!(known < 0.9 * fresh, "{known} {fresh}");
}

#[test]
fn rounds_with_seen_responses_never_lose() {
    let (x, y) = loud_wave(60, 3);
    let weights = (0..60).map(|row| f64::from(row % 3)).collect();
    let rows = MixtureRows::new(x, 1, y, Some(weights)).unwrap();
    for experts in [1, 2, 4] {
        let lengths = (0..experts).map(|place| 0.15 * 4_f64.powi(place));
        let prior = Prior {
            experts: lengths
                .map(|length| bound(&format!("se(length_scale={length})")))
                .collect(),
            gate: bound("constant + 4 * se(length_scale=0.7)"),
            noise: bound("constant + 0.5 * se(length_scale=0.7)"),
            level: -1.0,
        };
        for belief in [Belief::Distribution, Belief::Mode] {
            // Modes follow their rows until no noise is left (the overtraining of section 4.1); far from rounding it is
            // a climb all the way.
            let way = Settings {
                rounds: if belief == Belief::Mode { 20 } else { 40 },
                ..settings(Responses::Seen, belief)
            };
            let (_, record) = climb(&prior, &rows, way, &Unwatched).unwrap();
            assert!(record.objective.len() > 5);
            for pair in record.objective.windows(2) {
                assert!(
                    pair[1] >= pair[0] - 1e-9 * pair[0].abs(),
                    "{experts} {belief:?}: {:?}",
                    record.objective
                );
            }
        }
        // The caveat of section 4.1: with responses left out the objective may fall; what is kept has the best density.
        let way = settings(Responses::LeftOut, Belief::Distribution);
        let (_, record) = climb(&prior, &rows, way, &Unwatched).unwrap();
        let best = record.left_out.iter().copied().fold(f64::MIN, f64::max);
        assert_eq!(record.left_out[record.kept], best);
    }
}

#[test]
fn an_expert_without_rows_stays_at_its_prior_and_equals_stay_equal() {
    let (x, y) = loud_wave(30, 4);
    let rows = MixtureRows::new(x, 1, y, None).unwrap();
    let prior = |other: &str| Prior {
        experts: vec![bound("se(length_scale=1)"), bound(other)],
        gate: bound("constant + 4 * se"),
        noise: bound("constant"),
        level: -1.5,
    };
    // The second expert can say nothing but zero, in the last place that matters.
    let told = |prior: &Prior| {
        let (mixture, _) = climb(prior, &rows, Settings::default(), &Unwatched).unwrap();
        let query = Inputs::new(&[-1.0, 1.0, 40.0], 3, 1).unwrap();
        (mixture.responsibilities(), mixture.voices(query).unwrap())
    };
    let (shares, voices) = told(&prior("1e-12 * se"));
    let share: f64 = shares[1].iter().sum::<f64>() / 30.0;
    assert!(share < 0.2, "{share}");
    assert!(voices[1].mean.iter().all(|mean| mean.abs() < 1e-6));
    let (shares, voices) = told(&prior("se(length_scale=1)"));
    let equal = |share: &f64| (share - 0.5).abs() < 1e-9;
    assert!(shares.iter().flatten().all(equal));
    assert_eq!(voices[0].mean, voices[1].mean);
}

/// Scores of three kinds of models on test rows: one process, one with noise of its own, a mixture.
fn compared(train: &Frame, test: &Frame, experts: usize) -> [Scores; 3] {
    let plain = ModelSpec {
        kernel: "matern32".parse().unwrap(),
        restarts: Some(1),
        ..ModelSpec::new("y")
    };
    let noisy = ModelSpec {
        likelihood: LikelihoodChoice::Heteroscedastic,
        ..plain.clone()
    };
    let mixed = ModelSpec {
        method: MethodChoice::Mixture,
        experts: Some(experts),
        ..plain.clone()
    };
    [plain, noisy, mixed].map(|spec| {
        let spec = ModelSpec {
            task: quorate::TaskChoice::Regression,
            ..spec
        };
        let model = Model::fit(&spec, train, &Unwatched).unwrap();
        model.evaluate(test).unwrap()
    })
}

#[test]
fn noise_that_depends_on_the_input_is_found_on_mcycle() {
    let table = read(&workspace().join("golden/data/mcycle.csv.gz"));
    let (mut sums, mut covered) = ([0.0; 3], [0.0; 3]);
    const SPLITS: u64 = 4;
    for seed in 0..SPLITS {
        let held = random_rows(table.rows(), table.rows() / 4, seed);
        let kept: Vec<usize> = (0..table.rows())
            .filter(|row| !held.contains(row))
            .collect();
        let scores = compared(&table.select_rows(&kept), &table.select_rows(&held), 3);
        for (place, own) in scores.iter().enumerate() {
            sums[place] += own.nlpd / SPLITS as f64;
            covered[place] += own.coverage_95 / SPLITS as f64;
        }
    }
    println!("mcycle: NLPD {sums:?}, coverage {covered:?}");
    assert!(
        sums[1] < sums[0] - 0.15 && sums[2] < sums[0] - 0.15,
        "{sums:?}"
    );
    assert!(
        covered[1..]
            .iter()
            .all(|share| (0.9..=0.99).contains(share))
    );
}

#[test]
fn a_step_is_better_told_by_a_mixture() {
    let step = |rows: usize, seed: u64| {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let x: Vec<f64> = (0..rows).map(|_| normal(&mut random)).collect();
        let side = |x: &f64| if *x < 0.0 { -1.0 } else { 1.0 };
        let y = x
            .iter()
            .map(|x| side(x) + 0.1 * normal(&mut random))
            .collect();
        frame(vec![("x", x), ("y", y)])
    };
    let scores = compared(&step(100, 5), &step(1000, 6), 3);
    let told = scores.map(|own| (own.nlpd, own.coverage_95));
    println!("step: {told:?}");
    assert!(told[2].0 < told[0].0 - 0.15, "{told:?}");
    assert!((0.93..=0.97).contains(&told[2].1), "{told:?}");
}

#[test]
fn a_mixture_lives_in_a_file_and_draws_what_it_predicts() {
    let (x, y) = loud_wave(50, 7);
    let table = frame(vec![("x", x), ("y", y)]);
    let spec = ModelSpec {
        kernel: "se".parse().unwrap(),
        method: MethodChoice::Mixture,
        experts: Some(2),
        restarts: Some(0),
        ..ModelSpec::new("y")
    };
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    let fit = || Model::fit(&spec, &table, &Unwatched).unwrap();
    let (one, two) = (pool(1).install(fit), pool(2).install(fit));
    let bytes = quorate::file::to_bytes(&one).unwrap();
    assert_eq!(bytes, quorate::file::to_bytes(&two).unwrap());
    let read = quorate::file::from_bytes(&bytes, "memory").unwrap();
    let questions = frame(vec![("x", vec![-2.0, 0.3, 2.0])]);
    let told = one.predict(&questions).unwrap();
    assert_eq!(told, read.predict(&questions).unwrap());
    let draws = read.sample(&questions, 4000, 1, true).unwrap();
    let variance = told.variance(false);
    for row in 0..3 {
        let own: Vec<f64> = draws.iter().map(|draw| draw[row]).collect();
        let mean = own.iter().sum::<f64>() / 4000.0;
        let spread = own.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 4000.0;
        // Gates are drawn here and at their mean there: close, not equal.
        assert!(
            (mean - told.mean[row]).abs() < 0.1,
            "{mean} {}",
            told.mean[row]
        );
        let ratio = spread / variance[row];
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }
}

#[test]
fn what_does_not_go_with_a_mixture_is_refused() {
    let (x, y) = loud_wave(6, 8);
    let table = frame(vec![("x", x), ("y", y), ("z", vec![0.5; 6])]);
    let mixture = ModelSpec {
        method: MethodChoice::Mixture,
        ..ModelSpec::new("y")
    };
    let refused = |spec: ModelSpec| {
        Model::fit(&spec, &table, &Unwatched)
            .unwrap_err()
            .to_string()
    };
    let message = refused(ModelSpec {
        experts: Some(7),
        ..mixture.clone()
    });
    assert!(message.contains("7 experts for 6 rows"), "{message}");
    let message = refused(ModelSpec {
        noise: Some("z".into()),
        ..mixture.clone()
    });
    assert!(message.contains("does not go with `--noise`"), "{message}");
    let message = refused(ModelSpec {
        experts: Some(3),
        ..ModelSpec::new("y")
    });
    assert!(message.contains("needs `--method mixture`"), "{message}");
    let message = refused(ModelSpec {
        task: quorate::TaskChoice::Binary,
        ..mixture
    });
    assert!(
        message.contains("one number") || message.contains("two labels"),
        "{message}"
    );
}
