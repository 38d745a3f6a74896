//! Arrow IPC: files with a table of contents at their end, and streams.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::SchemaRef;

use super::guard::{damaged, guarded};
use super::ipc_messages::{Decoded, Message};
use super::{Chunks, ColumnarBatches, plan_of};
use crate::{Error, OpenOptions, Result};

/// A file or bytes in memory.
pub(crate) trait Seekable: Read + Seek {}
impl<T: Read + Seek> Seekable for T {}

/// Magic and length behind the table of contents.
const TRAILER: u64 = 10;

/// Opens a file of the file form.
pub(crate) fn open_file(
    mut file: Box<dyn Seekable>,
    source: &str,
    options: &OpenOptions,
) -> Result<ColumnarBatches> {
    let fail = |problem: String| Error::format(source, problem);
    let length = file
        .seek(SeekFrom::End(0))
        .map_err(|error| Error::io(source, error))?;
    let contents = Contents::read(&mut *file, length).map_err(fail)?;
    let plan = plan_of(&contents.schema, source, options)?;
    let mut decoder = FileDecoder::new(contents.schema.clone(), contents.version)
        .with_projection(plan.positions.clone());
    for block in &contents.dictionaries {
        let message = read_block(&mut *file, block, length).map_err(fail)?;
        message.decode(&mut decoder).map_err(fail)?;
    }
    let reader = FileChunks {
        file,
        length,
        blocks: contents.rows.into_iter(),
        decoder,
    };
    Ok(ColumnarBatches::new(
        &contents.schema,
        plan,
        Box::new(reader),
        options,
    ))
}

/// Opens a stream.
pub(crate) fn open_stream(
    mut stream: Box<dyn Read>,
    source: &str,
    options: &OpenOptions,
) -> Result<ColumnarBatches> {
    let fail = |problem: String| Error::format(source, problem);
    let first = Message::read(&mut *stream)
        .map_err(fail)?
        .ok_or_else(|| fail(damaged("it has no content")))?;
    let description = first.description().map_err(fail)?;
    let stored = description
        .header_as_schema()
        .ok_or_else(|| fail(damaged("it does not start with its columns")))?;
    let schema: SchemaRef = guarded(|| try_fb_to_schema(stored))
        .map_err(fail)?
        .map_err(|error| fail(damaged(error)))?
        .into();
    let plan = plan_of(&schema, source, options)?;
    let decoder = FileDecoder::new(schema.clone(), description.version())
        .with_projection(plan.positions.clone());
    let reader = StreamChunks { stream, decoder };
    Ok(ColumnarBatches::new(
        &schema,
        plan,
        Box::new(reader),
        options,
    ))
}

/// The table of contents of a file.
struct Contents {
    schema: SchemaRef,
    version: arrow_ipc::MetadataVersion,
    dictionaries: Vec<Block>,
    rows: Vec<Block>,
}

impl Contents {
    fn read(file: &mut dyn Seekable, length: u64) -> std::result::Result<Contents, String> {
        let mut trailer = [0; TRAILER as usize];
        let start = length
            .checked_sub(TRAILER)
            .ok_or_else(|| damaged("it is too short"))?;
        read_at(file, start, &mut trailer)?;
        let size = read_footer_length(trailer).map_err(damaged)?;
        let start = start
            .checked_sub(size as u64)
            .ok_or_else(|| damaged("its table of contents is longer than the file"))?;
        let mut bytes = vec![0; size];
        read_at(file, start, &mut bytes)?;
        let footer = root_as_footer(&bytes).map_err(damaged)?;
        let stored = footer
            .schema()
            .ok_or_else(|| damaged("it does not name its columns"))?;
        if !stored.endianness().equals_to_target_endianness() {
            return Err(
                "was written on a machine with another byte order; write it again on this one"
                    .into(),
            );
        }
        let schema = guarded(|| try_fb_to_schema(stored))?.map_err(damaged)?;
        Ok(Contents {
            schema: Arc::new(schema),
            version: footer.version(),
            dictionaries: footer.dictionaries().iter().flatten().copied().collect(),
            rows: footer.recordBatches().iter().flatten().copied().collect(),
        })
    }
}

fn read_at(
    file: &mut dyn Seekable,
    start: u64,
    bytes: &mut [u8],
) -> std::result::Result<(), String> {
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.read_exact(bytes))
        .map_err(damaged)
}

/// Reads the message of a block that lies wholly in the file.
fn read_block(
    file: &mut dyn Seekable,
    block: &Block,
    length: u64,
) -> std::result::Result<Message, String> {
    let wrong = || damaged("a block of rows lies outside of the file");
    let start = u64::try_from(block.offset()).map_err(|_| wrong())?;
    let description = usize::try_from(block.metaDataLength()).map_err(|_| wrong())?;
    let size = u64::try_from(block.bodyLength())
        .ok()
        .and_then(|body| body.checked_add(description as u64))
        .filter(|size| start.checked_add(*size).is_some_and(|end| end <= length))
        .ok_or_else(wrong)?;
    let mut bytes = vec![0; size as usize];
    read_at(file, start, &mut bytes)?;
    Message::of_block(bytes, description)
}

struct FileChunks {
    file: Box<dyn Seekable>,
    length: u64,
    blocks: std::vec::IntoIter<Block>,
    decoder: FileDecoder,
}

impl Chunks for FileChunks {
    fn next_chunk(&mut self) -> std::result::Result<Option<RecordBatch>, String> {
        for block in self.blocks.by_ref() {
            let message = read_block(&mut *self.file, &block, self.length)?;
            if let Decoded::Rows(rows) = message.decode(&mut self.decoder)? {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }
}

struct StreamChunks {
    stream: Box<dyn Read>,
    decoder: FileDecoder,
}

impl Chunks for StreamChunks {
    fn next_chunk(&mut self) -> std::result::Result<Option<RecordBatch>, String> {
        while let Some(message) = Message::read(&mut *self.stream)? {
            if let Decoded::Rows(rows) = message.decode(&mut self.decoder)? {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }
}
