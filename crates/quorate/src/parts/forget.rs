//! One part less.

use quorate_gp::data::{Frame, InMemory};
use quorate_gp::watch::Watch;
use serde::Serialize;

use super::{bound, expansion};
use crate::error::{Error, Result};
use crate::landmarks::{Ear, Listener, Part, Summary, fingerprint};
use crate::model::Model;
use crate::partition::Labels;

/// Which part to forget: by its name, by its rows, or by both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forget<'a> {
    /// Its name.
    pub part: Option<&'a str>,
    /// Its rows.
    pub rows: Option<&'a Frame>,
}

/// What was removed from a model, and what was not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// Name of the part.
    pub part: String,
    /// Rows it had.
    pub rows: usize,
    /// SHA-256 of its encoded rows.
    pub fingerprint: String,
    /// Where its summary came from: `kept` in the model, or `recomputed` from its rows.
    pub summary: &'static str,
    /// What no longer holds anything of it.
    pub removed: Vec<&'static str>,
    /// What was learned with it, perhaps, and was not computed again.
    pub not_recomputed: Vec<&'static str>,
    /// Parts that remain.
    pub parts_left: usize,
    /// Rows that remain.
    pub rows_left: usize,
}

const REMOVED: [&str; 4] = [
    "information and vector of the summary",
    "log evidence",
    "row count",
    "name and fingerprint",
];
const NOT_RECOMPUTED: [&str; 5] = [
    "scaling and categories of the columns",
    "landmarks and the range they were chosen from",
    "kernel and hyperparameters",
    "held-out scores",
    "notes of the fit",
];

impl Model {
    /// Takes a part out: its own summary where it was kept, or one recomputed from its rows, which must be the same rows.
    pub fn forget(self, what: Forget<'_>, watch: &dyn Watch) -> Result<(Model, Certificate)> {
        let (fitted, mut committee) = self.into_committee("forget a part")?;
        let data = match what.rows {
            Some(table) => Some(fitted.schema.training_data(table)?),
            None => None,
        };
        let print = data.as_ref().map(fingerprint);
        let index = find(&committee.parts, what.part, print.as_deref())?;
        let part = committee.parts.remove(index);
        let (summary, source): (Summary, &str) = match (part.kept, &data) {
            (Some(kept), _) => (kept, "kept"),
            (None, Some(data)) => {
                let landmarks = committee.under(bound(&fitted)?)?;
                let expansion = expansion(&fitted, &committee, &landmarks)?;
                let ear = Ear {
                    landmarks: &landmarks,
                    noise: fitted.found.noise,
                    expansion: expansion.as_ref().map(|own| (&fitted.schema, own)),
                };
                let cut = &part.record.cut;
                let summary = match (&part.record.streamed, what.rows) {
                    (Some(how), Some(table)) => {
                        let listener = Listener {
                            schema: &fitted.schema,
                            ear,
                            cut,
                        };
                        let mut table = InMemory::new(table.clone());
                        listener.summarise(&mut table, how, &committee, watch)?
                    }
                    (_, table) => {
                        let labels = match table {
                            Some(table) => Labels::of(&cut.parts, table)?,
                            None => None,
                        };
                        ear.summarise(data, cut, labels.as_ref(), watch)?
                    }
                };
                (summary, "recomputed")
            }
            (None, None) => {
                return Err(Error::Spec(format!(
                    "the summary of part `{}` was not kept: give its rows with `--data FILE`",
                    part.record.name
                )));
            }
        };
        let (count, outputs) = (committee.total.landmarks(), committee.total.outputs());
        committee.total = if committee.parts.is_empty() {
            Summary::empty(count, outputs)
        } else {
            committee.total.remove(&summary)?
        };
        committee.sum_again()?;
        let certificate = Certificate {
            part: part.record.name,
            rows: part.record.rows,
            fingerprint: part.record.fingerprint,
            summary: source,
            removed: REMOVED.to_vec(),
            not_recomputed: NOT_RECOMPUTED.to_vec(),
            parts_left: committee.parts.len(),
            rows_left: committee.rows().0,
        };
        Ok((Model::of_committee(fitted, committee)?, certificate))
    }
}

/// The part meant, by name and by rows.
fn find(parts: &[Part], name: Option<&str>, print: Option<&str>) -> Result<usize> {
    let by_name = match name {
        Some(name) => {
            let names = || parts.iter().map(|part| part.record.name.as_str());
            let found = names().position(|own| own == name);
            Some(found.ok_or_else(|| {
                let list: Vec<&str> = names().collect();
                let known = match list.len() {
                    0 => "it has none".to_owned(),
                    _ => format!("it has {}", list.join(", ")),
                };
                Error::Spec(format!("the model has no part `{name}`: {known}"))
            })?)
        }
        None => None,
    };
    match (by_name, print) {
        (Some(index), Some(print)) if parts[index].record.fingerprint != print => {
            Err(Error::Spec(format!(
                "these are not the rows of part `{}`: their fingerprint is {print}, that of the part is {}",
                parts[index].record.name, parts[index].record.fingerprint
            )))
        }
        (Some(index), _) => Ok(index),
        (None, Some(print)) => {
            let found = parts.iter().position(|p| p.record.fingerprint == print);
            found.ok_or_else(|| {
                Error::Spec(format!(
                    "no part of the model has these rows (fingerprint {print}); `quorate inspect` lists its parts"
                ))
            })
        }
        (None, None) => Err(Error::Spec(
            "name the part to forget, or give its rows".into(),
        )),
    }
}
