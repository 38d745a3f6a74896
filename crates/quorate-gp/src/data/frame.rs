//! A table in memory: named, typed columns, and where its rows came from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Location;
use crate::{Error, Result};

use super::names::{check_names, unknown_column};

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// Plain numbers.
    Number,
    /// True or false, held as 1 and 0.
    Boolean,
    /// Dates or date-times, held as days since 1970-01-01.
    Date,
    /// Text: the levels of a category.
    Text,
}

impl ColumnType {
    /// The cells in words, for messages.
    pub fn plural(self) -> &'static str {
        match self {
            ColumnType::Number => "numbers",
            ColumnType::Boolean => "booleans",
            ColumnType::Date => "dates",
            ColumnType::Text => "text",
        }
    }
}

/// The cells of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers, booleans (0 and 1) and dates (days since 1970-01-01); NaN is a missing cell.
    Number(Vec<f64>),
    /// Text; `None` is a missing cell.
    Text(Vec<Option<Arc<str>>>),
}

impl Column {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Column::Number(cells) => cells.len(),
            Column::Text(cells) => cells.len(),
        }
    }

    /// True when there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells of the given rows, in that order.
    pub fn select(&self, rows: &[usize]) -> Column {
        match self {
            Column::Number(cells) => Column::Number(rows.iter().map(|&row| cells[row]).collect()),
            Column::Text(cells) => {
                Column::Text(rows.iter().map(|&row| cells[row].clone()).collect())
            }
        }
    }

    /// Takes the cells from `count` on away.
    fn split_off(&mut self, count: usize) -> Column {
        match self {
            Column::Number(cells) => Column::Number(cells.split_off(count)),
            Column::Text(cells) => Column::Text(cells.split_off(count)),
        }
    }

    /// Puts the cells of `other` behind these; false (and no change) when one is text and the other is not.
    fn append(&mut self, other: Column) -> bool {
        match (self, other) {
            (Column::Number(cells), Column::Number(more)) => cells.extend(more),
            (Column::Text(cells), Column::Text(more)) => cells.extend(more),
            _ => return false,
        }
        true
    }

    fn suits(&self, column_type: ColumnType) -> bool {
        matches!(self, Column::Text(_)) == (column_type == ColumnType::Text)
    }
}

/// The cell that makes a column text where numbers are needed, as row (counted from 0) and text: the first that is no
/// number, or the first that is there where all are numbers written as text.
pub(super) fn first_text(cells: &[Option<Arc<str>>]) -> (usize, Option<&str>) {
    let is_number = |cell: &Arc<str>| cell.trim().parse::<f64>().is_ok();
    let present = |cell: &Option<Arc<str>>| cell.is_some();
    let row = cells
        .iter()
        .position(|cell| cell.as_ref().is_some_and(|cell| !is_number(cell)))
        .or_else(|| cells.iter().position(present))
        .unwrap_or(0);
    (row, cells.get(row).and_then(Option::as_deref))
}

/// The cells of a column that must hold numbers; `wanted` goes on after the first cell that is none.
pub(super) fn number_cells<'f>(frame: &'f Frame, name: &str, wanted: &str) -> Result<&'f [f64]> {
    match frame.column(name) {
        Some(Column::Number(cells)) => Ok(cells),
        Some(Column::Text(cells)) => {
            let (row, text) = first_text(cells);
            Err(Error::data(
                frame.location(row, name),
                format!("found «{}» {wanted}", text.unwrap_or_default()),
            ))
        }
        None => Err(unknown_column(&frame.header, name)),
    }
}

/// Names and types of a table's columns, and the name of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// File name, `-` for standard input, empty for rows from memory.
    pub source: String,
    /// Column names.
    pub names: Vec<String>,
    /// Column types, in the order of the names.
    pub types: Vec<ColumnType>,
}

impl Header {
    /// Position of the column called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|candidate| candidate == name)
    }
}

