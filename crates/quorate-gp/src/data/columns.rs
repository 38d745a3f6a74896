//! What the encoded input columns are: the names a kernel's brackets refer to.

use serde::{Deserialize, Serialize};

/// What one encoded column holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// A standardised number (number, boolean or date in the table).
    Number,
    /// 1 where the number of the same name is missing, else 0.
    Missing,
    /// A level code; code `levels` stands for every level not seen in training.
    Category {
        /// Number of levels seen in training.
        levels: usize,
    },
}

/// One encoded column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputColumn {
    /// Name of the table's column it comes from.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Standard deviation by which the table's numbers were divided (1 for categories and indicators).
    pub deviation: f64,
}

impl InputColumn {
    /// Name shown to people: the column's, with a mark for the missing-value indicator.
    pub fn label(&self) -> String {
        match self.kind {
            ColumnKind::Missing => format!("{} missing", self.name),
            _ => self.name.clone(),
        }
    }
}
