//! Categories as columns of zeros and ones, for members that know numbers only.

use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
use serde::{Deserialize, Serialize};

/// How encoded inputs become numbers whose size means something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expansion {
    /// For each encoded column, the number of levels of a category, or none.
    levels: Vec<Option<usize>>,
}

impl Expansion {
    /// For these columns.
    pub fn of(columns: &[InputColumn]) -> Self {
        let levels = columns.iter().map(|column| match column.kind {
            ColumnKind::Category { levels } => Some(levels),
            _ => None,
        });
        Self {
            levels: levels.collect(),
        }
    }

    /// For inputs that hold no category.
    pub fn numbers(width: usize) -> Self {
        Self {
            levels: vec![None; width],
        }
    }

    /// Number of columns that come out.
    pub fn width(&self) -> usize {
        self.levels.iter().map(|levels| levels.unwrap_or(1)).sum()
    }

    /// The rows as numbers, row after row. A level not seen in training is no level: all its columns are 0.
    pub fn apply(&self, inputs: Inputs<'_>) -> Vec<f64> {
        let mut values = Vec::with_capacity(inputs.rows() * self.width());
        for row in 0..inputs.rows() {
            for (&cell, levels) in inputs.row(row).iter().zip(&self.levels) {
                match levels {
                    None => values.push(cell),
                    Some(count) => {
                        let ones = (0..*count).map(|code| f64::from(u8::from(cell == code as f64)));
                        values.extend(ones);
                    }
                }
            }
        }
        values
    }
}
