//! Putting the right checksum on a damaged model file, as `docs/model-file.md` describes it.
//!
//! Written from that page and not with the program's own code, so that page and program cannot drift apart.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The file with the length of its header and the checksum that its contents call for; none when they are too damaged
/// to have any.
pub fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let (_, rest) = bytes.split_first_chunk::<8>()?;
    // The header ends where its JSON ends: a change inside it has usually made the stated length wrong.
    let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<Map<String, Value>>();
    let mut header = stream.next()?.ok()?;
    let padding = rest[stream.byte_offset()..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count();
    let tensors = &rest[stream.byte_offset() + padding..];
    let text = header.get("__metadata__")?.get("quorate")?.as_str()?;
    let mut quorate: Map<String, Value> = serde_json::from_str(text).ok()?;
    let checksum = checksum(quorate.get("model")?, &header, tensors)?;
    quorate.insert("checksum".into(), checksum.into());
    let text = serde_json::to_string(&quorate).ok()?;
    let metadata = header.get_mut("__metadata__")?.as_object_mut()?;
    metadata.insert("quorate".into(), text.into());
    let header = serde_json::to_vec(&header).ok()?;
    let length = (header.len() as u64).to_le_bytes();
    Some([&length[..], &header, tensors].concat())
}

/// SHA-256 of the model's JSON text and of each tensor's name, type, shape and bytes, in the order of the names.
fn checksum(model: &Value, header: &Map<String, Value>, tensors: &[u8]) -> Option<String> {
    let mut entries: Vec<(&String, &Value)> = header
        .iter()
        .filter(|(name, _)| *name != "__metadata__")
        .collect();
    entries.sort_by_key(|(name, _)| *name);
    let mut hash = Sha256::new();
    hash.update(model.to_string());
    for (name, entry) in entries {
        let shape: Vec<u64> = entry
            .get("shape")?
            .as_array()?
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        let offsets = entry.get("data_offsets")?;
        let offset = |index: usize| usize::try_from(offsets.get(index)?.as_u64()?).ok();
        hash.update(format!(
            "\n{name} {} {shape:?}\n",
            entry.get("dtype")?.as_str()?
        ));
        hash.update(tensors.get(offset(0)?..offset(1)?)?);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}
