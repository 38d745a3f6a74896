//! Hyperparameters as draws, and predictions that average over them.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use quorate::gp::data::{Column, Frame};
use quorate::gp::kernel::Covariance;
use quorate::gp::learn::Hyperprior;
use quorate::gp::watch::Unwatched;
use quorate::hyper::{Mixture, MixturePart, ParameterBelief};
use quorate::{Forecast, InferenceChoice, LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec};

fn mcycle() -> Frame {
    let frame = common::read(&common::workspace().join("golden/data/mcycle.csv.gz"));
    frame.select_rows(&(0..frame.rows()).step_by(2).collect::<Vec<_>>())
}

fn spec(method: MethodChoice, mode: ModeChoice, learn: LearnChoice) -> ModelSpec {
    ModelSpec {
        method,
        mode,
        learn,
        kernel: "matern32".parse().unwrap(),
        chains: Some(3),
        draws: Some(60),
        warmup: Some(100),
        landmarks: (mode == ModeChoice::Landmarks).then_some(20),
        ..ModelSpec::new("y")
    }
}

#[test]
fn every_method_averages_over_draws_and_its_file_gives_the_same_answers() {
    let frame = mcycle();
    for (method, mode) in [
        (MethodChoice::Exact, ModeChoice::Auto),
        (MethodChoice::Committee, ModeChoice::Local),
        (MethodChoice::Committee, ModeChoice::Landmarks),
        (MethodChoice::Committee, ModeChoice::Joint),
    ] {
        let spec = spec(method, mode, LearnChoice::Nuts);
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap()
                .install(|| Model::fit(&spec, &frame, &Unwatched))
                .unwrap()
        };
        let model = fit(1);
        let bytes = quorate::file::to_bytes(&model).unwrap();
        assert_eq!(bytes, quorate::file::to_bytes(&fit(3)).unwrap(), "{mode}");
        let again = quorate::file::from_bytes(&bytes, "memory").unwrap();
        assert_eq!(quorate::file::to_bytes(&again).unwrap(), bytes);
        let prediction = model.predict(&frame).unwrap();
        assert_eq!(prediction, again.predict(&frame).unwrap());

        let belief = model.inspect().unwrap().hyperposterior.unwrap();
        assert_eq!(belief.draws.len(), 180);
        let mixture = prediction.mixture.as_ref().unwrap();
        assert_eq!(mixture.components.len(), belief.averaged.len());
        let count = mixture.components.len() as f64;
        let (middle, high) = (
            prediction.quantile(0.5, false),
            prediction.quantile(0.95, false),
        );
        for row in 0..frame.rows() {
            let each = mixture.components.iter();
            let mean = each.clone().map(|c| c.mean[row]).sum::<f64>() / count;
            assert!((prediction.mean[row] - mean).abs() < 1e-9 * mean.abs().max(1.0));
            let spread = each
                .clone()
                .map(|c| (c.mean[row] - mean).powi(2))
                .sum::<f64>()
                / count;
            let within = each.map(|c| c.variance[row]).sum::<f64>() / count;
            let variance = prediction.latent_variance[row];
            assert!((variance - spread - within).abs() < 1e-9 * variance);
            assert!(middle[row] < high[row]);
            // Half of the mixture lies below its median.
            let normal = statrs::distribution::Normal::standard();
            let below = mixture.components.iter().map(|part| {
                let deviation = (part.variance[row] + part.noise[row]).sqrt();
                use statrs::distribution::ContinuousCDF;
                normal.cdf((middle[row] - part.mean[row]) / deviation)
            });
            assert!((below.sum::<f64>() / count - 0.5).abs() < 1e-9);
        }
        if mode == ModeChoice::Landmarks {
            let refused = model.update(&frame, "more", false, &Unwatched).unwrap_err();
            assert!(
                refused.to_string().contains("averages over draws"),
                "{refused}"
            );
        }
    }
}

#[test]
fn warnings_fire_on_a_bad_posterior_and_not_on_a_good_one() {
    let frame = mcycle();
    let good = ModelSpec {
        draws: Some(150),
        ..spec(MethodChoice::Exact, ModeChoice::Auto, LearnChoice::Nuts)
    };
    let model = Model::fit(&good, &frame, &Unwatched).unwrap();
    let told = |model: &Model| model.notes().join("\n");
    assert!(!told(&model).contains("R-hat"), "{}", told(&model));
    // Two equal terms can change places, nothing ties them down, and the chains are much too short.
    let bad = ModelSpec {
        kernel: "matern32 + matern32 + periodic * se".parse().unwrap(),
        hyperprior: Some(Hyperprior::Weak),
        chains: Some(4),
        draws: Some(10),
        warmup: Some(5),
        ..good
    };
    let model = Model::fit(&bad, &frame, &Unwatched).unwrap();
    assert!(
        told(&model).contains("the chains do not agree"),
        "{}",
        told(&model)
    );
    assert!(told(&model).contains("effective draws"), "{}", told(&model));
}

