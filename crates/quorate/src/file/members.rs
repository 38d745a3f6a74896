//! The file of a committee of members: the same container, with the state of each member. See `docs/model-file.md`.

use std::collections::HashMap;
use std::path::Path;

use quorate_gp::linalg::Matrix;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{KEY, bad, bytes_of, checksum, numbers, readable};
use crate::classifier::class_kind;
use crate::ensemble::{Body, Committee, CommitteeModel, Guests, Jury, Members, council_of};
use crate::error::{Error, Result};
use crate::fusion::{Learned, class_rule, rule};
use crate::member::{Member, State, kind, latent_kind, restore_general};

const VERSION: u64 = 1;
pub(super) const FORMAT: &str = "quorate-committee";

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    checksum: String,
    model: Value,
}

/// The JSON text of a committee.
#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    members: Members,
    /// The text of each member's state, and how many lists of numbers go with it.
    states: Vec<(Value, usize)>,
    /// True where the last state is that of a member that saw only the rows all members share.
    has_base: bool,
    /// True where there are weights.
    has_weights: bool,
}

/// The bytes of a committee's file.
pub fn to_bytes(model: &CommitteeModel) -> Result<Vec<u8>> {
    let mut lists: Vec<(String, Vec<f64>)> = Vec::new();
    let (states, has_base, has_weights) = match &model.body {
        Body::Numbers(committee) => {
            let council = committee.council();
            let all = council.members().iter().map(|member| member.state());
            let base = council.base().map(|member| member.state());
            let states: Vec<State> = all.chain(base).collect::<Result<_>>()?;
            if let Some(learned) = committee.learned() {
                lists.push(("weights".into(), learned.weights.clone()));
                let size = learned.correlation.nrows();
                let cells = (0..size).flat_map(|column| (0..size).map(move |row| (row, column)));
                let cells = cells.map(|place| learned.correlation[place]).collect();
                lists.push(("correlation".into(), cells));
            }
            (
                states,
                council.base().is_some(),
                committee.learned().is_some(),
            )
        }
        Body::Classes(jury) => {
            let all = jury.members().iter().map(|member| member.state());
            if let Some(weights) = jury.weights() {
                lists.push(("weights".into(), weights.to_vec()));
            }
            (all.collect::<Result<_>>()?, false, jury.weights().is_some())
        }
    };
    let mut texts = Vec::new();
    for (place, state) in states.into_iter().enumerate() {
        texts.push((state.text, state.numbers.len()));
        for (list, own) in state.numbers.into_iter().enumerate() {
            lists.push((format!("member_{place:05}_{list:03}"), own));
        }
    }
    let stored = Stored {
        members: model.members.clone(),
        states: texts,
        has_base,
        has_weights,
    };
    let json = |error: serde_json::Error| bad("committee", error.to_string());
    let summary = readable(&stored, "committee")?;
    let bytes: Vec<(String, usize, Vec<u8>)> = lists
        .into_iter()
        .map(|(name, own)| (name, own.len(), bytes_of(&own)))
        .collect();
    let mut views = Vec::new();
    for (name, length, own) in &bytes {
        let view = TensorView::new(Dtype::F64, vec![*length], own)
            .map_err(|error| bad("committee", format!("tensor `{name}`: {error}")))?;
        views.push((name.as_str(), view));
    }
    let header = Header {
        format: FORMAT.into(),
        version: VERSION,
        checksum: checksum(&summary, views.iter().map(|(name, view)| (*name, view))),
        model: summary,
    };
    let text = serde_json::to_string(&header).map_err(json)?;
    let metadata = HashMap::from([(KEY.to_string(), text)]);
    safetensors::serialize(views, Some(metadata))
        .map_err(|error| bad("committee", error.to_string()))
}

