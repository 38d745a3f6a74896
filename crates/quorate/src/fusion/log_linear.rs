//! Weighted products of densities: information adds.

use super::cell::information;
use super::{Cell, Moments, Reference};
use crate::error::{Error, Result};

/// `sum_i w_i information(opinion_i) + (1 - sum_i w_i) information(reference)` (Tresp 2000, eq. 4-5, pointwise; Deisenroth
/// and Ng 2015, eq. 21-22; Liu et al. 2018, eq. 14-15).
pub(super) fn combine(reference: Reference, weights: &[f64], cell: &Cell<'_>) -> Result<Moments> {
    let (mut precision, mut vector) = match reference {
        Reference::Nothing => (0.0, 0.0),
        Reference::Prior => cell.reference(),
        Reference::Base => {
            let base = cell.base.ok_or_else(|| {
                Error::Spec("this rule needs a member that saw only the shared rows".into())
            })?;
            information(base, 0.0)
        }
    };
    for (member, &weight) in weights.iter().enumerate() {
        let own = cell.information(member);
        // What the member knew before is in the reference already.
        let before = match reference {
            Reference::Nothing => (0.0, 0.0),
            Reference::Prior => cell.prior_information(member),
            Reference::Base => cell.base.map_or((0.0, 0.0), |base| information(base, 0.0)),
        };
        precision += weight * (own.0 - before.0);
        vector += weight * (own.1 - before.1);
    }
    // Members less sure than their own prior can take away more than there is.
    if precision > 0.0 && precision.is_finite() {
        Ok(Moments {
            mean: vector / precision,
            variance: 1.0 / precision,
        })
    } else {
        Err(Error::Spec(format!(
            "the members' precisions sum to {precision}; choose a rule whose weights sum to one"
        )))
    }
}
