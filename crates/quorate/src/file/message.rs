//! The bytes of a part's message: as a model file, but of one part alone.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::committee::{Scalars, pack, packed, scalars, unpack, vector};
use super::{Tensor, bad, bytes_of, checksum, numbers};
use crate::error::Result;
use crate::landmarks::PartRecord;
use crate::parts::PartMessage;

/// Version of the format this program writes, and the newest it reads.
const VERSION: u64 = 1;
const FORMAT: &str = "quorate-part";
const KEY: &str = "quorate";

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    checksum: String,
    part: Value,
}

/// What of a message is no tensor.
#[derive(Serialize, Deserialize)]
struct Stored {
    shared: String,
    landmarks: usize,
    outputs: usize,
    scalars: Scalars,
    record: PartRecord,
}

/// The bytes of a message.
pub fn to_bytes(message: &PartMessage) -> Result<Vec<u8>> {
    let summary = &message.summary;
    let (count, outputs) = (summary.landmarks(), summary.outputs());
    let tensors = [
        Tensor(
            "information",
            Dtype::F64,
            vec![packed(count)],
            bytes_of(&pack(summary)),
        ),
        Tensor(
            "vector",
            Dtype::F64,
            vec![outputs, count],
            bytes_of(&vector(summary)),
        ),
    ];
    let mut views = Vec::new();
    for Tensor(name, dtype, shape, bytes) in &tensors {
        let view = TensorView::new(*dtype, shape.clone(), bytes)
            .map_err(|error| bad("part", format!("tensor `{name}`: {error}")))?;
        views.push((*name, view));
    }
    let json = |error: serde_json::Error| bad("part", error.to_string());
    let part = serde_json::to_value(Stored {
        shared: message.shared.clone(),
        landmarks: count,
        outputs,
        scalars: scalars(summary),
        record: message.record.clone(),
    })
    .map_err(json)?;
    let header = Header {
        format: FORMAT.into(),
        version: VERSION,
        checksum: checksum(&part, views.iter().map(|(name, view)| (*name, view))),
        part,
    };
    let text = serde_json::to_string(&header).map_err(json)?;
    let metadata = HashMap::from([(KEY.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| bad("part", error.to_string()))
}

/// Reads the bytes of a message; `origin` names it in errors. What it claims is not believed yet.
pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<PartMessage> {
    let foreign = |error: String| {
        bad(
            origin,
            format!("this is not a part of a Quorate model, or it is damaged ({error})"),
        )
    };
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|error| foreign(error.to_string()))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| foreign(error.to_string()))?;
    let text = metadata
        .metadata()
        .as_ref()
        .and_then(|map| map.get(KEY))
        .ok_or_else(|| foreign("no `quorate` entry in its header".into()))?;
    let value: Value = serde_json::from_str(text).map_err(|error| foreign(error.to_string()))?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(foreign("its header names another format".into()));
    }
    if let Some(version) = value.get("version").and_then(Value::as_u64)
        && version > VERSION
    {
        return Err(bad(
            origin,
            format!(
                "written in version {version} of the format of parts; this program reads up to {VERSION}: use a newer quorate"
            ),
        ));
    }
    let header: Header =
        serde_json::from_value(value).map_err(|error| foreign(error.to_string()))?;
    let views: Vec<(String, TensorView<'_>)> = tensors.tensors();
    let named = views.iter().map(|(name, view)| (name.as_str(), view));
    if checksum(&header.part, named) != header.checksum {
        return Err(bad(
            origin,
            "its checksum does not match: it was damaged on its way".into(),
        ));
    }
    let stored: Stored =
        serde_json::from_value(header.part).map_err(|error| foreign(error.to_string()))?;
    let information = numbers(&tensors, "information")?;
    let vector = numbers(&tensors, "vector")?;
    // Sizes are those of the tensors that are there: a claim of more allocates nothing.
    let claimed = stored
        .landmarks
        .checked_mul(stored.landmarks.saturating_add(1));
    if claimed.map(|twice| twice / 2) != Some(information.len())
        || stored.landmarks.checked_mul(stored.outputs) != Some(vector.len())
    {
        return Err(foreign("its shape and its numbers disagree".into()));
    }
    Ok(PartMessage {
        shared: stored.shared,
        summary: unpack(
            stored.landmarks,
            stored.outputs,
            &information,
            &vector,
            stored.scalars,
        )?,
        record: stored.record,
    })
}
