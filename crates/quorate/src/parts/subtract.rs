//! A sum of parts without some of them.

use super::merge::differences;
use crate::error::{Error, Result};
use crate::landmarks::Summary;
use crate::model::Model;

impl Model {
    /// Takes the parts of `other` out of this model: the inverse of `merge`, to rounding. Every part of `other` must be
    /// one of this model's, with the same rows.
    pub fn subtract(self, other: Model) -> Result<Model> {
        let (fitted, mut committee) = self.into_committee("give up parts")?;
        let (their_fitted, theirs) = other.into_committee("be subtracted")?;
        let differs = differences(&fitted, &committee, &their_fitted, &theirs);
        if !differs.is_empty() {
            return Err(Error::Spec(format!(
                "the two differ in {}: only models that start from one `quorate prepare` or one model can be subtracted",
                differs.join(", ")
            )));
        }
        for part in &theirs.parts {
            let name = &part.record.name;
            let index = committee
                .parts
                .iter()
                .position(|own| own.record.name == *name);
            match index {
                Some(index)
                    if committee.parts[index].record.fingerprint == part.record.fingerprint =>
                {
                    committee.parts.remove(index);
                }
                Some(_) => {
                    return Err(Error::Spec(format!(
                        "part `{name}` has other rows here than in what is subtracted"
                    )));
                }
                None => {
                    return Err(Error::Spec(format!(
                        "part `{name}` is not here and cannot be subtracted"
                    )));
                }
            }
        }
        committee.total = if committee.parts.is_empty() {
            Summary::empty(committee.total.landmarks(), committee.total.outputs())
        } else {
            committee.total.remove(&theirs.total)?
        };
        committee.sum_again()?;
        Model::of_committee(fitted, committee)
    }
}
