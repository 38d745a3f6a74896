//! How a table is to be read.

use quorate_gp::data::ColumnType;

/// Choices for reading a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Columns whose type is known beforehand, from a model's schema: a cell that does not parse is an error. A name
    /// that the table does not have is passed over here. Text keeps every cell as it is written.
    pub expect: Option<Vec<(String, ColumnType)>>,
    /// Only these columns are read, in the table's order; each must be there. All columns when not given.
    pub columns: Option<Vec<String>>,
    /// Columns that will be used: opening fails when one is not there or cannot be read.
    pub needed: Vec<String>,
    /// Rows in a batch.
    pub batch_rows: usize,
    /// Rows that decide the types of a CSV table that can be read only once, such as standard input.
    pub sample_rows: usize,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            expect: None,
            columns: None,
            needed: Vec::new(),
            batch_rows: 8192,
            sample_rows: 50_000,
        }
    }
}

impl OpenOptions {
    /// Reads the named columns with the given types.
    pub fn expect(mut self, types: Vec<(String, ColumnType)>) -> Self {
        self.expect = Some(types);
        self
    }

    /// Reads only these columns.
    pub fn columns(mut self, names: Vec<String>) -> Self {
        self.columns = Some(names);
        self
    }

    /// Fails at opening when one of these columns cannot be read.
    pub fn needed(mut self, names: Vec<String>) -> Self {
        self.needed = names;
        self
    }

    /// Reads this many rows at a time.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Lets this many rows decide the types of a table that can be read only once.
    pub fn sample_rows(mut self, rows: usize) -> Self {
        self.sample_rows = rows;
        self
    }
}
