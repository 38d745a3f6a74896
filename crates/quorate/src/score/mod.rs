//! Scores of predictions: error, log density, calibration.

mod classes;
mod quantities;
mod sum;
mod survival;

pub use classes::{ClassScores, ClassSum, Confidence};
pub use quantities::{BrierAt, QuantityScores, QuantitySum};
pub use sum::ScoreSum;

use quorate_gp::data::{Member, Scale, Schema};
use quorate_gp::posterior::LeaveOneOut;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::prediction::Prediction;

/// Nats over all rows by which few rows, foretold without them, must speak for one thing against another to be believed: odds of 20,
/// which Kass and Raftery (1995) call strong. Less than that is luck.
pub(crate) const STRONG: f64 = 3.0;

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

impl From<&Scale> for Yardstick {
    fn from(scale: &Scale) -> Self {
        Self {
            mean: scale.mean,
            deviation: scale.deviation,
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
    let targets = answers.target.iter().map(|own| mean + deviation * own);
    let targets: Vec<f64> = targets.collect();
    let told = Prediction::of_left_out(answers, yardstick);
    let weights: Vec<f64> = members.iter().map(|m| m.weight).collect();
    let variances = told.variance(false);
    Scores::of(&targets, &told.mean, &variances, Some(&weights), yardstick)
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
        let mut sum = ScoreSum::new(yardstick);
        for (row, target) in targets.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            sum.add(*target, mean[row], variance[row], weight);
        }
        sum.scores()
    }
}
