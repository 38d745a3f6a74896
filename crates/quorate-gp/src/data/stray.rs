//! Cells that keep a column from being what nearly all its other cells are.

use std::fmt;

use crate::error::Location;

use super::frame::ColumnType;

/// The first cell that made a column text although nearly all of its cells are numbers, or dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Name of the column.
    pub column: String,
    /// Its row, counted from 1 behind the header.
    pub row: usize,
    /// What it says, or the beginning of that.
    pub text: String,
    /// What the others are.
    pub others: ColumnType,
    /// Cells of the column that say something.
    pub cells: usize,
    /// Those of them that are not like the others.
    pub strays: usize,
}

impl Stray {
    /// Whether so many cells out of all are strays among the others: one of three or more, or at most a tenth.
    pub fn are(strays: usize, cells: usize) -> bool {
        strays == 1 && cells >= 3 || strays > 1 && strays <= cells / 10
    }

    /// Where it is in a table.
    pub fn location(&self, source: &str) -> Location {
        Location::in_source(source)
            .row(self.row)
            .column(&self.column)
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, many) = match self.others {
            ColumnType::Date => ("a date", "dates"),
            _ => ("a number", "numbers"),
        };
        let (text, cells) = (&self.text, self.cells);
        let others = cells - self.strays;
        write!(
            f,
            "«{text}» is not {one}, and {others} of the {cells} cells of the column are {many}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_are_one_of_three_cells_or_a_tenth_of_many() {
        assert!(Stray::are(1, 3) && Stray::are(1, 5) && Stray::are(2, 20));
        assert!(!Stray::are(0, 30) && !Stray::are(1, 2) && !Stray::are(2, 19));
    }
}
