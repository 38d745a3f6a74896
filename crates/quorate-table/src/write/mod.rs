//! Predictions out: tables written batch by batch.

mod columnar;
mod destination;
mod text;

use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use quorate_gp::data::{Frame, Header};

use crate::format::Format;
use crate::{Error, Result};
use columnar::{ArrowEncoder, ParquetEncoder};
use destination::{Destination, Output};
use text::TextEncoder;
pub use text::number_text;

/// Writes a table frame by frame: CSV, CSV.gz, Parquet or Arrow IPC by the extension of the file, CSV to `-`.
///
/// A file appears under its name only when [`TableWriter::finish`] has succeeded; until then, and after a failure,
/// whatever was there before stays. Devices and pipes are written directly.
pub struct TableWriter {
    header: Header,
    encoder: Encoder,
    destination: Destination,
}

enum Encoder {
    Text(TextEncoder<Output>),
    Gzip(TextEncoder<GzEncoder<Output>>),
    Parquet(Box<ParquetEncoder>),
    Arrow(Box<ArrowEncoder>),
}

/// What an encoder says when it cannot go on; the output keeps what the system said.
pub(crate) type Encoded<T> = std::result::Result<T, String>;

impl TableWriter {
    /// Starts a table with the columns of `header` (its `source` does not matter).
    pub fn create(path: impl AsRef<Path>, header: &Header) -> Result<TableWriter> {
        let path = path.as_ref();
        let format = format_of_output(path)?;
        let (destination, output) = Destination::open(path)?;
        let delimiter = match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("tsv") => b'\t',
            _ => b',',
        };
        let encoder = match format {
            Format::Csv => TextEncoder::start(output, header, delimiter).map(Encoder::Text),
            Format::CsvGz => {
                let zipped = GzEncoder::new(output, Compression::default());
                TextEncoder::start(zipped, header, delimiter).map(Encoder::Gzip)
            }
            Format::Parquet => {
                ParquetEncoder::start(output, header).map(|it| Encoder::Parquet(Box::new(it)))
            }
            Format::Arrow | Format::ArrowStream => {
                ArrowEncoder::start(output, header).map(|it| Encoder::Arrow(Box::new(it)))
            }
        };
        Ok(TableWriter {
            header: header.clone(),
            encoder: encoder.map_err(|problem| destination.error(problem))?,
            destination,
        })
    }

    /// Appends the rows of a frame, which must have the columns the table was started with.
    pub fn write(&mut self, frame: &Frame) -> Result<()> {
        if frame.header.names != self.header.names || frame.header.types != self.header.types {
            return Err(quorate_gp::Error::Invalid(
                "rows to write must have the columns the table was started with".into(),
            )
            .into());
        }
        match &mut self.encoder {
            Encoder::Text(encoder) => encoder.write(frame),
            Encoder::Gzip(encoder) => encoder.write(frame),
            Encoder::Parquet(encoder) => encoder.write(frame),
            Encoder::Arrow(encoder) => encoder.write(frame),
        }
        .map_err(|problem| self.destination.error(problem))
    }

    /// Writes what is left and puts the file in its place.
    pub fn finish(self) -> Result<()> {
        let zip_error = |error: std::io::Error| error.to_string();
        let output = match self.encoder {
            Encoder::Text(encoder) => encoder.finish(),
            Encoder::Gzip(encoder) => encoder
                .finish()
                .and_then(|zipped| zipped.finish().map_err(zip_error)),
            Encoder::Parquet(encoder) => encoder.finish(),
            Encoder::Arrow(encoder) => encoder.finish(),
        };
        let flushed = output.and_then(|output| output.finish().map_err(|error| error.to_string()));
        match flushed {
            Ok(()) => self.destination.settle(),
            Err(problem) => Err(self.destination.error(problem)),
        }
    }
}

/// The format of a file to write; standard output, devices and files without an extension get CSV.
fn format_of_output(path: &Path) -> Result<Format> {
    if path == Path::new("-") || path.extension().is_none() {
        return Ok(Format::Csv);
    }
    Format::of_name(path).ok_or_else(|| {
        Error::format(
            path.display().to_string(),
            "the extension tells no format; use .csv, .csv.gz, .parquet or .arrow",
        )
    })
}