/// Rows of a table, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Names and types.
    pub header: Arc<Header>,
    /// One column for each name.
    pub columns: Vec<Column>,
    /// Number of the first row in its table, counted from 1 behind the header.
    pub first_row: usize,
    /// Row numbers in the table after rows were picked out; without them rows follow `first_row`.
    picked: Option<Arc<[usize]>>,
}

impl Frame {
    /// A frame of columns that fit their header: as many, of the right type, of equal length.
    pub fn new(header: Arc<Header>, columns: Vec<Column>, first_row: usize) -> Result<Frame> {
        let shape = |what, expected, found| Error::Shape {
            what,
            expected,
            found,
        };
        if header.types.len() != header.names.len() {
            return Err(shape(
                "column types",
                header.names.len(),
                header.types.len(),
            ));
        }
        if columns.len() != header.names.len() {
            return Err(shape("columns", header.names.len(), columns.len()));
        }
        let rows = columns.first().map_or(0, Column::len);
        for (index, column) in columns.iter().enumerate() {
            if column.len() != rows {
                return Err(shape("rows of a column", rows, column.len()));
            }
            if !column.suits(header.types[index]) {
                return Err(Error::data(
                    Location::in_source(&header.source).column(&header.names[index]),
                    format!(
                        "the cells are not {} as the header says",
                        header.types[index].plural()
                    ),
                ));
            }
        }
        Ok(Frame {
            header,
            columns,
            first_row,
            picked: None,
        })
    }

    /// A frame of numbers and text from memory, with the types that follow from the columns.
    pub fn from_columns<N: Into<String>>(columns: Vec<(N, Column)>) -> Result<Frame> {
        let (names, columns): (Vec<String>, Vec<Column>) = columns
            .into_iter()
            .map(|(name, column)| (name.into(), column))
            .unzip();
        let types = columns
            .iter()
            .map(|column| match column {
                Column::Number(_) => ColumnType::Number,
                Column::Text(_) => ColumnType::Text,
            })
            .collect();
        let header = Header {
            source: String::new(),
            names,
            types,
        };
        check_names(&header)?;
        Frame::new(Arc::new(header), columns, 1)
    }

