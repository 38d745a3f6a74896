//! What a landmarks model holds in place of rows: the landmarks, the sum of all parts, and what it remembers of each.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::BoundKernel;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::parts::Cut;
use super::stream::{Pass, Streamed};
use super::{LandmarkBelief, Landmarks, Summary, SummaryTree};
use crate::error::Result;
use crate::mixture::MixtureState;
use crate::partition::PartedRows;

/// A part the model remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What is remembered of it.
    pub record: PartRecord,
    /// Its own summary, where it was kept.
    pub kept: Option<Summary>,
}

/// What is remembered of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// Its name, unique in the model.
    pub name: String,
    /// Rows of the table.
    pub rows: usize,
    /// Rows with different inputs.
    pub distinct_rows: usize,
    /// SHA-256 of the encoded rows.
    pub fingerprint: String,
    /// How the rows were given to experts.
    pub cut: Cut,
    /// How they came, where they were too many to be held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streamed: Option<Streamed>,
}

impl PartRecord {
    /// A record of these rows.
    pub fn new(name: &str, data: &Dataset, cut: Cut) -> Self {
        Self {
            name: name.to_owned(),
            rows: data.members().len(),
            distinct_rows: data.rows(),
            fingerprint: fingerprint(data),
            cut,
            streamed: None,
        }
    }

    /// A record of rows that were absorbed as they came.
    pub fn of_pass(name: &str, pass: &Pass, cut: Cut, streamed: Streamed) -> Self {
        Self {
            name: name.to_owned(),
            rows: pass.rows,
            distinct_rows: pass.distinct_rows,
            fingerprint: pass.fingerprint.clone(),
            cut,
            streamed: Some(streamed),
        }
    }
}

/// SHA-256 of the rows as the model encodes them: inputs, target, weight and known noise of each row, in their order.
pub fn fingerprint(data: &Dataset) -> String {
    let mut hash = Fingerprint::default();
    hash.update(data);
    hash.finish()
}

/// A fingerprint of rows that come in chunks: the same as of all of them together.
#[derive(Clone, Default)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    pub fn update(&mut self, data: &Dataset) {
        for (index, member) in data.members().iter().enumerate() {
            let own = [member.weight, data.known_noise()[member.group]];
            let inputs = data.inputs().row(member.group).iter().copied();
            for value in inputs.chain(data.own_targets(index)).chain(own) {
                // Minus zero equals zero.
                self.0.update((value + 0.0).to_le_bytes());
            }
        }
    }

    /// The fingerprint so far, as plain numbers for a journal.
    pub fn numbers(&self) -> Vec<f64> {
        let bytes = self.0.clone().finalize();
        bytes.iter().map(|byte| f64::from(*byte)).collect()
    }

    pub fn finish(self) -> String {
        let bytes = self.0.finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Landmarks and what all parts together know, seen from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Committee {
    /// Inputs of the landmarks, row after row.
    pub landmarks: Vec<f64>,
    /// Number of encoded columns.
    pub width: usize,
    /// Least and greatest value of each encoded column in the rows the landmarks were chosen from.
    pub range: Vec<(f64, f64)>,
    /// The sum of all parts.
    pub total: Summary,
    /// The parts.
    pub parts: Vec<Part>,
    /// The sum of all parts at each draw of the hyperparameters that predictions average over; usually none.
    pub drawn: Vec<Summary>,
    /// Whitened weights of the function at which rows with a likelihood expand; none with Gaussian noise.
    pub anchor: Option<Vec<f64>>,
}

impl Committee {
    /// Landmarks that have heard nothing yet.
    pub fn new(landmarks: &Landmarks, outputs: usize, seen: Inputs<'_>) -> Self {
        let inputs = landmarks.inputs();
        let mut range = vec![(f64::INFINITY, f64::NEG_INFINITY); inputs.width()];
        for row in 0..seen.rows() {
            for ((low, high), value) in range.iter_mut().zip(seen.row(row)) {
                *low = low.min(*value);
                *high = high.max(*value);
            }
        }
        Self {
            landmarks: inputs.values().to_vec(),
            width: inputs.width(),
            range,
            total: Summary::empty(landmarks.count(), outputs),
            parts: Vec::new(),
            drawn: Vec::new(),
            anchor: None,
        }
    }

    /// Inputs of the landmarks.
    pub fn inputs(&self) -> Result<Inputs<'_>> {
        let rows = self.landmarks.len().checked_div(self.width).unwrap_or(0);
        Ok(Inputs::new(&self.landmarks, rows, self.width)?)
    }

    /// The landmarks under a kernel.
    pub fn under(&self, kernel: BoundKernel) -> Result<Landmarks> {
        Ok(Landmarks::new(kernel, self.inputs()?)?)
    }

    /// What the landmarks believe.
    pub fn belief(&self, kernel: BoundKernel) -> Result<LandmarkBelief> {
        self.belief_of(kernel, &self.total)
    }

    /// What they believe given another sum of the parts.
    pub fn belief_of(&self, kernel: BoundKernel, total: &Summary) -> Result<LandmarkBelief> {
        Ok(LandmarkBelief::new(self.under(kernel)?, total)?)
    }

    /// Adds a part; its summary is kept on demand.
    pub fn add(&mut self, record: PartRecord, summary: Summary, keep: bool) -> Result<()> {
        let total = std::mem::replace(&mut self.total, Summary::empty(0, 1));
        self.total = if self.parts.is_empty() {
            summary.clone()
        } else {
            total.merge(&summary)?
        };
        let kept = keep.then_some(summary);
        self.parts.push(Part { record, kept });
        self.sum_again()
    }

    /// Where every part was kept, the total is their sum in the order of their names: the same bytes whatever came first,
    /// and no trace of a part that was removed.
    pub fn sum_again(&mut self) -> Result<()> {
        let mut parts: Vec<&Part> = self.parts.iter().collect();
        parts.sort_by(|a, b| a.record.name.cmp(&b.record.name));
        let kept: Option<Vec<&Summary>> = parts.iter().map(|part| part.kept.as_ref()).collect();
        if let Some(kept) = kept {
            let mut tree = SummaryTree::of_outputs(self.total.outputs());
            for summary in kept {
                tree.push(summary.clone())?;
            }
            self.total = tree.total(self.total.landmarks())?;
        }
        Ok(())
    }

    /// Rows of all parts, and rows with different inputs within their part.
    pub fn rows(&self) -> (usize, usize) {
        let records = self.parts.iter().map(|part| &part.record);
        records.fold((0, 0), |(rows, distinct), record| {
            (rows + record.rows, distinct + record.distinct_rows)
        })
    }

    /// True when both speak through the same landmarks, and rows expand at the same function, to the last bit.
    pub fn same_landmarks(&self, other: &Committee) -> bool {
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let anchors = [self, other].map(|own| bits(own.anchor.as_deref().unwrap_or(&[])));
        self.width == other.width
            && bits(&self.landmarks) == bits(&other.landmarks)
            && anchors[0] == anchors[1]
    }
}

/// Where the rows of a model are: kept as they are, or summed up.
#[allow(
    clippy::large_enum_variant,
    reason = "a model has one state: nothing is gained by another allocation"
)]
#[derive(Clone, Debug)]
pub enum State {
    /// The rows themselves.
    Rows(Dataset),
    /// The rows, in parts.
    Parts(PartedRows),
    /// What they said to the landmarks.
    Committee(Committee),
    /// The rows, in parts, and what they said to the landmarks.
    Supported(PartedRows, Committee),
    /// The rows, and what they say to each process of a mixture.
    Mixture(MixtureState),
}
