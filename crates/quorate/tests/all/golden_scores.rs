//! Scores of Gaussian predictions against mpmath's integrals and SciPy.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use quorate::score::Yardstick;
use quorate::{Prediction, Scores};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

#[test]
fn every_score_equals_the_golden_number() {
    let mut compared = 0;
    for (file, golden) in common::golden("scores") {
        let tolerance = golden["tolerance"].as_f64().unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let number = |key: &str| case[key].as_f64().unwrap();
            let deviations = numbers(&case["std"]);
            let variances: Vec<f64> = deviations.iter().map(|s| s * s).collect();
            let yardstick = Yardstick {
                mean: number("train_mean"),
                deviation: number("train_deviation"),
            };
            let (targets, means) = (numbers(&case["target"]), numbers(&case["mean"]));
            let scores = Scores::of(&targets, &means, &variances, None, yardstick).unwrap();
            let pairs = [
                ("rmse", scores.rmse),
                ("mae", scores.mae),
                ("crps", scores.crps),
                ("nlpd", scores.nlpd),
                ("msll", scores.msll),
                ("smse_by_test_variance", scores.smse.unwrap()),
                ("rmse_standardised", scores.rmse_standardised),
                ("nlpd_standardised", scores.nlpd_standardised),
                ("coverage_50", scores.coverage_50),
                ("coverage_90", scores.coverage_90),
                ("coverage_95", scores.coverage_95),
                ("width_50", scores.width_50),
                ("width_90", scores.width_90),
                ("width_95", scores.width_95),
            ];
            for (name, ours) in pairs {
                let theirs = number(name);
                let near = (ours - theirs).abs() <= tolerance * theirs.abs().max(1.0);
                assert!(near, "{file} {}: {name} {ours} and {theirs}", case["name"]);
                compared += 1;
            }
            quantiles(case, &means, &variances);
        }
    }
    assert!(compared >= 50);
}

fn quantiles(case: &Value, means: &[f64], variances: &[f64]) {
    let stored = case["quantiles_of_first_rows"].as_array().unwrap();
    let prediction = Prediction {
        mixture: None,
        mean: means[..stored.len()].to_vec(),
        latent_variance: variances[..stored.len()].to_vec(),
        noise_variance: vec![0.0; stored.len()],
        notes: Vec::new(),
    };
    for (place, p) in numbers(&case["probabilities"]).into_iter().enumerate() {
        let ours = prediction.quantile(p, false);
        for (row, theirs) in stored.iter().enumerate() {
            let theirs = numbers(theirs)[place];
            let scale = variances[row].sqrt() + theirs.abs();
            assert!(
                (ours[row] - theirs).abs() <= 1e-9 * scale,
                "p {p}: {} and {theirs}",
                ours[row]
            );
        }
    }
}
