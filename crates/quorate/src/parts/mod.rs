//! What can be done with the parts of a landmarks model: add one, add models, take one away.
//!
//! Scaling, kernel, hyperparameters and landmarks never change here; that is what makes the sum of summaries exact.

mod forget;
mod merge;
mod message;
mod objective;
mod private;
mod subtract;
mod update;

pub use forget::{Certificate, Forget};
pub use message::PartMessage;
pub use objective::ObjectiveMessage;
pub use private::Privacy;
pub(crate) use update::further_cut;

use quorate_gp::kernel::BoundKernel;

use crate::error::{Error, Result};
use crate::expand::Expansion;
use crate::fit::Fitted;
use crate::landmarks::{Committee, Landmarks, State};
use crate::model::Model;

impl Model {
    /// Takes a landmarks model apart; `deed` says in the error what another model cannot do.
    fn into_committee(self, deed: &str) -> Result<(Fitted, Committee)> {
        match self.state {
            State::Committee(committee) if !committee.drawn.is_empty() => {
                Err(Error::Spec(format!(
                    "this model averages over draws of its hyperparameters and cannot {deed}: fit with another `--learn`"
                )))
            }
            State::Committee(committee) => Ok((self.fitted, committee)),
            State::Rows(_) | State::Parts(_) | State::Supported(..) | State::Mixture(_) => {
                Err(Error::Spec(format!(
                    "this model keeps its rows and cannot {deed}: fit with `--method committee --mode landmarks`, or `quorate prepare`"
                )))
            }
        }
    }

    /// Puts a landmarks model together again, with the evidence and the effective parameters of the new sum.
    fn of_committee(mut fitted: Fitted, committee: Committee) -> Result<Model> {
        let belief = committee.belief(bound(&fitted)?)?;
        fitted.found.log_evidence = Some(belief.log_evidence());
        fitted.found.effective_parameters = Some(belief.effective_parameters());
        Ok(Model::from_parts(fitted, State::Committee(committee)))
    }
}

/// The function at which rows with a likelihood expand; none with Gaussian noise.
fn expansion(
    fitted: &Fitted,
    committee: &Committee,
    landmarks: &Landmarks,
) -> Result<Option<Expansion>> {
    match (fitted.found.through, &committee.anchor) {
        (Some(through), Some(anchor)) => {
            Expansion::new(landmarks.clone(), through, anchor).map(Some)
        }
        _ => Ok(None),
    }
}

fn bound(fitted: &Fitted) -> Result<BoundKernel> {
    Ok(fitted.found.kernel.bind(fitted.schema.columns())?)
}
