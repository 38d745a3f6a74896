//! The Gaussian nearest to all opinions in transport distance.

use super::{Cell, Moments};

/// Of Gaussians in one dimension the 2-Wasserstein barycentre has the mean of the means and the mean of the deviations
/// (Agueh and Carlier 2011, sec. 6).
pub(super) fn of_deviations(weights: &[f64], cell: &Cell<'_>) -> Moments {
    let deviation = sum(weights, cell, |own| own.variance.sqrt());
    Moments {
        mean: sum(weights, cell, |own| own.mean),
        variance: deviation * deviation,
    }
}

/// The same mean with the mean of the variances, as Cohen et al. 2020 (table 1) use it.
pub(super) fn of_variances(weights: &[f64], cell: &Cell<'_>) -> Moments {
    Moments {
        mean: sum(weights, cell, |own| own.mean),
        variance: sum(weights, cell, |own| own.variance),
    }
}

fn sum(weights: &[f64], cell: &Cell<'_>, of: impl Fn(&Moments) -> f64) -> f64 {
    let terms = weights.iter().zip(cell.opinions);
    terms.map(|(weight, own)| weight * of(own)).sum()
}
