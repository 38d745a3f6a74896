//! What is believed about counts, amounts and lifetimes, in their own units.

use quorate_gp::data::{Quantity, QuantityCode, Sighting};
use quorate_gp::likelihood::{Latent, Likelihood, Observation};
use rayon::prelude::*;

use crate::prediction::standard_quantile;

/// Beliefs about the latent value behind each row, and what makes targets of it.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantityPrediction {
    /// What kind of number the target is, and its units.
    pub code: QuantityCode,
    /// How a target comes from the latent value.
    pub likelihood: Likelihood,
    /// Mean of the latent value, level and exposure included.
    pub latent_mean: Vec<f64>,
    /// Its variance.
    pub latent_variance: Vec<f64>,
    /// Sentences for people: missing cells, levels never seen.
    pub notes: Vec<String>,
}

impl QuantityPrediction {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.latent_mean.len()
    }

    /// The belief about one row's latent value.
    pub fn latent(&self, row: usize) -> Latent {
        Latent {
            mean: self.latent_mean[row],
            variance: self.latent_variance[row],
        }
    }

    pub(crate) fn append(&mut self, other: QuantityPrediction) {
        self.latent_mean.extend(other.latent_mean);
        self.latent_variance.extend(other.latent_variance);
    }

    /// A number for each row. Averages over beliefs take long enough for several threads.
    fn each(&self, of: impl Fn(Latent) -> f64 + Sync) -> Vec<f64> {
        let rows = 0..self.rows();
        rows.into_par_iter()
            .map(|row| of(self.latent(row)))
            .collect()
    }

    /// Expected targets.
    pub fn mean(&self) -> Vec<f64> {
        self.each(|latent| self.code.unit.undo(self.likelihood.mean(latent)))
    }

    /// Standard deviation of new targets, or with `latent` of the expected target.
    pub fn deviation(&self, latent: bool) -> Vec<f64> {
        let width = self.code.unit.deviation;
        self.each(|belief| {
            let variance = if !latent {
                self.likelihood.variance(belief)
            } else if self.code.quantity == Quantity::Real {
                belief.variance
            } else {
                // The expected target is proportional to e^f, whose logarithm is Gaussian.
                self.likelihood.mean(belief).powi(2) * belief.variance.exp_m1()
            };
            width * variance.sqrt()
        })
    }

    /// The value that new targets (or with `latent` the expected target) do not exceed with probability `p`.
    pub fn quantile(&self, p: f64, latent: bool) -> Vec<f64> {
        let z = standard_quantile(p);
        self.each(|belief| {
            let value = if latent {
                // The expected target grows with f, so that its quantiles are those of f.
                self.likelihood.mean(Latent {
                    mean: belief.mean + z * belief.variance.sqrt(),
                    variance: 0.0,
                })
            } else {
                self.likelihood.quantile(belief, p)
            };
            self.code.unit.undo(value)
        })
    }

    /// Probability that a new target exceeds a value: the survival curve of a lifetime.
    pub fn survival(&self, value: f64) -> Vec<f64> {
        let value = self.code.unit.apply(value);
        self.each(|latent| self.likelihood.survival(latent, value))
    }

    /// Probability that a new count is this number.
    pub fn probability(&self, count: u64) -> Vec<f64> {
        let seen = Observation::of(count as f64);
        self.each(|latent| self.likelihood.log_predictive(&seen, latent).exp())
    }

    /// `P(target <= value)` for one row.
    pub(crate) fn distribution(&self, row: usize, value: f64) -> f64 {
        let value = self.code.unit.apply(value);
        self.likelihood.distribution(self.latent(row), value)
    }

    /// Log density of what was seen of one row, in its own units; its survival where it is censored.
    pub(crate) fn log_density(&self, row: usize, seen: &Sighting) -> f64 {
        let mut observation = Observation::of(self.code.unit.apply(seen.value));
        observation.observed = seen.observed;
        let own = self
            .likelihood
            .log_predictive(&observation, self.latent(row));
        if seen.observed {
            own - self.code.unit.deviation.ln()
        } else {
            own
        }
    }
}
