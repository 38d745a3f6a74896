//! Gates: which expert speaks where, as a softmax of processes (Tresp 2001, sec. 4 and appendix).

use quorate_gp::linalg::dot;

use super::between::Between;
use super::processes::Track;
use super::sites::Sites;
use crate::error::Result;

/// Shares that are proportional to `exp(h_i)`: positive, and one together (Tresp 2001, *Committee Machines*, sec. 3.1).
pub fn softmax(heights: &[f64]) -> Vec<f64> {
    let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raised: Vec<f64> = heights.iter().map(|height| (height - top).exp()).collect();
    let sum: f64 = raised.iter().sum();
    if !sum.is_finite() {
        // Nobody gives the row any density: nobody has the better claim.
        return vec![1.0 / heights.len() as f64; heights.len()];
    }
    raised.into_iter().map(|share| share / sum).collect()
}

/// `log sum exp` of the heights.
pub fn log_sum(heights: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = heights.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + heights.map(|height| (height - top).exp()).sum::<f64>().ln()
}

/// Log probability of each expert at a row, given the gates' values there.
pub fn log_shares(gates: &[Track], row: usize) -> Vec<f64> {
    let heights = gates.iter().map(|gate| gate.value[row]);
    let all = log_sum(heights.clone());
    heights.map(|height| height - all).collect()
}

/// One sweep over the gates towards the responsibilities, each with the others where they are now.
///
/// The appendix steps all gates at once and ignores how they interact, which overshoots: for two experts the Hessian
/// along their difference is twice what each alone sees. One after the other, each sees all of its own Hessian.
pub fn sweep(
    gates: &mut [Track],
    covariance: &Between,
    responsibilities: &[Vec<f64>],
    weights: &[f64],
) -> Result<()> {
    for own in 0..gates.len() {
        let sites = sites(gates, own, &responsibilities[own], weights);
        let smoothed = covariance.hear(sites)?;
        // The others' share of the normaliser does not move.
        let others: Vec<f64> = (0..weights.len())
            .map(|row| {
                let others = gates.iter().enumerate().filter(|(gate, _)| *gate != own);
                log_sum(others.map(|(_, gate)| gate.value[row]))
            })
            .collect();
        let target = &responsibilities[own];
        gates[own].step(smoothed, |value| {
            let each = value.iter().enumerate().map(|(row, height)| {
                let all = log_sum([*height, others[row]].into_iter());
                weights[row] * (target[row] * height - all)
            });
            each.sum()
        });
    }
    Ok(())
}

/// The sites of one gate where it is now: `w = g (1 - g)`, and the slope is responsibility less share.
pub fn sites(gates: &[Track], own: usize, responsibility: &[f64], weights: &[f64]) -> Sites {
    let mut sites = Sites::default();
    for (row, weight) in weights.iter().enumerate() {
        let share = log_shares(gates, row)[own].exp();
        let precision = weight * share * (1.0 - share);
        sites.precision.push(precision);
        let slope = weight * (responsibility[row] - share);
        sites.shift.push(precision * gates[own].value[row] + slope);
    }
    sites
}

/// Log penalty of a process at its mode: `-1/2 f' K^-1 f`.
pub fn log_prior(track: &Track) -> f64 {
    -0.5 * dot(&track.value, &track.weights)
}
