//! What is believed about new rows, in the target's own units.

use quorate_gp::posterior::LeaveOneOut;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::hyper::Mixture;
use crate::score::Yardstick;

/// Gaussian predictions, one per row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Expected target.
    pub mean: Vec<f64>,
    /// Variance of the latent function.
    pub latent_variance: Vec<f64>,
    /// Variance of the noise that a new observation adds.
    pub noise_variance: Vec<f64>,
    /// What each draw of the hyperparameters says, where predictions average over several.
    pub mixture: Option<Mixture>,
    /// Sentences for people: missing cells, levels never seen.
    pub notes: Vec<String>,
}

impl Prediction {
    /// Answers about rows that were left out; the yardstick turns them into the target's units.
    pub(crate) fn of_left_out(answers: &LeaveOneOut, yardstick: Yardstick) -> Self {
        let Yardstick { mean, deviation } = yardstick;
        let scaled = |values: &[f64]| {
            values
                .iter()
                .map(|own| deviation * deviation * own)
                .collect()
        };
        Self {
            mean: answers
                .mean
                .iter()
                .map(|own| mean + deviation * own)
                .collect(),
            latent_variance: scaled(&answers.variance),
            noise_variance: scaled(&answers.noise),
            ..Self::default()
        }
    }

    /// Puts the numbers of further rows behind these; notes stay.
    pub(crate) fn append(&mut self, other: Prediction) {
        self.mean.extend(other.mean);
        self.latent_variance.extend(other.latent_variance);
        self.noise_variance.extend(other.noise_variance);
        if let Some(mixture) = other.mixture {
            self.mixture.get_or_insert_default().extend(mixture);
        }
    }

    /// Adds to each row's noise a variance that is known of it, in squared units of the target.
    pub(crate) fn add_noise(&mut self, known: &[f64]) {
        let add = |noise: &mut [f64]| {
            let each = noise.iter_mut().zip(known);
            each.for_each(|(own, known)| *own += known);
        };
        add(&mut self.noise_variance);
        // Whichever draw speaks for a row, its noise is the same.
        let parts = self.mixture.iter_mut().flat_map(|own| &mut own.components);
        parts.for_each(|part| add(&mut part.noise));
    }

    /// Variance of the function (`latent`) or of a new observation.
    pub fn variance(&self, latent: bool) -> Vec<f64> {
        let noise = if latent { 0.0 } else { 1.0 };
        self.latent_variance
            .iter()
            .zip(&self.noise_variance)
            .map(|(function, extra)| function + noise * extra)
            .collect()
    }

    /// Standard deviation of the function (`latent`) or of a new observation.
    pub fn deviation(&self, latent: bool) -> Vec<f64> {
        self.variance(latent).into_iter().map(f64::sqrt).collect()
    }

    /// The value below which the function (`latent`) or a new observation lies with probability `p`.
    pub fn quantile(&self, p: f64, latent: bool) -> Vec<f64> {
        if let Some(mixture) = &self.mixture {
            let rows = 0..self.mean.len();
            return rows.map(|row| mixture.quantile(row, p, latent)).collect();
        }
        let z = standard_quantile(p);
        self.mean
            .iter()
            .zip(self.deviation(latent))
            .map(|(mean, deviation)| {
                // A deviation of zero has every quantile at the mean, even the infinite ones.
                if deviation > 0.0 {
                    mean + z * deviation
                } else {
                    *mean
                }
            })
            .collect()
    }
}

/// Probability below a value of the standard normal distribution.
pub(crate) fn standard_distribution(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// Quantile of the standard normal distribution.
pub(crate) fn standard_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}