/// Reads a committee from the bytes of its file; `origin` names it in errors. Guests are made again by whoever brought them.
pub fn from_bytes(bytes: &[u8], origin: &str, guests: &dyn Guests) -> Result<CommitteeModel> {
    let foreign = |error: String| {
        bad(
            origin,
            format!("this is not a Quorate committee file, or it is damaged ({error})"),
        )
    };
    let text = |error: safetensors::SafeTensorError| foreign(error.to_string());
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(text)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(text)?;
    let header = metadata.metadata().as_ref().and_then(|map| map.get(KEY));
    let header = header.ok_or_else(|| foreign("no `quorate` entry in its header".into()))?;
    let json = |error: serde_json::Error| foreign(error.to_string());
    let header: Header = serde_json::from_str(header).map_err(json)?;
    if header.format != FORMAT || header.version > VERSION {
        return Err(foreign("its header names another format".into()));
    }
    let views = tensors.tensors();
    let named = views.iter().map(|(name, view)| (name.as_str(), view));
    if checksum(&header.model, named) != header.checksum {
        return Err(foreign("its checksum does not match".into()));
    }
    let stored: Stored = serde_json::from_value(header.model).map_err(json)?;
    let mut states = Vec::new();
    for (place, (text, count)) in stored.states.into_iter().enumerate() {
        let lists = (0..count).map(|list| {
            let name = format!("member_{place:05}_{list:03}");
            numbers(&tensors, &name)
        });
        states.push(State {
            text,
            numbers: lists.collect::<Result<_>>()?,
        });
    }
    let weights = match stored.has_weights {
        true => Some(numbers(&tensors, "weights")?),
        false => None,
    };
    let members = stored.members;
    let count = members.kinds.len();
    if states.len() != count + usize::from(stored.has_base)
        || count == 0
        || weights.as_ref().is_some_and(|own| own.len() != count)
    {
        return Err(foreign("its members are not all there".into()));
    }
    let strange = |name: &str| Error::Spec(format!("nobody here knows the member `{name}`"));
    let first = members.kinds[0].clone();
    let kinds = members.kinds.iter().chain(std::iter::once(&first));
    let is_quantity = members.schema.target().quantity().is_some();
    if is_quantity != members.through.is_some()
        || members.through.is_some_and(|through| !through.is_sound())
    {
        return Err(foreign("what makes targets of its answers".into()));
    }
    let body = match members.schema.target().classes() {
        Some(classes) => {
            let each = kinds
                .zip(&states)
                .map(|(name, state)| match class_kind(name) {
                    Some(kind) => (kind.restore)(state),
                    None => guests
                        .restore_class(name, state)
                        .unwrap_or_else(|| Err(strange(name))),
                });
            let rule = class_rule(&members.rule).ok_or_else(|| foreign("its rule".into()))?;
            let all = each.collect::<Result<_>>()?;
            Body::Classes(Jury::new(
                all,
                rule.fusion,
                classes.shares().to_vec(),
                weights,
            ))
        }
        None => {
            let each = kinds.zip(&states).map(|(name, state)| {
                if is_quantity {
                    latent_kind(name).ok_or_else(|| strange(name))?;
                    let member: Box<dyn Member> = Box::new(restore_general(state)?);
                    return Ok(member);
                }
                match kind(name) {
                    Some(kind) => (kind.restore)(state),
                    None => guests
                        .restore(name, state)
                        .unwrap_or_else(|| Err(strange(name))),
                }
            });
            let mut all: Vec<_> = each.collect::<Result<_>>()?;
            let base = if stored.has_base { all.pop() } else { None };
            let rule = rule(&members.rule).ok_or_else(|| foreign("its rule".into()))?;
            let learned = match weights {
                None => None,
                Some(weights) => {
                    let cells = numbers(&tensors, "correlation")?;
                    if cells.len() != count * count {
                        return Err(foreign("what was learned about its members".into()));
                    }
                    let correlation =
                        Matrix::from_fn(count, count, |row, column| cells[column * count + row]);
                    Some(Learned {
                        weights,
                        correlation,
                    })
                }
            };
            let council = council_of(all, members.spec.members.len() > 1);
            let council = match base {
                Some(base) => council.with_base(base),
                None => council,
            };
            Body::Numbers(Committee::new(council, rule.fusion, learned))
        }
    };
    Ok(CommitteeModel { members, body })
}

/// True where the bytes say that they are a committee's file, sound or not.
pub fn is_committee(bytes: &[u8]) -> bool {
    let Ok((_, metadata)) = SafeTensors::read_metadata(bytes) else {
        return false;
    };
    let header = metadata.metadata().as_ref().and_then(|map| map.get(KEY));
    let header = header.and_then(|text| serde_json::from_str::<Value>(text).ok());
    header.is_some_and(|header| header.get("format").and_then(Value::as_str) == Some(FORMAT))
}

/// Writes a committee to a file: whole or not at all.
pub fn save(model: &CommitteeModel, path: &Path) -> Result<()> {
    let bytes = to_bytes(model)?;
    super::write_whole(path, &bytes).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })
}

/// Reads a committee from a file.
pub fn load(path: &Path, guests: &dyn Guests) -> Result<CommitteeModel> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    from_bytes(&bytes, &path.display().to_string(), guests)
}
