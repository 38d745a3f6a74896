//! What the columns of a text table hold, told from their cells.

use csv::ByteRecord;
use quorate_gp::data::ColumnType;
use quorate_gp::error::Location;
use quorate_gp::{Error, Result};

use crate::cell;
use crate::date;
use crate::plan::Plan;

/// Types of columns, narrowed down cell by cell.
pub(crate) struct Inference {
    /// What all cells of a column were so far; nothing while they were missing.
    found: Vec<Option<ColumnType>>,
}

impl Inference {
    pub fn new(plan: &Plan) -> Self {
        Self {
            found: plan.expected.clone(),
        }
    }

    /// True when cells can tell no more than is known.
    pub fn is_settled(plan: &Plan) -> bool {
        plan.expected.iter().all(Option::is_some)
    }

    /// Takes a row into account.
    pub fn observe(
        &mut self,
        record: &ByteRecord,
        plan: &Plan,
        row: usize,
        source: &str,
    ) -> Result<()> {
        for (index, found) in self.found.iter_mut().enumerate() {
            if plan.expected[index].is_some() {
                continue;
            }
            let cell = &record[plan.positions[index]];
            let fits = match found {
                None => {
                    *found = cell::kind(cell);
                    *found != Some(ColumnType::Text)
                }
                Some(ColumnType::Number) => cell::number(cell).is_some(),
                Some(ColumnType::Boolean) => cell::boolean(cell).is_some(),
                Some(ColumnType::Date) => date::parse(cell).is_some(),
                Some(ColumnType::Text) => false,
            };
            if !fits && !cell::is_missing(cell) {
                *found = Some(ColumnType::Text);
                check_text(cell, source, row, &plan.names[index])?;
            }
        }
        Ok(())
    }

    /// The types; a column without any value is one of numbers.
    pub fn types(self) -> Vec<ColumnType> {
        self.found
            .into_iter()
            .map(|found| found.unwrap_or(ColumnType::Number))
            .collect()
    }
}

/// The cell as text; an error with its place when it is not UTF-8.
pub(crate) fn check_text<'c>(
    cell: &'c [u8],
    source: &str,
    row: usize,
    column: &str,
) -> Result<&'c str> {
    std::str::from_utf8(cell).map_err(|_| {
        Error::data(
            Location::in_source(source).row(row).column(column),
            "the text is not valid UTF-8; save the table as UTF-8",
        )
    })
}
