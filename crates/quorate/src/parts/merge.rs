//! The sum of models.

use std::collections::BTreeSet;

use quorate_gp::data::ColumnKind;

use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::landmarks::{Committee, SummaryTree};
use crate::model::Model;

impl Model {
    /// Adds models that share scaling, kernel, noise and landmarks. Sums in the order of part names, so that a given set
    /// of models gives the same bytes in any order. Names serve messages only: one for each model.
    pub fn merge(models: Vec<(String, Model)>) -> Result<Model> {
        let mut opened = Vec::with_capacity(models.len());
        for (name, model) in models {
            let blame = |error: Error| Error::Spec(format!("{name}: {error}"));
            let (fitted, committee) = model.into_committee("be merged").map_err(blame)?;
            let first = committee.parts.iter().map(|part| &part.record.name).min();
            let key = (first.cloned(), serde_json::to_string(&fitted).ok());
            opened.push((key, name, fitted, committee));
        }
        opened.sort_by(|a, b| a.0.cmp(&b.0));
        let mut sorted = opened.into_iter();
        let Some((_, name, fitted, mut committee)) = sorted.next() else {
            return Err(Error::Spec("there is no model to merge".into()));
        };
        let mut tree = SummaryTree::of_outputs(committee.total.outputs());
        tree.push(committee.total.clone())?;
        for (_, other, their_fitted, theirs) in sorted {
            let differs = differences(&fitted, &committee, &their_fitted, &theirs);
            if !differs.is_empty() {
                return Err(Error::Spec(format!(
                    "{other} and {name} differ in {}: only models that start from one `quorate prepare` or one model can be merged",
                    differs.join(", ")
                )));
            }
            tree.push(theirs.total)?;
            committee.parts.extend(theirs.parts);
        }
        committee.total = tree.total(committee.total.landmarks())?;
        committee
            .parts
            .sort_by(|a, b| a.record.name.cmp(&b.record.name));
        let mut seen = BTreeSet::new();
        for part in &committee.parts {
            if !seen.insert(part.record.name.as_str()) {
                return Err(Error::Spec(format!(
                    "two of the models have a part `{}`: its rows would count twice; if they are different rows, give them different names with `--part-name`",
                    part.record.name
                )));
            }
        }
        committee.sum_again()?;
        Model::of_committee(fitted, committee)
    }
}

/// What two models do not have in common, in words.
pub(super) fn differences(
    ours: &Fitted,
    our_committee: &Committee,
    theirs: &Fitted,
    their_committee: &Committee,
) -> Vec<&'static str> {
    let columns = |fitted: &Fitted| -> Vec<(String, ColumnKind)> {
        let columns = fitted.schema.columns().iter();
        columns.map(|c| (c.name.clone(), c.kind.clone())).collect()
    };
    let same_columns =
        columns(ours) == columns(theirs) && ours.schema.roles() == theirs.schema.roles();
    [
        ("their columns", !same_columns),
        (
            "the scaling or categories of their columns",
            same_columns && ours.schema != theirs.schema,
        ),
        ("their kernel", ours.found.kernel != theirs.found.kernel),
        (
            "their noise variance",
            ours.found.noise.variance.to_bits() != theirs.found.noise.variance.to_bits(),
        ),
        (
            "their likelihood",
            ours.found.through != theirs.found.through,
        ),
        (
            "their landmarks",
            !our_committee.same_landmarks(their_committee),
        ),
    ]
    .iter()
    .filter(|(_, differs)| *differs)
    .map(|(what, _)| *what)
    .collect()
}
