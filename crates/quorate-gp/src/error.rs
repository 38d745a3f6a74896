//! One error for the crate: what happened, where, and what to try.

use std::fmt;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a table something is wrong: file, row (1 is the first row after the header) and column, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// File name, or `-` for standard input; empty when the rows came from memory.
    pub source: String,
    /// Data row, counted from 1; the header is not counted.
    pub row: Option<usize>,
    /// Column name.
    pub column: Option<String>,
}

impl Location {
    /// A place in `source` with neither row nor column known.
    pub fn in_source(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            row: None,
            column: None,
        }
    }

    /// The same place, with its row.
    pub fn row(mut self, row: usize) -> Self {
        self.row = Some(row);
        self
    }

    /// The same place, with its column.
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.source.is_empty() {
            "data"
        } else {
            &self.source
        };
        write!(f, "{source}:")?;
        if let Some(row) = self.row {
            write!(f, "{row}:")?;
        }
        if let Some(column) = &self.column {
            write!(f, "{column}:")?;
        }
        Ok(())
    }
}

/// Everything that can go wrong in this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The rows or columns of a table cannot be used as they are.
    #[error("{location} {problem}")]
    Data {
        /// Where.
        location: Location,
        /// What is wrong there and what to try.
        problem: String,
    },
    /// A kernel's text form does not parse; `position` counts characters from 0.
    #[error("kernel: {problem}\n  {text}\n  {:>width$}", "^", width = position + 1)]
    Kernel {
        /// The text as given.
        text: String,
        /// Character at which the problem was noticed.
        position: usize,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// Two things that must have the same size have not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// A matrix that should be positive definite is not, and jitter did not repair it.
    #[error(
        "the covariance matrix is not positive definite at row {row} (pivot {pivot:.3e}) even with jitter {jitter:.1e} of its diagonal; \
         try more noise, or a longer or rougher kernel"
    )]
    NotPositiveDefinite {
        /// Row of the first bad pivot, counted from 0 in the order of the data set.
        row: usize,
        /// Value of the bad pivot.
        pivot: f64,
        /// The largest jitter tried, relative to the mean of the diagonal.
        jitter: f64,
    },
    /// A number that must be finite is not, at a point the optimiser may step back from.
    #[error("{what} is not finite at this point")]
    NotFinite {
        /// Which number.
        what: &'static str,
    },
    /// An iteration did not settle.
    #[error(
        "{what} did not settle within {steps} steps; try a kernel of smaller variance, or a prior on it"
    )]
    NotConverged {
        /// What was looked for.
        what: &'static str,
        /// Steps taken.
        steps: usize,
    },
    /// A choice that cannot be met, and why.
    #[error("{0}")]
    Invalid(String),
    /// The work was stopped by the caller.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// True when an optimiser may step back from the point that raised this error and go on.
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self,
            Error::NotPositiveDefinite { .. }
                | Error::NotFinite { .. }
                | Error::NotConverged { .. }
        )
    }

    /// A data error at a place.
    pub fn data(location: Location, problem: impl Into<String>) -> Self {
        Error::Data {
            location,
            problem: problem.into(),
        }
    }
}
