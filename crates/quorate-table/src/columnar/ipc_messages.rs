//! The messages of Arrow IPC, with every length checked before it is believed.
//!
//! The library's own readers trust some lengths of a file (of blocks and of compressed buffers), and a damaged one would
//! end the program for want of memory. Here a message is taken apart and checked, then handed to the library's decoder.

use std::io::{self, Read};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MessageHeader, root_as_message};

use super::guard::{damaged, guarded};

/// Bytes of marks and lengths before the description of a message.
const PREFIX: usize = 8;
const CONTINUATION: [u8; 4] = [0xff; 4];
/// More bytes than this in one buffer after decompression are taken for damage.
const LARGEST_BUFFER: i64 = 1 << 32;

/// One message: its description behind the prefix, then its body.
pub(crate) struct Message {
    bytes: Buffer,
    body_start: usize,
}

/// What a message was.
pub(crate) enum Decoded {
    /// Rows.
    Rows(RecordBatch),
    /// Values of a dictionary, kept by the decoder, or nothing of interest.
    Nothing,
}

impl Message {
    /// A message that lies in a block of a file.
    pub fn of_block(bytes: Vec<u8>, description: usize) -> Result<Message, String> {
        if description < PREFIX || description > bytes.len() || bytes[..4] != CONTINUATION {
            return Err(damaged("a block of rows has the wrong shape"));
        }
        Ok(Message {
            bytes: Buffer::from_vec(bytes),
            body_start: description,
        })
    }

    /// The next message of a stream; nothing at its end.
    pub fn read(stream: &mut dyn Read) -> Result<Option<Message>, String> {
        let mut prefix = [0; PREFIX];
        if !fill(stream, &mut prefix)? {
            return Ok(None);
        }
        if prefix[..4] != CONTINUATION {
            return Err(damaged("the mark before a message is missing"));
        }
        let description = i32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]);
        if description == 0 {
            return Ok(None);
        }
        let description =
            u64::try_from(description).map_err(|_| damaged("a message has a negative length"))?;
        let mut bytes = prefix.to_vec();
        take(stream, description, &mut bytes)?;
        let body_start = bytes.len();
        let body = root_as_message(&bytes[PREFIX..])
            .map_err(damaged)?
            .bodyLength();
        let body = u64::try_from(body).map_err(|_| damaged("a message has a negative length"))?;
        take(stream, body, &mut bytes)?;
        Ok(Some(Message {
            bytes: Buffer::from_vec(bytes),
            body_start,
        }))
    }

    /// The description, verified to be well formed.
    pub fn description(&self) -> Result<arrow_ipc::Message<'_>, String> {
        root_as_message(&self.bytes[PREFIX..self.body_start]).map_err(damaged)
    }

    /// Decodes rows or takes in a dictionary.
    pub fn decode(&self, decoder: &mut FileDecoder) -> Result<Decoded, String> {
        let description = self.description()?;
        let kind = description.header_type();
        if kind != MessageHeader::RecordBatch && kind != MessageHeader::DictionaryBatch {
            return Ok(Decoded::Nothing);
        }
        self.check_buffers()?;
        let body = self.bytes.len() - self.body_start;
        let block = Block::new(0, self.body_start as i32, body as i64);
        if kind == MessageHeader::DictionaryBatch {
            guarded(|| decoder.read_dictionary(&block, &self.bytes))?.map_err(damaged)?;
            return Ok(Decoded::Nothing);
        }
        let rows = guarded(|| decoder.read_record_batch(&block, &self.bytes))?.map_err(damaged)?;
        Ok(rows.map_or(Decoded::Nothing, Decoded::Rows))
    }

    /// Every buffer lies in the body, and none grows beyond belief when decompressed.
    fn check_buffers(&self) -> Result<(), String> {
        let description = self.description()?;
        let rows = match description.header_type() {
            MessageHeader::DictionaryBatch => description
                .header_as_dictionary_batch()
                .and_then(|batch| batch.data()),
            _ => description.header_as_record_batch(),
        }
        .ok_or_else(|| damaged("a message has no content"))?;
        let body = &self.bytes[self.body_start..];
        for buffer in rows.buffers().iter().flatten() {
            let inside = || {
                let start = usize::try_from(buffer.offset()).ok()?;
                let end = start.checked_add(usize::try_from(buffer.length()).ok()?)?;
                body.get(start..end)
            };
            let bytes = inside().ok_or_else(|| damaged("a buffer lies outside of its message"))?;
            if rows.compression().is_some()
                && let Some(length) = bytes.first_chunk::<8>()
                && i64::from_le_bytes(*length) > LARGEST_BUFFER
            {
                return Err(damaged("a compressed buffer has an impossible length"));
            }
        }
        Ok(())
    }
}

/// Fills the whole buffer; false when the stream ends before its first byte.
fn fill(stream: &mut dyn Read, buffer: &mut [u8]) -> Result<bool, String> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(damaged("it ends inside a message")),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(true)
}

/// Reads exactly `count` bytes, growing with what arrives rather than with what was promised.
fn take(stream: &mut dyn Read, count: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    let read = stream
        .take(count)
        .read_to_end(bytes)
        .map_err(|error| error.to_string())?;
    if read as u64 == count {
        Ok(())
    } else {
        Err(damaged("it ends inside a message"))
    }
}
