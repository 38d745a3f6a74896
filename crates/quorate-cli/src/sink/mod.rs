//! Where rows go: a file that appears whole, a device, or standard output as CSV or JSON.

mod json;

use std::path::{Path, PathBuf};

use quorate_gp::data::{Frame, Header};
use quorate_table::{Format, TableWriter};

use crate::failure::{Failure, Result};
use crate::staged::Staged;
use crate::text::Console;
use json::JsonRows;

/// Receives a header, then rows, then the end.
pub struct Sink {
    way: Way,
    writer: Option<TableWriter>,
}

enum Way {
    /// CSV on standard output.
    Text,
    /// One JSON object on standard output.
    Json(JsonRows),
    /// A file made aside and moved to its place.
    File(Staged, PathBuf),
    /// A device or a pipe with a name, written as rows come.
    Device(PathBuf),
}

impl Sink {
    /// Prepares the output; no path or `-` is standard output.
    pub fn new(path: Option<&Path>, console: &Console) -> Result<Self> {
        let way = match path {
            None if console.json => Way::Json(JsonRows::default()),
            None => Way::Text,
            Some(path) if path == Path::new("-") => return Self::new(None, console),
            Some(path) => match std::fs::metadata(path) {
                Ok(found) if !found.is_file() && !found.is_dir() => Way::Device(path.to_owned()),
                _ => Way::File(Staged::new(path)?, path.to_owned()),
            },
        };
        Ok(Self { way, writer: None })
    }

    /// True when the cells will be written as text, not as typed values.
    pub fn is_text(&self) -> bool {
        match &self.way {
            Way::Text => true,
            Way::Json(_) => false,
            Way::File(_, path) | Way::Device(path) => {
                matches!(
                    Format::of_name(path),
                    None | Some(Format::Csv | Format::CsvGz)
                )
            }
        }
    }

    /// Names the columns; comes before the first rows, and alone when there are none.
    pub fn header(&mut self, header: &Header) -> Result<()> {
        let path = match &mut self.way {
            Way::Json(rows) => return rows.start(header),
            Way::Text => PathBuf::from("-"),
            Way::File(staged, _) => staged.path(),
            Way::Device(path) => path.clone(),
        };
        let writer = TableWriter::create(path, header);
        self.writer = Some(writer.map_err(|error| self.blame(error))?);
        Ok(())
    }

    /// Appends rows.
    pub fn write(&mut self, rows: &Frame) -> Result<()> {
        if let Way::Json(json) = &mut self.way {
            return json.write(rows);
        }
        match &mut self.writer {
            Some(writer) => writer.write(rows).map_err(|error| self.blame(error)),
            None => Ok(()),
        }
    }

    /// Completes the output; the path of the file, or nothing for standard output. `notes` go into the JSON object.
    pub fn finish(mut self, notes: &[String]) -> Result<Option<PathBuf>> {
        if let Some(writer) = self.writer.take() {
            writer.finish().map_err(|error| self.blame(error))?;
        }
        match self.way {
            Way::Text => Ok(None),
            Way::Json(rows) => rows.finish(notes).map(|()| None),
            Way::Device(path) => Ok(Some(path)),
            Way::File(staged, path) => staged.commit().map(|()| Some(path)),
        }
    }

    /// The failure with the name the user gave.
    fn blame(&self, error: quorate_table::Error) -> Failure {
        match (&self.way, error) {
            (Way::Text, quorate_table::Error::Io { source, .. }) => {
                Failure::standard_output(&source)
            }
            (Way::File(staged, _), error) => staged.blame(error.into()),
            (_, error) => error.into(),
        }
    }
}
