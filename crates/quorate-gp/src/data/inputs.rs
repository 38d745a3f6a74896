//! Encoded inputs: a borrowed row-major table of finite numbers.

use crate::{Error, Result};

/// Rows of encoded inputs, row-major; category columns hold level codes (0, 1, 2, ...) as whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inputs<'a> {
    values: &'a [f64],
    rows: usize,
    width: usize,
}

impl<'a> Inputs<'a> {
    /// Views `values` as rows of `width` numbers.
    pub fn new(values: &'a [f64], rows: usize, width: usize) -> Result<Self> {
        if values.len() != rows * width {
            return Err(Error::Shape {
                what: "input values",
                expected: rows * width,
                found: values.len(),
            });
        }
        Ok(Self {
            values,
            rows,
            width,
        })
    }

    /// Views numbers whose shape their owner has checked.
    pub(super) fn of_checked(values: &'a [f64], rows: usize, width: usize) -> Self {
        debug_assert_eq!(values.len(), rows * width);
        Self {
            values,
            rows,
            width,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of encoded columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One row.
    pub fn row(&self, index: usize) -> &'a [f64] {
        &self.values[index * self.width..(index + 1) * self.width]
    }

    /// Rows `start..end`.
    pub fn slice(&self, start: usize, end: usize) -> Inputs<'a> {
        Inputs {
            values: &self.values[start * self.width..end * self.width],
            rows: end - start,
            width: self.width,
        }
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }
}
