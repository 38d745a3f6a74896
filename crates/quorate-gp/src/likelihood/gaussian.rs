//! Gaussian noise: one learned variance, known variances per row, weights as repeated rows.

use std::f64::consts::PI;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::parameters::{Parameter, Role};

/// Gaussian noise with one variance for all rows, on top of what is known of each row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianNoise {
    /// The variance that learning moves, in units of the (standardised) target's variance.
    pub variance: f64,
}

impl GaussianNoise {
    /// The variance as a hyperparameter.
    pub fn parameter(&self) -> Parameter {
        Parameter::positive("noise.variance", Role::Noise, self.variance)
    }

    /// Variance of the mean of each group of rows that share their inputs: `(sigma^2 + tau_i) / W_i`.
    pub fn group_variances(&self, data: &Dataset) -> Vec<f64> {
        data.known_noise()
            .iter()
            .zip(data.weights())
            .map(|(known, weight)| (self.variance + known) / weight)
            .collect()
    }

    /// What the log evidence of the groups' means leaves out of the log evidence of all rows, and its derivative with
    /// respect to `log sigma^2`.
    ///
    /// W rows of variance s around the latent value f, with mean ybar and scatter R, have density
    /// `prod N(y_j; f, s) = N(ybar; f, s / W) * exp(c)` with
    /// `c = -W/2 log(2 pi s) - R / (2 s) + 1/2 log(2 pi s / W)`.
    pub fn evidence_within_groups(&self, data: &Dataset) -> (f64, f64) {
        self.evidence_within_rows(data, 0..data.rows())
    }

    /// The same for some of the groups.
    pub(crate) fn evidence_within_rows(&self, data: &Dataset, rows: Range<usize>) -> (f64, f64) {
        let mut value = 0.0;
        let mut slope = 0.0;
        for row in rows {
            let (weight, scatter) = (data.weights()[row], data.scatter()[row]);
            let s = self.variance + data.known_noise()[row];
            value += -0.5 * weight * (2.0 * PI * s).ln() - 0.5 * scatter / s
                + 0.5 * (2.0 * PI * s / weight).ln();
            slope += self.variance / s * (0.5 * (1.0 - weight) + 0.5 * scatter / s);
        }
        (value, slope)
    }
}
