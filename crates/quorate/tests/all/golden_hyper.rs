//! Posterior of hyperparameters beside that of other software.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::collections::BTreeMap;

use quorate::gp::data::{ColumnKind, Dataset, InputColumn};
use quorate::gp::kernel::{Covariance, Kernel};
use quorate::gp::learn::sample::{HmcSettings, Sampler, Sampling, diagnose, sample};
use quorate::gp::learn::{BlockEvidence, Hyperprior, Plausible, WithPrior};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::JitterPolicy;
use quorate::gp::parameters::Parameter;
use quorate::gp::watch::Unwatched;
use serde_json::Value;

/// Means and deviations of both samplers beside those of long chains of other software.
#[test]
fn nuts_and_hmc_agree_with_each_other_and_with_long_chains_of_other_software() {
    // What several tools say about one table is compared with the same draws of ours.
    let mut tables: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for (name, golden) in common::golden("hyper") {
        let table = golden["data"].as_str().unwrap().to_owned();
        tables.entry(table).or_default().push((name, golden));
    }
    for tools in tables.into_values() {
        let golden = &tools[0].1;
        for (name, other) in &tools {
            let same = ["inputs", "targets", "kernel"];
            assert!(same.iter().all(|key| other[*key] == golden[*key]), "{name}");
            agree(name, other, golden);
        }
        assert!(
            tools.len() > 1,
            "a random walk and a sampler of other people"
        );
        let rows = golden["inputs"].as_array().unwrap();
        let numbers = |value: &serde_json::Value| -> Vec<f64> {
            value
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_f64().unwrap())
                .collect()
        };
        let values: Vec<f64> = rows.iter().flat_map(numbers).collect();
        let width = values.len() / rows.len();
        let data = Dataset::new(values, width, numbers(&golden["targets"]), None, None).unwrap();
        let columns: Vec<InputColumn> = (0..width)
            .map(|column| InputColumn {
                name: format!("x{column}"),
                kind: ColumnKind::Number,
                deviation: 1.0,
            })
            .collect();
        let kernel: Kernel = golden["kernel"].as_str().unwrap().parse().unwrap();
        let kernel = kernel.bind(&columns).unwrap();
        let mut parameters = kernel.parameters();
        parameters.push(GaussianNoise { variance: 0.1 }.parameter());
        let priors = Hyperprior::Broad.all(&parameters);
        let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
        let evidence = BlockEvidence::new(&kernel, &data, JitterPolicy::default());
        let objective = WithPrior {
            objective: &evidence,
            priors: &priors,
        };
        let start: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
        let free = vec![true; start.len()];
        for sampler in [Sampler::Nuts, Sampler::Hmc(HmcSettings::default())] {
            let how = Sampling {
                sampler,
                warmup: 300,
                draws: 500,
                ..Sampling::default()
            };
            let chains = sample(&objective, &start, &bounds, &free, &how, &Unwatched).unwrap();
            let both = tools.iter().flat_map(|(name, golden)| {
                let each = golden["parameters"].as_array().unwrap().iter().enumerate();
                each.map(move |(i, theirs)| (name, i, theirs))
            });
            for (name, i, theirs) in both {
                let draws: Vec<Vec<f64>> = (chains.iter())
                    .map(|chain| chain.draws.iter().map(|draw| draw[i]).collect())
                    .collect();
                let ours = diagnose(&draws);
                let (mean, deviation) = (
                    theirs["mean"].as_f64().unwrap(),
                    theirs["deviation"].as_f64().unwrap(),
                );
                let draws = theirs["effective_draws"].as_f64().unwrap();
                let error = deviation * (1.0 / ours.effective_draws + 1.0 / draws).sqrt();
                let off = (ours.mean - mean) / error;
                println!(
                    "{name} {sampler:?} {}: {:.3} +- {:.3}, theirs {mean:.3} +- {deviation:.3}, {off:.1} Monte Carlo errors, R-hat {:.3}, {:.0} effective draws",
                    theirs["name"], ours.mean, ours.deviation, ours.r_hat, ours.effective_draws
                );
                assert!(off.abs() < 4.0, "{name} {sampler:?} {i}: {off}");
                let ratio = ours.deviation / deviation;
                assert!(
                    (0.75..1.33).contains(&ratio),
                    "{name} {sampler:?} {i}: {ratio}"
                );
                assert!(ours.r_hat < 1.05, "{name} {sampler:?} {i}: {}", ours.r_hat);
            }
        }
    }
}

/// Two tools say the same of every parameter, to the Monte Carlo errors that they report.
fn agree(name: &str, one: &Value, other: &Value) {
    let parameters = |golden: &Value| golden["parameters"].as_array().unwrap().clone();
    let (ours, theirs) = (parameters(one), parameters(other));
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (a, b) in ours.iter().zip(&theirs) {
        assert_eq!(a["name"], b["name"], "{name}");
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
        let squared = |of: &Value| number(of, "deviation").powi(2) / number(of, "effective_draws");
        let off = (number(a, "mean") - number(b, "mean")) / (squared(a) + squared(b)).sqrt();
        assert!(off.abs() < 4.0, "{name} {}: {off}", a["name"]);
    }
}
