//! A part on its way: what a site, a worker or a batch job sends, and what is looked at before it is believed.

use std::collections::BTreeSet;

use quorate_gp::data::Frame;
use quorate_gp::linalg::{Factor, JitterPolicy};
use quorate_gp::watch::Watch;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::landmarks::{Committee, Part, PartRecord, State, Summary, SummaryTree};
use crate::model::Model;

/// A part's summary with what belongs to it: sums over rows, never the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMessage {
    /// Fingerprint of columns, scaling, kernel, noise and landmarks under which it was made.
    pub shared: String,
    /// What it says to the landmarks.
    pub summary: Summary,
    /// Its name, its rows, how they were cut.
    pub record: PartRecord,
}

/// How far below zero rounding may leave an information, relative to the mean of its diagonal.
const TOLERANCE: f64 = 1e-9;
/// Characters of a part's name.
const LONGEST_NAME: usize = 200;

impl PartMessage {
    /// Reads a message; `origin` names it in errors.
    pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<Self> {
        crate::file::part_from_bytes(bytes, origin)
    }

    /// The message as bytes: versioned and checksummed.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        crate::file::part_to_bytes(self)
    }

    /// Refuses numbers that no rows could have given: not finite, fewer than no rows, an information that is not positive
    /// semi-definite. (It is symmetric by construction: one triangle travels.)
    pub fn check(&self) -> std::result::Result<(), String> {
        let (summary, record) = (&self.summary, &self.record);
        let name = &record.name;
        if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err("its name cannot be used".into());
        }
        if record.fingerprint.len() != 64
            || !record.fingerprint.chars().all(|c| c.is_ascii_hexdigit())
        {
            return Err("it has no fingerprint of its rows".into());
        }
        if record.rows == 0 || !(summary.rows > 0.0 && summary.rows.is_finite()) {
            return Err("it has no rows".into());
        }
        let count = summary.landmarks();
        let lower = (0..count).flat_map(|c| &summary.information.col_as_slice(c)[c..]);
        let outputs = 0..summary.outputs();
        let vector = outputs.flat_map(|output| summary.vector.col_as_slice(output));
        let mut numbers = lower.chain(vector).chain([&summary.log_evidence]);
        if numbers.any(|number| !number.is_finite()) {
            return Err("a number in it is not finite".into());
        }
        let trace: f64 = (0..count).map(|i| summary.information[(i, i)]).sum();
        if (0..count).any(|i| summary.information[(i, i)] < 0.0) || trace <= 0.0 {
            return Err("its information is negative somewhere".into());
        }
        let once = JitterPolicy {
            start: TOLERANCE,
            first: 0.0,
            last: 0.0,
        };
        Factor::new(count, once, |mut out| out.copy_from(&summary.information))
            .map(|_| ())
            .map_err(|_| "its information is not positive semi-definite".into())
    }
}

