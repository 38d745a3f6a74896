//! Rows of a text table, each with as many cells as the header, counted for messages.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use csv::ByteRecord;
use quorate_gp::error::Location;
use quorate_gp::{Error, Result};

use super::dialect;
use crate::cell;
use crate::error::in_words;

/// A row longer than this is taken for an open quotation mark, which would otherwise swallow the rest of the file.
const LONGEST_ROW: u64 = 64 * 1024 * 1024;

/// Reads a text table row by row.
pub(crate) struct Records {
    reader: csv::Reader<Limited>,
    since_row: Rc<Cell<u64>>,
    source: String,
    names: Vec<String>,
    rows: usize,
}

impl Records {
    /// Reads the header.
    pub fn open(text: Box<dyn Read>, source: &str) -> Result<Records> {
        let fail = |error: io::Error| Error::data(Location::in_source(source), in_words(&error));
        let (delimiter, text) = dialect::detect(text).map_err(fail)?;
        let since_row = Rc::new(Cell::new(0));
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(256 * 1024)
            .from_reader(Limited {
                text,
                since_row: since_row.clone(),
            });
        let mut records = Records {
            reader,
            since_row,
            source: source.into(),
            names: Vec::new(),
            rows: 0,
        };
        let mut header = ByteRecord::new();
        if !records.read(&mut header)? {
            return Err(Error::data(
                Location::in_source(source),
                "the table is empty; it needs a header line with the names of the columns",
            ));
        }
        records.names = header_names(&header, source)?;
        Ok(records)
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of the row read last, counted from 1 behind the header.
    pub fn row(&self) -> usize {
        self.rows
    }

    /// Reads the next row; false at the end of the table.
    pub fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        loop {
            if !self.read(record)? {
                return Ok(false);
            }
            if record.len() == self.names.len() {
                self.rows += 1;
                return Ok(true);
            }
            // A line of blanks is no row, wherever it stands.
            if record.len() != 1 || !record[0].trim_ascii().is_empty() {
                self.rows += 1;
                return Err(self.ragged(record));
            }
        }
    }

    fn read(&mut self, record: &mut ByteRecord) -> Result<bool> {
        self.since_row.set(0);
        self.reader.read_byte_record(record).map_err(|error| {
            let location = Location::in_source(&self.source).row(self.rows + 1);
            match error.into_kind() {
                csv::ErrorKind::Io(error) => Error::data(location, in_words(&error)),
                other => Error::data(location, format!("the row cannot be read: {other:?}")),
            }
        })
    }

    fn ragged(&self, record: &ByteRecord) -> Error {
        let count = |cells: usize| match cells {
            1 => "1 cell".into(),
            _ => format!("{cells} cells"),
        };
        let line = record.position().map_or(0, csv::Position::line);
        Error::data(
            Location::in_source(&self.source).row(self.rows),
            format!(
                "the row has {} and the header {} (line {line} of the file); look for a missing or spare delimiter or \
                 quotation mark",
                count(record.len()),
                self.names.len()
            ),
        )
    }
}

fn header_names(header: &ByteRecord, source: &str) -> Result<Vec<String>> {
    let mut names = Vec::with_capacity(header.len());
    for (index, cell) in header.iter().enumerate() {
        let name = std::str::from_utf8(cell).map_err(|_| {
            Error::data(
                Location::in_source(source),
                format!(
                    "the name of column {} is not valid UTF-8; save the table as UTF-8",
                    index + 1
                ),
            )
        })?;
        names.push(name.trim().to_owned());
    }
    if header.iter().all(|cell| cell::number(cell).is_some()) {
        return Err(Error::data(
            Location::in_source(source),
            "the first line holds numbers only; write a header line with the names of the columns above it",
        ));
    }
    Ok(names)
}

/// Text that fails when a single row takes too much of it.
struct Limited {
    text: Box<dyn Read>,
    since_row: Rc<Cell<u64>>,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_row.get() > LONGEST_ROW {
            return Err(io::Error::other(
                "the row does not end within 64 MiB; look for a quotation mark that is not closed",
            ));
        }
        let count = self.text.read(buffer)?;
        self.since_row.set(self.since_row.get() + count as u64);
        Ok(count)
    }
}
