//! Weighted means: of the members' densities, or of their values.

use super::{Cell, Moments};

/// Mean and variance of the mixture `sum_i w_i N(mean_i, variance_i)`, weights summing to one (Latouche 2007, 3.2.3).
///
/// The spread of the means is a part of the variance, and is summed about the mixture's own mean: the difference of raw
/// second moments would cancel.
pub(super) fn mixture(weights: &[f64], cell: &Cell<'_>) -> Moments {
    let mean = mean(weights, cell);
    let variance = weights.iter().zip(cell.opinions);
    let variance = variance.map(|(w, own)| w * (own.variance + (own.mean - mean).powi(2)));
    Moments {
        mean,
        variance: variance.sum::<f64>().max(0.0),
    }
}

/// `sum_i w_i f_i` with variance `sum_ij w_i w_j cov(f_i, f_j)` (Latouche 2007, 3.2.1).
///
/// The covariance of two members' errors is their correlation on rows not seen times their deviations here. Those
/// errors contain the noise of the observations, which all members share: deviations are taken with noise, and it is
/// taken off again. Without a record of errors the correlation is taken as one: the members may all be wrong together.
pub(super) fn average(weights: &[f64], cell: &Cell<'_>) -> Moments {
    let deviation = |own: &Moments| (own.variance + cell.noise).sqrt();
    let scaled: Vec<f64> = weights
        .iter()
        .zip(cell.opinions)
        .map(|(weight, own)| weight * deviation(own))
        .collect();
    let observed = match cell.learned {
        None => scaled.iter().sum::<f64>().powi(2),
        Some(learned) => {
            let mut sum = 0.0;
            for (i, a) in scaled.iter().enumerate() {
                for (j, b) in scaled.iter().enumerate() {
                    sum += a * b * learned.correlation[(i, j)];
                }
            }
            sum
        }
    };
    Moments {
        mean: mean(weights, cell),
        variance: (observed - cell.noise).max(0.0),
    }
}

fn mean(weights: &[f64], cell: &Cell<'_>) -> f64 {
    let terms = weights.iter().zip(cell.opinions);
    terms.map(|(weight, own)| weight * own.mean).sum()
}
