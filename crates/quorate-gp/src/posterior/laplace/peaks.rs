//! A start for the search of a mode that is far from zero: the latent value that suits each row by itself.
//!
//! From a latent function of zero Newton's method goes astray where a likelihood is sharp and lopsided. Rows far below
//! their targets have curvatures of e^100, rows far above them next to none, and steps that suit the ones throw the others
//! away. Each row by itself is a matter of one number; one step from where all rows are content, as a regression on
//! those values would take it, leads near the mode.

use super::mode::{factor_scaled, scaled_solve};
use crate::Result;
use crate::likelihood::{Derivatives, Likelihood, Observation, Observations};
use crate::linalg::{Matrix, MatrixRef, symmetric_times};

/// How far from zero a latent value is looked for: beyond, exponentials overflow.
const FARTHEST: f64 = 1e3;
/// Halvings of the bracket: to the last digit.
const HALVINGS: usize = 60;

/// Weights `(I + W K)^-1 (W f + g)` after a Newton step from the values f that suit each row by itself.
pub(super) fn weights_from_peaks(
    covariance: MatrixRef<'_>,
    likelihood: &Likelihood,
    seen: &Observations,
) -> Result<Vec<f64>> {
    let size = covariance.nrows();
    let peaks: Vec<f64> = (0..size)
        .map(|group| own_peak(likelihood, seen.of_group(group), covariance[(group, group)]))
        .collect();
    let terms = likelihood.derivatives_of(seen, &peaks);
    let root: Vec<f64> = terms.iter().map(|term| term.curvature.sqrt()).collect();
    let factor = factor_scaled(covariance, &root, Matrix::zeros(size, size))?;
    let pull = |(term, peak): (&Derivatives, &f64)| term.curvature * peak + term.slope;
    let pulls: Vec<f64> = terms.iter().zip(&peaks).map(pull).collect();
    let correction = scaled_solve(&root, &factor, &symmetric_times(covariance, &pulls));
    let each = pulls.iter().zip(&correction);
    Ok(each.map(|(pull, own)| pull - own).collect())
}

/// Where likelihood and prior of one latent value pull equally, by halving a bracket: no exponential can overflow it.
fn own_peak(likelihood: &Likelihood, rows: &[Observation], variance: f64) -> f64 {
    if variance <= 0.0 {
        return 0.0;
    }
    let pulls_up = |latent: f64| {
        let slope = |row: &Observation| row.weight * likelihood.derivatives(row, latent).slope;
        rows.iter().map(slope).sum::<f64>() - latent / variance > 0.0
    };
    let up = pulls_up(0.0);
    let (mut near, mut far) = (0.0, if up { 1.0 } else { -1.0 });
    while pulls_up(far) == up && far.abs() < FARTHEST {
        (near, far) = (far, 2.0 * far);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (near + far);
        if pulls_up(middle) == up {
            near = middle;
        } else {
            far = middle;
        }
    }
    near
}
