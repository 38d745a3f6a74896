//! Scores of Gaussian predictions: error, log density, calibration.

use std::f64::consts::PI;

use quorate_gp::data::{Member, Schema};
use quorate_gp::posterior::LeaveOneOut;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use crate::error::{Error, Result};
use crate::prediction::standard_quantile;

/// How good predictions are, in the target's own units unless the name says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Rows scored.
    pub n: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Continuous ranked probability score.
    pub crps: f64,
    /// Negative log predictive density, mean per row.
    pub nlpd: f64,
    /// Share of targets inside the central 50 % interval.
    pub coverage_50: f64,
    /// Share of targets inside the central 90 % interval.
    pub coverage_90: f64,
    /// Share of targets inside the central 95 % interval.
    pub coverage_95: f64,
    /// Mean width of the central 50 % interval.
    pub width_50: f64,
    /// Mean width of the central 90 % interval.
    pub width_90: f64,
    /// Mean width of the central 95 % interval.
    pub width_95: f64,
    /// Mean squared error over the variance of the scored targets; absent when they do not vary.
    pub smse: Option<f64>,
    /// Mean log loss minus that of a Gaussian with the training targets' mean and variance; negative is better.
    pub msll: f64,
    /// Root mean squared error in standard deviations of the training targets.
    pub rmse_standardised: f64,
    /// Negative log predictive density of the standardised target.
    pub nlpd_standardised: f64,
}

/// The training targets, as a yardstick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yardstick {
    /// Mean of the training targets.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

impl From<&Schema> for Yardstick {
    fn from(schema: &Schema) -> Self {
        Self {
            mean: schema.target_mean(),
            deviation: schema.target_deviation(),
        }
    }
}

/// Scores of rows that were left out one at a time; the yardstick turns standardised answers into the target's units.
pub(crate) fn leave_one_out_scores(
    members: &[Member],
    answers: &LeaveOneOut,
    yardstick: Yardstick,
) -> Result<Scores> {
    let Yardstick { mean, deviation } = yardstick;
    let targets: Vec<f64> = members
        .iter()
        .map(|m| mean + deviation * m.target)
        .collect();
    let means: Vec<f64> = answers.mean.iter().map(|m| mean + deviation * m).collect();
    let variances: Vec<f64> = answers
        .variance
        .iter()
        .zip(&answers.noise)
        .map(|(latent, noise)| deviation * deviation * (latent + noise))
        .collect();
    let weights: Vec<f64> = members.iter().map(|m| m.weight).collect();
    Scores::of(&targets, &means, &variances, Some(&weights), yardstick)
}

impl Scores {
    /// Scores Gaussian predictions; `weights` counts each row that often.
    pub fn of(
        targets: &[f64],
        mean: &[f64],
        variance: &[f64],
        weights: Option<&[f64]>,
        yardstick: Yardstick,
    ) -> Result<Self> {
        let n = targets.len();
        if n == 0 {
            return Err(Error::Spec("there are no rows to score".into()));
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let total: f64 = (0..n).map(weight).sum();
        let average = |term: &dyn Fn(usize) -> f64| {
            (0..n).map(|row| weight(row) * term(row)).sum::<f64>() / total
        };
        let deviation: Vec<f64> = variance.iter().map(|v| v.sqrt()).collect();
        let error = |row: usize| targets[row] - mean[row];
        let coverage = |level: f64| {
            let z = standard_quantile(0.5 + level / 2.0);
            average(&|row| f64::from(u8::from(error(row).abs() <= z * deviation[row])))
        };
        let width = |level: f64| {
            2.0 * standard_quantile(0.5 + level / 2.0) * average(&|row| deviation[row])
        };
        let mse = average(&|row| error(row).powi(2));
        let nlpd = average(&|row| negative_log_density(error(row), variance[row]));
        let centre = average(&|row| targets[row]);
        let spread = average(&|row| (targets[row] - centre).powi(2));
        let trivial = average(&|row| {
            negative_log_density(targets[row] - yardstick.mean, yardstick.deviation.powi(2))
        });
        Ok(Self {
            n,
            rmse: mse.sqrt(),
            mae: average(&|row| error(row).abs()),
            crps: average(&|row| crps(error(row), deviation[row])),
            nlpd,
            coverage_50: coverage(0.5),
            coverage_90: coverage(0.9),
            coverage_95: coverage(0.95),
            width_50: width(0.5),
            width_90: width(0.9),
            width_95: width(0.95),
            smse: (spread > 0.0).then(|| mse / spread),
            msll: nlpd - trivial,
            rmse_standardised: mse.sqrt() / yardstick.deviation,
            nlpd_standardised: nlpd - yardstick.deviation.ln(),
        })
    }
}

fn negative_log_density(error: f64, variance: f64) -> f64 {
    0.5 * (2.0 * PI * variance).ln() + 0.5 * error * error / variance
}

/// CRPS of a Gaussian (Gneiting and Raftery 2007, eq. 21, with the sign that makes it a loss).
fn crps(error: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return error.abs();
    }
    let standard = Normal::standard();
    let z = error / deviation;
    deviation * (z * (2.0 * standard.cdf(z) - 1.0) + 2.0 * standard.pdf(z) - 1.0 / PI.sqrt())
}
