//! Rows that lie outside the range that scaling and landmarks were learned from.

use quorate_gp::data::{ColumnKind, Dataset, Schema};

use super::Committee;

/// Counts rows outside the range of each column, part after part.
#[derive(Clone, Debug)]
pub struct Strays {
    range: Vec<(f64, f64)>,
    outside: Vec<usize>,
    rows: usize,
}

impl Strays {
    /// No row looked at yet.
    pub fn new(schema: &Schema, committee: &Committee) -> Self {
        let kinds = schema.columns().iter().zip(&committee.range);
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let range: Vec<(f64, f64)> = kinds
            .map(|(column, range)| match column.kind {
                ColumnKind::Number => *range,
                _ => unbounded,
            })
            .collect();
        Self {
            outside: vec![0; range.len()],
            range,
            rows: 0,
        }
    }

    /// Looks at further rows.
    pub fn observe(&mut self, data: &Dataset) {
        self.rows += data.rows();
        for row in 0..data.rows() {
            let cells = data.inputs().row(row).iter().zip(&self.range);
            for (count, (value, (low, high))) in self.outside.iter_mut().zip(cells) {
                *count += usize::from(value < low || value > high);
            }
        }
    }

    /// A sentence for people about each column that rows leave.
    pub fn notes(&self, schema: &Schema) -> Vec<String> {
        let mut notes = Vec::new();
        for (index, column) in schema.columns().iter().enumerate() {
            let count = self.outside.get(index).copied().unwrap_or(0);
            let Some(scale) = schema.scale(&column.name).filter(|_| count > 0) else {
                continue;
            };
            let (low, high) = self.range[index];
            notes.push(format!(
                "column `{}`: {count} of {} rows lie outside the {} to {} that the landmarks were chosen from; answers there stay close to the prior",
                column.name,
                self.rows,
                short(scale.undo(low)),
                short(scale.undo(high)),
            ));
        }
        notes
    }
}

/// A number for a sentence: six digits are enough.
fn short(value: f64) -> String {
    let text = format!("{value:.5e}");
    text.parse::<f64>()
        .map_or(text, |rounded| rounded.to_string())
}
