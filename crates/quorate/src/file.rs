//! The model file: safetensors with one JSON text in its header. See `docs/model-file.md`.
//!
//! The header's `__metadata__` has one key, `quorate`: a JSON object with `format`, `version`, `checksum` and `model`.
//! The checksum is SHA-256 over the model's JSON text and every tensor. Loading executes nothing and trusts nothing.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use quorate_gp::data::Dataset;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::model::Model;

/// Version of the format this program writes, and the newest it reads.
pub const VERSION: u64 = 1;
const FORMAT: &str = "quorate-model";
const KEY: &str = "quorate";

/// The header's JSON.
#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    checksum: String,
    model: Value,
}

/// Writes a model to a file: whole or not at all.
pub fn save(model: &Model, path: &Path) -> Result<()> {
    let bytes = to_bytes(model)?;
    write_whole(path, &bytes).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })
}

/// Writes a file beside its place and moves it there; what is not a plain file (a device, a pipe) is written directly.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if path.exists() && !path.is_file() {
        let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
        file.write_all(bytes)?;
        return file.flush();
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".quorate-");
    // A model is an ordinary file of its owner: readable as the umask says, not private like other temporary files.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Reads a model from a file.
pub fn load(path: &Path) -> Result<Model> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    from_bytes(&bytes, &path.display().to_string())
}

/// The bytes of a model's file.
pub fn to_bytes(model: &Model) -> Result<Vec<u8>> {
    let data = &model.data;
    let members = data.members();
    let tensors = [
        (
            "inputs",
            vec![data.rows(), data.inputs().width()],
            bytes_of(data.inputs().values()),
        ),
        (
            "known_noise",
            vec![data.rows()],
            bytes_of(data.known_noise()),
        ),
        (
            "group",
            vec![members.len()],
            members
                .iter()
                .flat_map(|m| (m.group as u64).to_le_bytes())
                .collect(),
        ),
        (
            "target",
            vec![members.len()],
            members
                .iter()
                .flat_map(|m| m.target.to_le_bytes())
                .collect(),
        ),
        (
            "weight",
            vec![members.len()],
            members
                .iter()
                .flat_map(|m| m.weight.to_le_bytes())
                .collect(),
        ),
    ];
    let mut views = Vec::new();
    for (name, shape, bytes) in &tensors {
        let dtype = if *name == "group" {
            Dtype::U64
        } else {
            Dtype::F64
        };
        let view = TensorView::new(dtype, shape.clone(), bytes)
            .map_err(|error| bad("model", format!("tensor `{name}`: {error}")))?;
        views.push((*name, view));
    }
    let summary =
        serde_json::to_value(&model.fitted).map_err(|error| bad("model", error.to_string()))?;
    let header = Header {
        format: FORMAT.into(),
        version: VERSION,
        checksum: checksum(&summary, views.iter().map(|(name, view)| (*name, view))),
        model: summary,
    };
    let text = serde_json::to_string(&header).map_err(|error| bad("model", error.to_string()))?;
    let metadata = HashMap::from([(KEY.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| bad("model", error.to_string()))
}

/// Reads a model from the bytes of its file; `origin` names it in errors.
pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<Model> {
    let foreign = |error: String| {
        bad(
            origin,
            format!("this is not a Quorate model file, or it is damaged ({error})"),
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
    let version = value.get("version").and_then(Value::as_u64);
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(foreign("its header names another format".into()));
    }
    match version {
        Some(version) if version > VERSION => {
            return Err(bad(
                origin,
                format!(
                    "written in version {version} of the model format; this program reads up to {VERSION}: use a newer quorate"
                ),
            ));
        }
        Some(_) => {}
        None => return Err(foreign("no version in its header".into())),
    }
    let header: Header =
        serde_json::from_value(value).map_err(|error| foreign(error.to_string()))?;
    let views: Vec<(String, TensorView<'_>)> = tensors.tensors();
    let mut named: Vec<(&str, &TensorView<'_>)> = views
        .iter()
        .map(|(name, view)| (name.as_str(), view))
        .collect();
    named.sort_by_key(|(name, _)| *name);
    if checksum(&header.model, named.into_iter()) != header.checksum {
        return Err(bad(
            origin,
            "its checksum does not match: the file is damaged; fit again or restore a copy".into(),
        ));
    }
    let fitted: Fitted =
        serde_json::from_value(header.model).map_err(|error| foreign(error.to_string()))?;
    let data = rows(&tensors).map_err(|error| foreign(error.to_string()))?;
    if data.inputs().width() != fitted.schema.columns().len() {
        return Err(foreign("rows and schema disagree in width".into()));
    }
    Ok(Model::from_parts(fitted, data))
}

/// The rows a model keeps: distinct inputs with their known noise, and the members of each.
fn rows(tensors: &SafeTensors<'_>) -> Result<Dataset> {
    let shape = tensors
        .tensor("inputs")
        .map_err(|error| bad("inputs", error.to_string()))?
        .shape()
        .to_vec();
    let [distinct, width] = shape[..] else {
        return Err(bad("inputs", "expected a matrix".into()));
    };
    let inputs = numbers(tensors, "inputs")?;
    let known = numbers(tensors, "known_noise")?;
    let target = numbers(tensors, "target")?;
    let weight = numbers(tensors, "weight")?;
    let group: Vec<usize> = words(tensors, "group", Dtype::U64)?
        .map(|word| u64::from_le_bytes(word) as usize)
        .collect();
    let members = target.len();
    if known.len() != distinct
        || weight.len() != members
        || group.len() != members
        || group.iter().any(|&g| g >= distinct)
    {
        return Err(bad("rows", "the lengths of its tensors disagree".into()));
    }
    let mut values = Vec::with_capacity(members * width);
    for &g in &group {
        values.extend_from_slice(&inputs[g * width..(g + 1) * width]);
    }
    let noise = group.iter().map(|&g| known[g]).collect();
    Ok(Dataset::new(
        values,
        width,
        target,
        Some(weight),
        Some(noise),
    )?)
}

fn numbers(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<f64>> {
    Ok(words(tensors, name, Dtype::F64)?
        .map(f64::from_le_bytes)
        .collect())
}

fn words<'a>(
    tensors: &SafeTensors<'a>,
    name: &str,
    dtype: Dtype,
) -> Result<impl Iterator<Item = [u8; 8]> + use<'a>> {
    let view = tensors
        .tensor(name)
        .map_err(|error| bad(name, error.to_string()))?;
    if view.dtype() != dtype {
        return Err(bad(
            name,
            format!("expected {dtype:?}, found {:?}", view.dtype()),
        ));
    }
    let (chunks, _) = view.data().as_chunks::<8>();
    Ok(chunks.iter().copied())
}

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// SHA-256 of the model's JSON text and of each tensor's name, shape and bytes, tensors in the order of their names.
fn checksum<'a, 'b: 'a>(
    model: &Value,
    tensors: impl Iterator<Item = (&'a str, &'a TensorView<'b>)>,
) -> String {
    let mut sorted: Vec<_> = tensors.collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut hash = Sha256::new();
    hash.update(model.to_string().as_bytes());
    for (name, view) in sorted {
        hash.update(format!("\n{name} {:?} {:?}\n", view.dtype(), view.shape()).as_bytes());
        hash.update(view.data());
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn bad(origin: &str, problem: String) -> Error {
    Error::ModelFile {
        origin: origin.to_owned(),
        problem,
    }
}
