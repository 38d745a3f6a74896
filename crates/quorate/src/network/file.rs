//! The file of a network: safetensors whose tensors are the files of its models. See `docs/model-file.md`.

use std::collections::HashMap;
use std::path::Path;

use quorate_gp::data::ColumnType;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conditional::{Conditional, Marginal};
use super::{Graph, Network};
use crate::error::{Error, Result};
use crate::file::NETWORK_FORMAT as FORMAT;

const VERSION: u64 = 1;
const KEY: &str = "quorate";

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    graph: Graph,
    conditionals: Vec<Record>,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    name: String,
    kind: ColumnType,
    marginal: Marginal,
    parents: Vec<String>,
    score: f64,
    /// The tensor with the model's file; none without parents.
    model: Option<String>,
}

fn bad(origin: &str, problem: impl std::fmt::Display) -> Error {
    Error::ModelFile {
        origin: origin.to_owned(),
        problem: format!("this is not a Quorate network file, or it is damaged ({problem})"),
    }
}

/// The bytes of a network's file.
pub fn network_to_bytes(network: &Network) -> Result<Vec<u8>> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut conditionals = Vec::new();
    for (place, own) in network.conditionals.iter().enumerate() {
        let mut model = None;
        if let Some(found) = &own.model {
            let name = format!("model_{place}");
            files.push((name.clone(), crate::file::to_bytes(found)?));
            model = Some(name);
        }
        conditionals.push(Record {
            name: own.name.clone(),
            kind: own.kind,
            marginal: own.marginal.clone(),
            parents: own.parents.clone(),
            score: own.score,
            model,
        });
    }
    let header = Header {
        format: FORMAT.into(),
        version: VERSION,
        graph: network.graph.clone(),
        conditionals,
        notes: network.notes.clone(),
    };
    let text = crate::file::readable(&header, "network")?.to_string();
    let mut views = Vec::new();
    for (name, bytes) in &files {
        let view = TensorView::new(Dtype::U8, vec![bytes.len()], bytes);
        views.push((name.as_str(), view.map_err(|error| bad("network", error))?));
    }
    let metadata = HashMap::from([(KEY.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| bad("network", error))
}

/// Reads a network from the bytes of its file; `origin` names it in errors. Each model has its own checksum.
pub fn network_from_bytes(bytes: &[u8], origin: &str) -> Result<Network> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| bad(origin, error))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| bad(origin, error))?;
    let text = metadata.metadata().as_ref().and_then(|map| map.get(KEY));
    let text = text.ok_or_else(|| bad(origin, "no `quorate` entry in its header"))?;
    let value: Value = serde_json::from_str(text).map_err(|error| bad(origin, error))?;
    let format = value.get("format").and_then(Value::as_str);
    if format != Some(FORMAT) {
        return Err(match format.and_then(crate::file::kind_of) {
            Some((kind, verb)) => Error::ModelFile {
                origin: origin.to_owned(),
                problem: format!("this is {kind}, not a network; try {verb}"),
            },
            None => bad(origin, "its header names another format"),
        });
    }
    let header: Header = serde_json::from_value(value).map_err(|error| bad(origin, error))?;
    if header.version > VERSION {
        return Err(bad(
            origin,
            "it is newer than this program: use a newer quorate",
        ));
    }
    header.graph.check()?;
    let names = header.conditionals.iter().map(|own| own.name.as_str());
    if !names.eq(header.graph.variables()) {
        return Err(bad(origin, "its graph and its conditionals disagree"));
    }
    let mut conditionals = Vec::new();
    for own in header.conditionals {
        let model = match &own.model {
            Some(name) => {
                let view = tensors.tensor(name).map_err(|error| bad(origin, error))?;
                Some(crate::file::from_bytes(view.data(), origin)?)
            }
            None => None,
        };
        let broken = match &own.marginal {
            Marginal::Labels(shares) => shares.is_empty(),
            Marginal::Count(tally) => !tally.is_sound(),
            Marginal::Number { .. } => false,
        };
        if broken || (model.is_none() && !own.parents.is_empty()) {
            return Err(bad(origin, format!("the conditional of `{}`", own.name)));
        }
        conditionals.push(Conditional {
            name: own.name,
            kind: own.kind,
            marginal: own.marginal,
            model,
            parents: own.parents,
            score: own.score,
        });
    }
    Ok(Network {
        graph: header.graph,
        conditionals,
        notes: header.notes,
    })
}

/// Writes a network to a file: whole or not at all.
pub fn save_network(network: &Network, path: &Path) -> Result<()> {
    let bytes = network_to_bytes(network)?;
    crate::file::write_whole(path, &bytes).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })
}

/// Reads a network from a file.
pub fn load_network(path: &Path) -> Result<Network> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    network_from_bytes(&bytes, &path.display().to_string())
}