#[test]
fn scores_of_a_mixture_are_those_of_its_distribution() {
    let part = |share: f64, mean: f64, variance: f64, noise: f64| MixturePart {
        share: vec![share],
        mean: vec![mean],
        variance: vec![variance],
        noise: vec![noise],
    };
    let mixture = Mixture {
        components: vec![
            part(0.5, -1.0, 0.2, 0.05),
            part(0.3, 2.0, 1.1, 0.3),
            part(0.2, 0.4, 0.0, 0.5),
            part(0.0, 9.0, 0.0, 0.0),
        ],
    };
    for target in [-2.0, 0.1, 1.7] {
        // Integrals of the distribution by many small steps.
        let step = 1e-3;
        let places = (-15_000..15_000).map(|k| f64::from(k) * step + 0.5 * step);
        let gap = |x: f64| mixture.below(0, x, false) - f64::from(u8::from(x >= target));
        let crps: f64 = places.clone().map(|x| gap(x).powi(2) * step).sum();
        assert!((mixture.crps(0, target) - crps).abs() < 1e-3);
        let density = mixture.log_density(0, target).exp();
        let slope = mixture.below(0, target + 1e-5, false) - mixture.below(0, target - 1e-5, false);
        assert!((density - slope / 2e-5).abs() < 1e-6);
        let whole: f64 = places.map(|x| mixture.log_density(0, x).exp() * step).sum();
        assert!((whole - 1.0).abs() < 1e-6);
    }
    for p in [0.025, 0.5, 0.9] {
        let value = mixture.quantile(0, p, false);
        assert!((mixture.below(0, value, false) - p).abs() < 1e-12);
    }
}

/// Two classes along one input, with some on the wrong side.
fn sides() -> Frame {
    let inputs: Vec<f64> = (0..60).map(|row| f64::from(row) / 10.0 - 3.0).collect();
    let side = |(row, x): (usize, &f64)| {
        let wrong = row % 7 == 3;
        Some(
            if ((1.3 * x).sin() > 0.0) != wrong {
                "up"
            } else {
                "down"
            }
            .into(),
        )
    };
    let labels = inputs.iter().enumerate().map(side).collect();
    Frame::from_columns(vec![
        ("x", Column::Number(inputs)),
        ("side", Column::Text(labels)),
    ])
    .unwrap()
}

fn classes(learn: LearnChoice, inference: InferenceChoice) -> ModelSpec {
    ModelSpec {
        learn,
        inference,
        kernel: "se".parse().unwrap(),
        chains: Some(3),
        draws: Some(200),
        warmup: Some(150),
        ..ModelSpec::new("side")
    }
}

fn probabilities(model: &Model, frame: &Frame) -> Vec<f64> {
    match model.forecast(frame).unwrap() {
        Forecast::Classes(told) => told.probabilities,
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_classes_average_over_draws() {
    for inference in [InferenceChoice::Laplace, InferenceChoice::Ep] {
        averages_over_draws(inference);
    }
}

fn averages_over_draws(inference: InferenceChoice) {
    let frame = sides();
    let few = ModelSpec {
        chains: Some(2),
        draws: Some(4),
        warmup: Some(20),
        ..classes(LearnChoice::Nuts, inference)
    };
    let model = Model::fit(&few, &frame, &Unwatched).unwrap();
    let belief = model.inspect().unwrap().hyperposterior.unwrap();
    assert_eq!(belief.averaged, (0..8).collect::<Vec<_>>());
    // Every draw by itself, through a model that is given its values.
    let mut mean = vec![0.0; 2 * frame.rows()];
    for draw in &belief.draws {
        let mut kernel = model.kernel().bind(model.schema().columns()).unwrap();
        kernel.set_coordinates(draw).unwrap();
        let given = ModelSpec {
            kernel: kernel.kernel().to_string().parse().unwrap(),
            chains: None,
            draws: None,
            warmup: None,
            ..classes(LearnChoice::None, inference)
        };
        let own = Model::fit(&given, &frame, &Unwatched).unwrap();
        let told = probabilities(&own, &frame);
        mean.iter_mut()
            .zip(told)
            .for_each(|(sum, p)| *sum += p / 8.0);
    }
    let told = probabilities(&model, &frame);
    for (told, mean) in told.iter().zip(&mean) {
        assert!((told - mean).abs() < 1e-9, "{told} {mean}");
    }
    let bytes = quorate::file::to_bytes(&model).unwrap();
    let again = quorate::file::from_bytes(&bytes, "memory").unwrap();
    assert_eq!(probabilities(&again, &frame), told);
}

#[test]
fn both_samplers_say_the_same_of_two_classes() {
    let frame = sides();
    let beliefs = [LearnChoice::Nuts, LearnChoice::Hmc].map(|learn| {
        let model = Model::fit(
            &classes(learn, InferenceChoice::Laplace),
            &frame,
            &Unwatched,
        )
        .unwrap();
        model.inspect().unwrap().hyperposterior.unwrap()
    });
    for (nuts, hmc) in beliefs[0].parameters.iter().zip(&beliefs[1].parameters) {
        let error = |own: &ParameterBelief| own.deviation.powi(2) / own.effective_draws.unwrap();
        let apart = (nuts.mean - hmc.mean).abs() / (error(nuts) + error(hmc)).sqrt();
        println!(
            "{}: {:.3} and {:.3}, {apart:.2} errors apart",
            nuts.name, nuts.mean, hmc.mean
        );
        assert!(apart < 4.0, "{}: {apart}", nuts.name);
        assert!((nuts.deviation / hmc.deviation).ln().abs() < 0.5);
    }
}
