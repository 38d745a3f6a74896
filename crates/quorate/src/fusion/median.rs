//! The member in the middle.

use super::{Cell, Moments};

/// The weighted median of the means: half of the weight says less, half says more (Drucker 1997, step 8, where members are
/// boosted). Its variance is the mean of the members' variances and of their squared distances from it.
pub(super) fn median(weights: &[f64], cell: &Cell<'_>) -> Moments {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| {
        let mean = |member: usize| cell.opinions[member].mean;
        mean(a).total_cmp(&mean(b)).then(a.cmp(&b))
    });
    let total: f64 = weights.iter().sum();
    let mut below = 0.0;
    let middle = order.iter().position(|&member| {
        below += weights[member];
        below >= 0.5 * total
    });
    let mean = cell.opinions[order[middle.unwrap_or(0)]].mean;
    let spread = weights.iter().zip(cell.opinions);
    let spread = spread.map(|(w, own)| w * (own.variance + (own.mean - mean).powi(2)));
    Moments {
        mean,
        variance: spread.sum::<f64>() / total,
    }
}