impl Model {
    /// Fingerprint of everything that parts must have in common to be added: columns, scaling and categories, kernel,
    /// noise, landmarks.
    pub fn shared_fingerprint(&self) -> Result<String> {
        let State::Committee(committee) = &self.state else {
            return Err(keeps_rows());
        };
        let json = |error: serde_json::Error| Error::Spec(error.to_string());
        let mut hash = Sha256::new();
        hash.update(serde_json::to_string(self.schema()).map_err(json)?);
        hash.update(serde_json::to_string(self.kernel()).map_err(json)?);
        let noise = [self.fitted.found.noise.variance];
        for value in noise.iter().chain(&committee.landmarks) {
            hash.update(value.to_bits().to_le_bytes());
        }
        let bytes = hash.finalize();
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The message of a table's rows as a part of this model, which stays as it is; also sentences for people about them.
    pub fn part_message(
        &self,
        table: &Frame,
        name: &str,
        watch: &dyn Watch,
    ) -> Result<(PartMessage, Vec<String>)> {
        let shared = self.shared_fingerprint()?;
        let (updated, notes) = self.emptied()?.update(table, name, true, watch)?;
        let part = match updated.state {
            State::Committee(committee) => committee.parts.into_iter().next(),
            _ => None,
        };
        let Some(Part {
            record,
            kept: Some(summary),
        }) = part
        else {
            return Err(keeps_rows());
        };
        Ok((
            PartMessage {
                shared,
                summary,
                record,
            },
            notes,
        ))
    }

    /// Adds parts that came from elsewhere, in the order of their names: the same parts give the same bytes whoever was
    /// first. Each is checked; the first that cannot be believed is named, and nothing is added. With `keep` every part
    /// can be forgotten by its name.
    pub fn absorb(self, messages: Vec<(String, PartMessage)>, keep: bool) -> Result<Model> {
        let shared = self.shared_fingerprint()?;
        let (fitted, mut committee) = self.into_committee("be added to")?;
        let mut names: BTreeSet<String> = committee
            .parts
            .iter()
            .map(|part| part.record.name.clone())
            .collect();
        for (origin, message) in &messages {
            believable(&committee, &shared, message)
                .map_err(|problem| Error::Spec(format!("{origin}: {problem}")))?;
            let name = &message.record.name;
            if !names.insert(name.clone()) {
                return Err(Error::Spec(format!(
                    "{origin}: there is a part `{name}` already; its rows would count twice"
                )));
            }
        }
        let mut messages: Vec<PartMessage> = messages.into_iter().map(|(_, own)| own).collect();
        messages.sort_by(|a, b| a.record.name.cmp(&b.record.name));
        let keep = keep || fitted.spec.keep_parts;
        let mut tree = SummaryTree::of_outputs(committee.total.outputs());
        if !committee.parts.is_empty() {
            tree.push(committee.total.clone())?;
        }
        for PartMessage {
            summary, record, ..
        } in messages
        {
            let kept = keep.then(|| summary.clone());
            tree.push(summary)?;
            committee.parts.push(Part { record, kept });
        }
        committee.total = tree.total(committee.total.landmarks())?;
        committee
            .parts
            .sort_by(|a, b| a.record.name.cmp(&b.record.name));
        committee.sum_again()?;
        Model::of_committee(fitted, committee)
    }

    /// Refuses a message that cannot be added here, and says why; `origin` names it.
    pub fn check_part(&self, message: &PartMessage, origin: &str) -> Result<()> {
        let shared = self.shared_fingerprint()?;
        let committee = self.committee().ok_or_else(keeps_rows)?;
        believable(committee, &shared, message)
            .map_err(|problem| Error::Spec(format!("{origin}: {problem}")))
    }

    /// The same landmarks with no rows.
    fn emptied(&self) -> Result<Model> {
        let mut model = self.fork();
        match &mut model.state {
            State::Committee(committee) if committee.drawn.is_empty() => {
                let total = &committee.total;
                committee.total = Summary::empty(total.landmarks(), total.outputs());
                committee.parts.clear();
                Ok(model)
            }
            _ => Err(keeps_rows()),
        }
    }
}

/// Why a message cannot be added, if it cannot.
fn believable(
    committee: &Committee,
    shared: &str,
    message: &PartMessage,
) -> std::result::Result<(), String> {
    if message.shared != shared {
        return Err(
            "it was made under other columns, scaling, kernel, noise or landmarks: only parts of one `quorate prepare` can be added"
                .into(),
        );
    }
    let (ours, theirs) = (&committee.total, &message.summary);
    if (ours.landmarks(), ours.outputs()) != (theirs.landmarks(), theirs.outputs()) {
        return Err("it speaks of another number of landmarks or outputs".into());
    }
    message.check()
}

fn keeps_rows() -> Error {
    Error::Spec(
        "only a model that speaks through landmarks and keeps no rows has parts that travel: use `quorate prepare`"
            .into(),
    )
}