    /// A frame with no row.
    pub fn empty(header: Arc<Header>) -> Frame {
        let columns = header
            .types
            .iter()
            .map(|&column_type| match column_type {
                ColumnType::Text => Column::Text(Vec::new()),
                _ => Column::Number(Vec::new()),
            })
            .collect();
        Frame {
            header,
            columns,
            first_row: 1,
            picked: None,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.header
            .position(name)
            .and_then(|index| self.columns.get(index))
    }

    /// The given rows (counted from 0 in this frame), in that order; they keep their numbers in the table.
    ///
    /// # Panics
    /// When a row is not in the frame.
    pub fn select_rows(&self, rows: &[usize]) -> Frame {
        let numbers: Vec<usize> = rows.iter().map(|&row| self.row_number(row)).collect();
        Frame {
            header: self.header.clone(),
            columns: self
                .columns
                .iter()
                .map(|column| column.select(rows))
                .collect(),
            first_row: numbers.first().copied().unwrap_or(self.first_row),
            picked: Some(numbers.into()),
        }
    }

    /// The first `count` rows and the others.
    ///
    /// # Panics
    /// When there are fewer rows.
    pub fn split_at(mut self, count: usize) -> (Frame, Frame) {
        let columns = self
            .columns
            .iter_mut()
            .map(|column| column.split_off(count));
        let later = Frame {
            columns: columns.collect(),
            first_row: self.row_number(count),
            picked: self.picked.as_ref().map(|numbers| numbers[count..].into()),
            header: self.header.clone(),
        };
        self.picked = self.picked.map(|numbers| numbers[..count].into());
        (self, later)
    }

    /// The rows of all frames, one behind the other; they must have the same columns.
    pub fn concat(frames: Vec<Frame>) -> Result<Frame> {
        let mut frames = frames.into_iter();
        let Some(mut whole) = frames.next() else {
            return Err(Error::Invalid("no tables to put together".into()));
        };
        for frame in frames {
            whole.append(frame)?;
        }
        Ok(whole)
    }

    /// Number of a row of this frame in its table, counted from 1 behind the header.
    pub fn row_number(&self, row: usize) -> usize {
        match &self.picked {
            Some(numbers) => numbers.get(row).copied().unwrap_or(self.first_row + row),
            None => self.first_row + row,
        }
    }

    /// The place of a cell in its table; `row` is counted from 0 in this frame.
    pub fn location(&self, row: usize, column: &str) -> Location {
        Location::in_source(&self.header.source)
            .row(self.row_number(row))
            .column(column)
    }

    /// Puts the rows of `frame` behind these.
    pub fn append(&mut self, frame: Frame) -> Result<()> {
        if self.header.names != frame.header.names || self.header.types != frame.header.types {
            return Err(Error::data(
                Location::in_source(&frame.header.source),
                format!(
                    "has other columns than {}; tables put together need the same names and types in the same order",
                    self.header.source
                ),
            ));
        }
        let follows = self.picked.is_none()
            && frame.picked.is_none()
            && self.header.source == frame.header.source
            && frame.first_row == self.first_row + self.rows();
        if !follows {
            let numbers: Vec<usize> = (0..self.rows())
                .map(|row| self.row_number(row))
                .chain((0..frame.rows()).map(|row| frame.row_number(row)))
                .collect();
            self.picked = Some(numbers.into());
        }
        if self.header.source != frame.header.source {
            let mut header = (*self.header).clone();
            header.source = format!("{}+{}", header.source, frame.header.source);
            self.header = Arc::new(header);
        }
        for (column, more) in self.columns.iter_mut().zip(frame.columns) {
            if !column.append(more) {
                return Err(Error::Invalid(
                    "a text column cannot follow a column of numbers".into(),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn numbers(source: &str, values: &[f64], first_row: usize) -> Frame {
        let header = Header {
            source: source.into(),
            names: vec!["x".into()],
            types: vec![ColumnType::Number],
        };
        Frame::new(
            Arc::new(header),
            vec![Column::Number(values.to_vec())],
            first_row,
        )
        .unwrap()
    }

    #[test]
    fn picked_rows_keep_their_place_in_the_table() {
        let frame = numbers("a.csv", &[10.0, 11.0, 12.0, 13.0], 101);
        let picked = frame.select_rows(&[3, 1]);
        assert_eq!(picked.column("x"), Some(&Column::Number(vec![13.0, 11.0])));
        assert_eq!(picked.location(0, "x").to_string(), "a.csv:104:x:");
        let again = picked.select_rows(&[1]);
        assert_eq!(again.location(0, "x").to_string(), "a.csv:102:x:");
    }

    #[test]
    fn batches_that_follow_each_other_become_one_table() {
        let whole =
            Frame::concat(vec![numbers("a", &[1.0, 2.0], 1), numbers("a", &[3.0], 3)]).unwrap();
        assert_eq!(whole, numbers("a", &[1.0, 2.0, 3.0], 1));
    }

    #[test]
    fn rows_of_two_files_keep_the_numbers_of_their_own_file() {
        let whole =
            Frame::concat(vec![numbers("a", &[1.0, 2.0], 1), numbers("b", &[3.0], 1)]).unwrap();
        assert_eq!(whole.location(2, "x").to_string(), "a+b:1:x:");
    }

    #[test]
    fn columns_must_fit_their_header() {
        let header = Arc::new(Header {
            source: "a".into(),
            names: vec!["x".into(), "s".into()],
            types: vec![ColumnType::Number, ColumnType::Text],
        });
        let number = Column::Number(vec![1.0]);
        let text = Column::Text(vec![None]);
        assert!(Frame::new(header.clone(), vec![number.clone(), text.clone()], 1).is_ok());
        assert!(Frame::new(header.clone(), vec![number.clone()], 1).is_err());
        assert!(Frame::new(header.clone(), vec![text, number.clone()], 1).is_err());
        assert!(Frame::new(header, vec![number, Column::Text(vec![])], 1).is_err());
    }
}
