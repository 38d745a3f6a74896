//! Leave-one-out predictions in closed form (Rasmussen and Williams 2006, sec. 5.4.2), for groups of equal inputs too.

use rayon::prelude::*;

use super::ExactPosterior;
use crate::linalg::dot;

/// What each row would have been told had it not been seen, and the effective number of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaveOneOut {
    /// Latent mean for each original row, without that row.
    pub mean: Vec<f64>,
    /// Latent variance for each original row, without that row.
    pub variance: Vec<f64>,
    /// Noise variance of each original row (one copy of it).
    pub noise: Vec<f64>,
    /// `trace(K (K + Psi)^-1)`: how many parameters the rows pin down (Tresp 2000, sec. 6.1).
    pub effective_parameters: f64,
}

impl LeaveOneOut {
    /// Adds row `index` of another set of answers.
    pub fn push(&mut self, other: &LeaveOneOut, index: usize) {
        self.mean.push(other.mean[index]);
        self.variance.push(other.variance[index]);
        self.noise.push(other.noise[index]);
    }
}

impl ExactPosterior {
    /// Leave-one-out answers for every original row, in the order of [`crate::data::Dataset::members`].
    ///
    /// Leaving out a whole group i of equal inputs gives the latent variance `1 / [C^-1]_ii - Psi_i` and the mean
    /// `ybar_i - [C^-1 y]_i / [C^-1]_ii`, with `C = K + Psi`. The other members of the row's own group are then put
    /// back as one more Gaussian observation.
    pub fn leave_one_out(&self) -> LeaveOneOut {
        let data = self.data();
        let psi = self.noise().group_variances(data);
        let precision = self.inverse_diagonal();
        let effective_parameters = precision.iter().zip(&psi).map(|(p, v)| 1.0 - p * v).sum();
        let weights = self.weights().col_as_slice(0);
        let mut answer = LeaveOneOut {
            effective_parameters,
            ..LeaveOneOut::default()
        };
        for member in data.members() {
            let group = member.group;
            let noise = self.noise().variance + data.known_noise()[group];
            let mean = data.targets()[group] - weights[group] / precision[group];
            let variance = (1.0 / precision[group] - psi[group]).max(0.0);
            let others = data.weights()[group] - member.weight;
            // A remainder of pure rounding is nobody: dividing by it would invent an observation.
            let (mean, variance) = if others > 1e-12 * data.weights()[group] {
                let total = data.targets()[group] * data.weights()[group];
                let rest = (total - member.target * member.weight) / others;
                observe(mean, variance, rest, noise / others)
            } else {
                (mean, variance)
            };
            answer.mean.push(mean);
            answer.variance.push(variance);
            answer.noise.push(noise);
        }
        answer
    }

    /// Diagonal of `(K + Psi)^-1`.
    fn inverse_diagonal(&self) -> Vec<f64> {
        let inverse = self.factor().inverse_lower();
        (0..inverse.ncols())
            .into_par_iter()
            .map(|column| {
                let column = &inverse.col_as_slice(column)[column..];
                dot(column, column)
            })
            .collect()
    }
}

/// A Gaussian belief after one observation with the given noise.
fn observe(mean: f64, variance: f64, seen: f64, noise: f64) -> (f64, f64) {
    let gain = variance / (variance + noise);
    (mean + gain * (seen - mean), variance * (1.0 - gain))
}
