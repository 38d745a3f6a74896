//! Encoded inputs that own their numbers, and what was met while encoding.

use crate::data::Inputs;

use super::encoder::{Counts, Encoder, Rule};

/// The inputs of a table as numbers, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// Rows of `width` numbers; all finite.
    pub values: Vec<f64>,
    /// Number of rows.
    pub rows: usize,
    /// Number of encoded columns.
    pub width: usize,
    /// Logarithm of each row's exposure; empty where there is none.
    pub offsets: Vec<f64>,
    /// Input cells without a value.
    pub missing_cells: usize,
    /// Text cells whose level training did not have.
    pub unseen_levels: usize,
    /// Plain sentences for people, the same for every batch of a table so that they can be shown once.
    pub notes: Vec<String>,
}

impl Encoded {
    /// The numbers for the mathematics.
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs::of_checked(&self.values, self.rows, self.width)
    }

    pub(super) fn zeros(rows: usize, width: usize) -> Self {
        Self {
            values: vec![0.0; rows * width],
            rows,
            width,
            offsets: Vec::new(),
            missing_cells: 0,
            unseen_levels: 0,
            notes: Vec::new(),
        }
    }

    /// Adds what one column met; a note when training met nothing of the kind, with what stands for a missing number.
    pub(super) fn count(&mut self, encoder: &Encoder, counts: Counts, stand_in: &str) {
        self.missing_cells += counts.missing;
        self.unseen_levels += counts.unseen;
        let name = &encoder.name;
        if counts.missing > 0 && encoder.missing_cells == 0 {
            self.notes.push(match encoder.rule {
                Rule::Number(_) => format!(
                    "column `{name}` has missing cells, which training did not have; {stand_in} stands for them"
                ),
                Rule::Category { .. } => format!(
                    "column `{name}` has missing cells, which training did not have; they count as a level not seen"
                ),
            });
        }
        if counts.unseen > 0 {
            self.notes
                .push(format!("column `{name}` has levels not seen in training"));
        }
    }
}
