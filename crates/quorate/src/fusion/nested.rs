//! Nested aggregation: the members' means are themselves jointly Gaussian with the function.

use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, dot};

use super::{Cell, Moments};
use crate::error::{Error, Result};

/// How the members' means at one query vary together, and with the function, under their common process.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// Covariance of each member's mean with the function: `k_i' C_i^-1 k_i`.
    pub with_function: Vec<f64>,
    /// Covariances of the members' means: `k_i' C_i^-1 C_ij C_j^-1 k_j`.
    pub covariance: Matrix,
}

/// Members that say nearly the same make their covariance singular; what that costs is of the order of rounding.
const POLICY: JitterPolicy = JitterPolicy {
    start: 0.0,
    first: 1e-12,
    last: 1e-4,
};

/// `mean = k_A' K_A^-1 m`, `variance = k(x, x) - k_A' K_A^-1 k_A` (Rulliere, Durrande, Bachoc and Chevalier 2018, eq. 3-4),
/// for a prior mean of zero.
pub(super) fn combine(cell: &Cell<'_>) -> Result<Moments> {
    let members = cell.opinions.len();
    let between = cell
        .between
        .filter(|between| between.with_function.len() == members)
        .ok_or_else(|| {
            Error::Spec("nested aggregation needs members of one Gaussian process".into())
        })?;
    let prior = cell.priors[0];
    // Nobody has learned anything here.
    if between.with_function.iter().all(|&c| c <= 0.0) {
        return Ok(prior);
    }
    let factor = Factor::new(members, POLICY, |mut out| {
        out.copy_from(&between.covariance);
    })?;
    let mut solved = Matrix::from_fn(members, 1, |i, _| between.with_function[i]);
    factor.solve(solved.as_mut());
    let share = solved.col_as_slice(0);
    let means: Vec<f64> = cell.opinions.iter().map(|own| own.mean).collect();
    Ok(Moments {
        mean: dot(share, &means),
        variance: (prior.variance - dot(share, &between.with_function)).max(0.0),
    })
}
