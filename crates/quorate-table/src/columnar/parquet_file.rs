//! Parquet files.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::guard::{damaged, guarded};
use super::parquet_pages::CheckedGroups;
use super::{Chunks, ColumnarBatches, plan_of};
use crate::{Error, OpenOptions, Result};

/// Opens a Parquet file, or the bytes of one.
pub(crate) fn open_parquet(
    bytes: Bounded,
    source: &str,
    options: &OpenOptions,
) -> Result<ColumnarBatches> {
    let fail = |problem: String| Error::format(source, problem);
    let said = |error: ParquetError| fail(in_words(&error));
    let contents = guarded(|| ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()))
        .map_err(fail)?
        .map_err(said)?;
    let schema = contents.schema().clone();
    let plan = plan_of(&schema, source, options)?;
    let mask = ProjectionMask::roots(contents.parquet_schema(), plan.positions.iter().copied());
    check_compression(contents.metadata(), &mask).map_err(fail)?;
    let groups = CheckedGroups {
        bytes: Arc::new(bytes),
        metadata: contents.metadata().clone(),
    };
    let reader = guarded(|| {
        let hint = Some(schema.fields());
        let levels = parquet_to_arrow_field_levels(contents.parquet_schema(), mask, hint)?;
        let rows = options.batch_rows.clamp(1, groups.num_rows().max(1));
        ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, rows, None)
    })
    .map_err(fail)?
    .map_err(said)?;
    Ok(ColumnarBatches::new(
        &schema,
        plan,
        Box::new(Reader(reader)),
        options,
    ))
}

struct Reader(ParquetRecordBatchReader);

impl Chunks for Reader {
    fn next_chunk(&mut self) -> std::result::Result<Option<RecordBatch>, String> {
        guarded(|| self.0.next())?.transpose().map_err(damaged)
    }
}

/// An error when a column that is read is compressed in a way that this build cannot undo.
fn check_compression(
    metadata: &ParquetMetaData,
    mask: &ProjectionMask,
) -> std::result::Result<(), String> {
    for group in metadata.row_groups() {
        for (leaf, column) in group.columns().iter().enumerate() {
            let name = match column.compression() {
                Compression::BROTLI(_) => "Brotli",
                Compression::LZO => "LZO",
                _ => continue,
            };
            if mask.leaf_included(leaf) {
                return Err(format!(
                    "is compressed with {name}, which is not supported; write it again with snappy or zstd"
                ));
            }
        }
    }
    Ok(())
}

fn in_words(error: &ParquetError) -> String {
    match error {
        ParquetError::NYI(what) => {
            format!("uses a feature of Parquet that is not supported: {what}")
        }
        other => damaged(other),
    }
}

/// Bytes that are never asked for beyond their end: a damaged length must not become an allocation.
pub(crate) enum Bounded {
    /// A file and its length.
    File(Arc<File>, u64),
    /// Bytes in memory.
    Memory(Bytes),
}

impl Bounded {
    /// A file, with its present length.
    pub fn of_file(file: File) -> std::io::Result<Bounded> {
        let length = file.metadata()?.len();
        Ok(Bounded::File(Arc::new(file), length))
    }

    fn check(&self, start: u64, length: u64) -> parquet::errors::Result<()> {
        match start.checked_add(length) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(ParquetError::EOF(format!(
                "{length} bytes are said to lie at {start}, but the file has {} bytes",
                self.len()
            ))),
        }
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        match self {
            Bounded::File(_, length) => *length,
            Bounded::Memory(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for Bounded {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Box<dyn Read>> {
        self.check(start, 0)?;
        match self {
            Bounded::File(file, _) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(start))?;
                Ok(Box::new(BufReader::new(file)))
            }
            Bounded::Memory(bytes) => Ok(Box::new(Cursor::new(bytes.slice(start as usize..)))),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.check(start, length as u64)?;
        match self {
            Bounded::File(file, _) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(start))?;
                let mut bytes = vec![0; length];
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
            Bounded::Memory(bytes) => Ok(bytes.slice(start as usize..start as usize + length)),
        }
    }
}
