//! The model file: safetensors with one JSON text in its header. See `docs/model-file.md`.
//!
//! The header's `__metadata__` has one key, `quorate`: a JSON object with `format`, `version`, `checksum` and `model`.
//! The checksum is SHA-256 over the model's JSON text and every tensor. Loading executes nothing and trusts nothing.

mod committee;
pub mod members;
mod message;
mod mixture;
mod parts;
mod rows;

pub(crate) use message::{from_bytes as part_from_bytes, to_bytes as part_to_bytes};

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::answers::Method;
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::landmarks::State;
use crate::model::Model;

/// The newest version of the format that this program reads.
pub const VERSION: u64 = 2;
const FORMAT: &str = "quorate-model";
/// What the header of a network's file says, whose tensors are files of models.
pub(crate) const NETWORK_FORMAT: &str = "quorate-network";
const KEY: &str = "quorate";
/// Entry of the model's JSON text that goes with the tensors of a landmarks model.
const COMMITTEE: &str = "committee";

/// The header's JSON.
#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    checksum: String,
    model: Value,
}

/// The version that a model is written in: the first whose readers know everything that is in it.
pub(crate) fn version_of(fitted: &Fitted) -> u64 {
    // Readers of the first take every column by itself.
    match fitted.schema.proportions() {
        [] => 1,
        _ => 2,
    }
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
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
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
    let tensors = match &model.state {
        State::Rows(data) => rows::tensors(data),
        State::Parts(rows) => parts::tensors(rows),
        State::Mixture(state) => mixture::tensors(state),
        State::Supported(rows, committee) => {
            let mut tensors = parts::tensors(rows);
            tensors.extend(committee::tensors(committee));
            tensors
        }
        State::Committee(committee) => committee::tensors(committee),
    };
    let mut views = Vec::new();
    for Tensor(name, dtype, shape, bytes) in &tensors {
        let view = TensorView::new(*dtype, shape.clone(), bytes)
            .map_err(|error| bad("model", format!("tensor `{name}`: {error}")))?;
        views.push((*name, view));
    }
    let mut summary = readable(&model.fitted, "model")?;
    if let (Some(committee), Value::Object(entries)) = (model.committee(), &mut summary) {
        let record = readable(&committee::Record::of(committee), "model")?;
        entries.insert(COMMITTEE.into(), record);
    }
    let header = Header {
        format: FORMAT.into(),
        version: version_of(&model.fitted),
        checksum: checksum(&summary, views.iter().map(|(name, view)| (*name, view))),
        model: summary,
    };
    let text = serde_json::to_string(&header).map_err(|error| bad("model", error.to_string()))?;
    let metadata = HashMap::from([(KEY.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| bad("model", error.to_string()))
}

/// What is to be saved as JSON, which has been read again: JSON writes `null` for numbers that are infinite or none, and
/// otherwise only whoever opens the file would notice.
pub(crate) fn readable<T: Serialize + DeserializeOwned>(what: &T, origin: &str) -> Result<Value> {
    let value = serde_json::to_value(what)
        .map_err(|error| bad(origin, format!("cannot be saved: {error}")))?;
    match T::deserialize(&value) {
        Ok(_) => Ok(value),
        Err(error) => Err(bad(
            origin,
            format!(
                "was not saved, because nothing could read it again: a number in it is infinite or none at all \
                 ({error}); measure targets and inputs in units in which they are neither huge nor tiny"
            ),
        )),
    }
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
    let format = value.get("format").and_then(Value::as_str);
    if format != Some(FORMAT) {
        return Err(match format.and_then(kind_of) {
            Some((kind, verb)) => bad(origin, format!("this is {kind}, not a model; try {verb}")),
            None => foreign("its header names another format".into()),
        });
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
    let record = header.model.get(COMMITTEE).cloned();
    let fitted: Fitted =
        serde_json::from_value(header.model).map_err(|error| foreign(error.to_string()))?;
    let width = fitted.schema.columns().len();
    let outputs = fitted.schema.target().outputs();
    let functions = fitted.schema.target().functions();
    let committee = || {
        let record = record.ok_or_else(|| bad(COMMITTEE, "is missing".into()))?;
        let record = serde_json::from_value(record);
        let record = record.map_err(|error| bad(COMMITTEE, error.to_string()))?;
        committee::read(&tensors, record, width, functions)
    };
    let state = match fitted.found.method {
        Method::Landmarks(_) => committee().map(State::Committee),
        Method::Joint(_) => parts::read(&tensors, width, outputs).map(State::Parts),
        Method::Supported(_) => parts::read(&tensors, width, outputs)
            .and_then(|rows| Ok(State::Supported(rows, committee()?))),
        Method::Mixture(_) => mixture::read(&tensors, width, outputs).map(State::Mixture),
        Method::Exact | Method::Latent(_) | Method::Coupled => {
            rows::read(&tensors, width, outputs).map(State::Rows)
        }
        // Rows with a likelihood are kept as working targets.
        Method::Local(_) => rows::read(&tensors, width, functions).map(State::Rows),
    }
    .map_err(|error| foreign(error.to_string()))?;
    let found = &fitted.found;
    let is_latent = matches!(found.method, Method::Latent(_));
    let target = fitted.schema.target();
    let has_likelihood = is_latent || target.quantity().is_some();
    let coupled = found.method == Method::Coupled;
    if coupled && target.classes().is_none() {
        return Err(foreign(
            "it answers about classes that it does not have".into(),
        ));
    }
    let needs_link = target.classes().is_some() && found.through.is_none() && !coupled;
    let anchored = match &state {
        State::Committee(committee) => committee.anchor.is_some(),
        _ => found.through.is_some(),
    };
    if found.link.is_some_and(|link| !link.is_sound())
        || found.link.is_some() != needs_link
        || (has_likelihood && found.through.is_none())
        || found.through.is_some() != anchored
        || found.through.is_some_and(|through| !through.is_sound())
    {
        return Err(foreign(
            "what makes probabilities of its answers is damaged".into(),
        ));
    }
    let width = fitted.schema.columns().len();
    if found
        .spread
        .as_ref()
        .is_some_and(|own| !own.is_sound(width))
    {
        return Err(foreign("the spread of its answers is damaged".into()));
    }
    if found.mixture.is_some() != matches!(found.method, Method::Mixture(_)) {
        return Err(foreign("the processes of a mixture are damaged".into()));
    }
    Ok(Model::from_parts(fitted, state))
}

/// What a file of another format of ours is, and what reads it.
pub(crate) fn kind_of(format: &str) -> Option<(&'static str, &'static str)> {
    match format {
        FORMAT => Some(("a model", "`quorate predict` or `quorate inspect`")),
        members::FORMAT => Some(("a committee of members", "`quorate inspect`, or Python")),
        NETWORK_FORMAT => Some(("a network", "`quorate network query`")),
        _ => None,
    }
}

/// A tensor to be written: name, type, shape, bytes.
struct Tensor(&'static str, Dtype, Vec<usize>, Vec<u8>);

/// A tensor with two axes: their lengths and its numbers.
fn matrix(tensors: &SafeTensors<'_>, name: &str) -> Result<(usize, usize, Vec<f64>)> {
    let view = tensors
        .tensor(name)
        .map_err(|error| bad(name, error.to_string()))?;
    let [rows, columns] = view.shape()[..] else {
        return Err(bad(name, "expected a matrix".into()));
    };
    Ok((rows, columns, numbers(tensors, name)?))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_nothing_could_read_again_are_not_saved() {
        assert!(readable(&vec![1.0, 2.5], "model").is_ok());
        // Where nothing is a possible answer, nothing can be read again.
        assert!(readable(&Some(f64::NAN), "model").is_ok());
        for bad in [f64::NAN, f64::INFINITY] {
            let said = readable(&vec![1.0, bad], "model").map_err(|error| error.to_string());
            assert!(
                said.is_err_and(|said| said.starts_with("model: was not saved")),
                "{bad}"
            );
        }
    }
}
