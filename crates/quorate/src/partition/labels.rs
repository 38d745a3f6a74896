//! The part of each row by a column of the table.

use std::collections::HashMap;

use quorate_gp::data::{Column, Dataset, Frame, unknown_column};

use super::PartChoice;
use crate::error::Result;

/// A code for each row of a table: the same for rows with the same value in the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels(Vec<u32>);

impl Labels {
    /// The codes of the column that the choice names; none where it names no column. Missing cells share a code.
    pub fn of(choice: &PartChoice, table: &Frame) -> Result<Option<Self>> {
        let PartChoice::Column(name) = choice else {
            return Ok(None);
        };
        let Some(column) = table.column(name) else {
            return Err(unknown_column(&table.header, name).into());
        };
        Ok(Some(Self(match column {
            // Minus zero equals zero, and all missing numbers are one.
            Column::Number(cells) => codes(cells.iter().map(|cell| {
                let missing = cell.is_nan();
                if missing {
                    None
                } else {
                    Some((cell + 0.0).to_bits())
                }
            })),
            Column::Text(cells) => codes(cells.iter().map(Option::as_deref)),
        })))
    }

    /// Codes given directly.
    pub fn of_codes(codes: Vec<u32>) -> Self {
        Self(codes)
    }

    /// The distinct rows of each label, labels in the order of their first row. Rows with equal inputs were merged: they
    /// go where the first of them belongs.
    pub fn lists(&self, data: &Dataset) -> Vec<Vec<usize>> {
        let mut code_of = vec![None; data.rows()];
        for member in data.members() {
            let code = self.0.get(member.row).copied().unwrap_or(0);
            code_of[member.group].get_or_insert(code);
        }
        let mut lists: Vec<Vec<usize>> = Vec::new();
        let mut place = HashMap::new();
        for (row, code) in code_of.iter().enumerate() {
            let list = *place.entry(*code).or_insert_with(|| {
                lists.push(Vec::new());
                lists.len() - 1
            });
            lists[list].push(row);
        }
        lists
    }
}

fn codes<T: std::hash::Hash + Eq>(cells: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known = HashMap::new();
    cells
        .map(|cell| {
            let next = known.len() as u32;
            *known.entry(cell).or_insert(next)
        })
        .collect()
}
