//! One more part.

use quorate_gp::data::{ColumnKind, Dataset, Frame, Schema};
use quorate_gp::watch::Watch;

use super::bound;
use crate::answers::Method;
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::landmarks::{Committee, Cut, PartRecord, summarise};
use crate::model::Model;
use crate::partition::Labels;

impl Model {
    /// Absorbs the rows of a table as a further part, in one pass: the same result as fitting them as parts of one table
    /// under the same scaling, kernel and landmarks. Returns sentences for people about the rows.
    pub fn update(
        self,
        table: &Frame,
        name: &str,
        keep: bool,
        watch: &dyn Watch,
    ) -> Result<(Model, Vec<String>)> {
        let (fitted, mut committee) = self.into_committee("be updated")?;
        check_name(&committee, name)?;
        let data = fitted.schema.training_data(table)?;
        if data.rows() == 0 {
            return Err(Error::Spec(format!("part `{name}` has no rows")));
        }
        let mut notes = fitted.schema.encode(table)?.notes;
        notes.extend(strays(&fitted.schema, &committee, &data));
        let how = further_cut(&fitted, data.rows());
        let landmarks = committee.under(bound(&fitted)?)?;
        let labels = Labels::of(&how.parts, table)?;
        let noise = fitted.found.noise;
        let summary = summarise(&landmarks, noise, &data, &how, labels.as_ref(), watch)?;
        let keep = keep || fitted.spec.keep_parts;
        committee.add(PartRecord::new(name, &data, how), summary, keep)?;
        Ok((Model::of_committee(fitted, committee)?, notes))
    }
}

/// How the rows of a further part are given to experts.
pub(crate) fn further_cut(fitted: &Fitted, rows: usize) -> Cut {
    Cut {
        parts: fitted.spec.parts_through_landmarks(),
        part_size: match fitted.found.method {
            Method::Landmarks(shape) => shape.part_size,
            _ => rows,
        },
        held_out: 0,
        seed: 0,
    }
}

fn check_name(committee: &Committee, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::Spec("a part needs a name: use `--part-name`".into()));
    }
    let taken = committee.parts.iter().any(|part| part.record.name == name);
    if taken {
        return Err(Error::Spec(format!(
            "the model has a part `{name}` already: give this one another name with `--part-name`"
        )));
    }
    Ok(())
}

/// Columns in which rows lie outside the range that scaling and landmarks were learned from.
fn strays(schema: &Schema, committee: &Committee, data: &Dataset) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, column) in schema.columns().iter().enumerate() {
        let Some((low, high)) = committee.range.get(index).copied() else {
            continue;
        };
        let Some(scale) = schema.scale(&column.name) else {
            continue;
        };
        if column.kind != ColumnKind::Number {
            continue;
        }
        let outside = |row: &usize| {
            let value = data.inputs().row(*row)[index];
            value < low || value > high
        };
        let count = (0..data.rows()).filter(outside).count();
        if count > 0 {
            notes.push(format!(
                "column `{}`: {count} of {} rows lie outside the {} to {} that the landmarks were chosen from; answers there stay close to the prior",
                column.name,
                data.rows(),
                short(scale.undo(low)),
                short(scale.undo(high)),
            ));
        }
    }
    notes
}

/// A number for a sentence: six digits are enough.
fn short(value: f64) -> String {
    let text = format!("{value:.5e}");
    text.parse::<f64>()
        .map_or(text, |rounded| rounded.to_string())
}
