//! Opening a table, whatever its format and wherever it comes from.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use quorate_gp::data::Batches;

use crate::columnar::{Bounded, open_file, open_parquet, open_stream};
use crate::csv::{CsvBatches, Supply};
use crate::error::shown;
use crate::format::{Format, SNIFFED};
use crate::{Error, OpenOptions, Result};

/// Opens a table: CSV, CSV.gz, Parquet or Arrow IPC by its first bytes; `-` is standard input.
///
/// Rows are read in batches, so the table may be larger than memory. The types of a CSV file are decided by a first
/// pass over all its rows, those of a stream by its first [`OpenOptions::sample_rows`].
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Box<dyn Batches>> {
    let path = path.as_ref();
    if path == Path::new("-") {
        return open_reader(io::stdin(), "-", options);
    }
    let source = shown(path);
    let fail = |error| Error::io(source.clone(), error);
    let mut file = File::open(path).map_err(fail)?;
    let kind = file.metadata().map_err(fail)?.file_type();
    if kind.is_dir() {
        return Err(fail(io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        return open_reader(file, &source, options);
    }
    let start = read_start(&mut file).map_err(fail)?;
    let format =
        Format::of_input(path, &start).map_err(|problem| Error::format(source.clone(), problem))?;
    file.rewind().map_err(fail)?;
    Ok(match format {
        Format::Csv | Format::CsvGz => {
            let supply = Supply::Again(file_text(path.to_owned(), format));
            Box::new(CsvBatches::open(supply, &source, options)?)
        }
        Format::Parquet => {
            let bytes = Bounded::of_file(file).map_err(fail)?;
            Box::new(open_parquet(bytes, &source, options)?)
        }
        Format::Arrow => Box::new(open_file(Box::new(BufReader::new(file)), &source, options)?),
        Format::ArrowStream => Box::new(open_stream(
            Box::new(BufReader::new(file)),
            &source,
            options,
        )?),
    })
}

/// Opens a table that passes once, such as standard input; `source` is its name in messages.
///
/// Parquet and the file form of Arrow have their table of contents at the end, so they are first copied to a temporary
/// file.
pub fn open_reader(
    mut stream: impl Read + 'static,
    source: &str,
    options: &OpenOptions,
) -> Result<Box<dyn Batches>> {
    let fail = |error| Error::io(source, error);
    let start = read_start(&mut stream).map_err(fail)?;
    let format = Format::of_input(Path::new(""), &start)
        .map_err(|problem| Error::format(source, problem))?;
    let mut stream = Cursor::new(start).chain(stream);
    Ok(match format {
        Format::Csv | Format::CsvGz => {
            let text = text(Box::new(stream), format);
            Box::new(CsvBatches::open(Supply::Once(text), source, options)?)
        }
        Format::ArrowStream => Box::new(open_stream(Box::new(stream), source, options)?),
        Format::Parquet | Format::Arrow => {
            let mut copy = tempfile::tempfile().map_err(fail)?;
            io::copy(&mut stream, &mut copy).map_err(fail)?;
            copy.rewind().map_err(fail)?;
            if format == Format::Parquet {
                let bytes = Bounded::of_file(copy).map_err(fail)?;
                Box::new(open_parquet(bytes, source, options)?)
            } else {
                Box::new(open_file(Box::new(BufReader::new(copy)), source, options)?)
            }
        }
    })
}

/// Opens a table of a given format that lies in memory; `source` is its name in messages.
pub fn open_bytes(
    bytes: Vec<u8>,
    format: Format,
    source: &str,
    options: &OpenOptions,
) -> Result<Box<dyn Batches>> {
    let bytes = Bytes::from(bytes);
    Ok(match format {
        Format::Csv | Format::CsvGz => {
            let supply = Supply::Again(Box::new(move || {
                Ok(text(Box::new(Cursor::new(bytes.clone())), format))
            }));
            Box::new(CsvBatches::open(supply, source, options)?)
        }
        Format::Parquet => Box::new(open_parquet(Bounded::Memory(bytes), source, options)?),
        Format::Arrow => Box::new(open_file(Box::new(Cursor::new(bytes)), source, options)?),
        Format::ArrowStream => {
            Box::new(open_stream(Box::new(Cursor::new(bytes)), source, options)?)
        }
    })
}

fn file_text(path: PathBuf, format: Format) -> Box<dyn Fn() -> io::Result<Box<dyn Read>>> {
    Box::new(move || Ok(text(Box::new(File::open(&path)?), format)))
}

/// The text of a table, decompressed where it is compressed.
fn text(bytes: Box<dyn Read>, format: Format) -> Box<dyn Read> {
    match format {
        Format::CsvGz => Box::new(MultiGzDecoder::new(bytes)),
        _ => bytes,
    }
}

fn read_start(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(SNIFFED);
    stream.take(SNIFFED as u64).read_to_end(&mut start)?;
    Ok(start)
}
