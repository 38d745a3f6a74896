//! What the columns of a text table hold, told from their cells.

use csv::ByteRecord;
use quorate_gp::data::{ColumnType, Stray};
use quorate_gp::error::Location;
use quorate_gp::{Error, Result};

use crate::cell;
use crate::plan::Plan;

/// Types of columns, narrowed down cell by cell.
pub(crate) struct Inference {
    columns: Vec<Tally>,
}

/// What the cells of a column were so far.
#[derive(Default)]
struct Tally {
    /// What all of them were; nothing while they were missing.
    found: Option<ColumnType>,
    /// Cells that were not missing.
    cells: usize,
    numbers: Share,
    dates: Share,
}

/// How many cells are of a kind, and the first that is not, with its row.
#[derive(Default)]
struct Share {
    count: usize,
    first_other: Option<(usize, String)>,
}

impl Share {
    fn observe(&mut self, fits: bool, cell: &[u8], row: usize) {
        if fits {
            self.count += 1;
        } else if self.first_other.is_none() {
            self.first_other = Some((row, cell::shown(cell)));
        }
    }
}

impl Tally {
    fn observe(&mut self, cell: &[u8], row: usize) {
        let Some(kind) = cell::kind(cell) else {
            return;
        };
        self.found = match self.found {
            Some(before) if before != kind => Some(ColumnType::Text),
            _ => Some(kind),
        };
        self.cells += 1;
        self.numbers.observe(kind == ColumnType::Number, cell, row);
        self.dates.observe(kind == ColumnType::Date, cell, row);
    }

    /// The first cell that is not like nearly all others, where it made the column text.
    fn stray(self, name: &str) -> Option<Stray> {
        if self.found != Some(ColumnType::Text) {
            return None;
        }
        let kinds = [
            (ColumnType::Number, self.numbers),
            (ColumnType::Date, self.dates),
        ];
        let is_nearly_all = |share: &Share| Stray::are(self.cells - share.count, self.cells);
        let (others, share) = kinds.into_iter().find(|(_, share)| is_nearly_all(share))?;
        let (row, text) = share.first_other?;
        Some(Stray {
            column: name.into(),
            row,
            text,
            others,
            cells: self.cells,
            strays: self.cells - share.count,
        })
    }
}

impl Inference {
    pub fn new(plan: &Plan) -> Self {
        let known = |found: &Option<ColumnType>| Tally {
            found: *found,
            ..Tally::default()
        };
        Self {
            columns: plan.expected.iter().map(known).collect(),
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
        for (index, column) in self.columns.iter_mut().enumerate() {
            if plan.expected[index].is_some() {
                continue;
            }
            let cell = &record[plan.positions[index]];
            column.observe(cell, row);
            if column.found == Some(ColumnType::Text) {
                check_text(cell, source, row, &plan.names[index])?;
            }
        }
        Ok(())
    }

    /// The types; a column without any value is one of numbers.
    pub fn types(&self) -> Vec<ColumnType> {
        let found = self.columns.iter().map(|column| column.found);
        found
            .map(|found| found.unwrap_or(ColumnType::Number))
            .collect()
    }

    /// Columns that are text because of a few cells.
    pub fn strays(self, plan: &Plan) -> Vec<Stray> {
        let named = self.columns.into_iter().zip(&plan.names);
        named
            .filter_map(|(column, name)| column.stray(name))
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
