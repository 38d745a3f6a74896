//! How far a Newton step towards the mode trusts the curvature of the likelihood.
//!
//! Far from the mode a single row may have a curvature of e^100 (a lifetime ten times as long as a Weibull distribution of
//! shape 42 expects), beside which the digits of all other rows are lost and the step is noise. Levenberg (1944) adds a
//! multiple of a metric to the curvature; here the metric is the prior's own precision, so that the step is
//! `(K^-1 / e + W)^-1 (g - a)` with an ease e of at most 1. It always leads upwards, and its matrix `I + e D K D` can be
//! factored whatever W is.

use crate::linalg::MatrixRef;

/// The greatest product of variance and curvature with which a step still has four digits.
const TRUSTED: f64 = 1e12;
/// The same after a step that led nowhere.
const FIRST_LIMIT: f64 = 1e8;
/// A row is at rest where its own step is less than this share of its prior deviation. Large counts have curvatures beyond
/// what is trusted at the mode itself, where they do no harm.
const AT_REST: f64 = 1e-6;
/// What a failure leaves of the limit, and by what a success raises it.
const TIGHTEN: f64 = 1e-3;
const LOOSEN: f64 = 100.0;
/// Below this limit a step follows the slope alone; shorter ones cannot help.
const LEAST_LIMIT: f64 = 1e-3;
/// Steps that had to be made shorter than this share count as failures.
const LEAST_SHARE: f64 = 1e-3;

/// The damping of a search: what products of variance and curvature may be, of rows that are not at rest.
pub(super) struct Damping {
    limit: f64,
}

impl Default for Damping {
    fn default() -> Self {
        Self { limit: TRUSTED }
    }
}

impl Damping {
    /// The factor e of the likelihood's curvatures; 1 in a plain Newton step. `residual` is `g - a`.
    pub fn ease(&self, covariance: MatrixRef<'_>, curvatures: &[f64], residual: &[f64]) -> f64 {
        let each = curvatures.iter().zip(residual).enumerate();
        let stiffest = each.fold(0.0_f64, |most, (i, (w, pull))| {
            let variance = covariance[(i, i)];
            let is_at_rest = pull.abs() <= AT_REST * w * variance.sqrt();
            if is_at_rest {
                most
            } else {
                most.max(w * variance)
            }
        });
        if stiffest > self.limit {
            self.limit / stiffest
        } else {
            1.0
        }
    }

    /// Learns from a step that was taken, as so much of its full length.
    pub fn after(&mut self, share: f64) {
        if share < LEAST_SHARE {
            self.tighten();
        } else {
            self.limit = (LOOSEN * self.limit).min(TRUSTED);
        }
    }

    /// Damps more after a step that led nowhere; false where nothing is left to try.
    pub fn tighten(&mut self) -> bool {
        let was = self.limit;
        self.limit = (TIGHTEN * was).min(FIRST_LIMIT);
        was > LEAST_LIMIT
    }
}
