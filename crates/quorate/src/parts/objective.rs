//! What a part says about hyperparameters, on its way: value and gradient of an objective that is a sum over parts.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Version of the format this program writes, and the newest it reads.
const VERSION: u64 = 1;
const FORMAT: &str = "quorate-objective";

/// A part's share of an objective at some hyperparameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveMessage {
    /// Fingerprint of what all parts have in common at these hyperparameters.
    pub shared: String,
    /// Name of the part.
    pub part: String,
    /// Where it was evaluated.
    pub coordinates: Vec<f64>,
    /// Its share of the objective.
    pub value: f64,
    /// Its share of the gradient.
    pub gradient: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    format: String,
    version: u64,
    checksum: String,
    message: ObjectiveMessage,
}

impl ObjectiveMessage {
    /// The message as bytes: JSON, versioned and checksummed. Numbers keep every bit.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let envelope = Envelope {
            format: FORMAT.into(),
            version: VERSION,
            checksum: self.checksum()?,
            message: self.clone(),
        };
        serde_json::to_vec(&envelope).map_err(|error| Error::Spec(error.to_string()))
    }

    /// Reads a message; `origin` names it in errors.
    pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<Self> {
        let wrong = |problem: String| Error::ModelFile {
            origin: origin.to_owned(),
            problem,
        };
        let envelope: Envelope = serde_json::from_slice(bytes).map_err(|error| {
            wrong(format!(
                "this is no share of an objective, or it is damaged ({error})"
            ))
        })?;
        if envelope.format != FORMAT || envelope.version > VERSION {
            return Err(wrong("another format, or a newer one".into()));
        }
        let message = envelope.message;
        if message.checksum()? != envelope.checksum {
            return Err(wrong(
                "its checksum does not match: it was damaged on its way".into(),
            ));
        }
        let is_finite = message.value.is_finite() && message.gradient.iter().all(|g| g.is_finite());
        if !is_finite {
            return Err(wrong("a number in it is not finite".into()));
        }
        if message.gradient.len() != message.coordinates.len() {
            return Err(wrong("its gradient and its coordinates disagree".into()));
        }
        Ok(message)
    }

    /// The sum of all shares, in the order of the parts' names: the same to the last bit whoever was first.
    pub fn sum(mut messages: Vec<ObjectiveMessage>) -> Result<(f64, Vec<f64>)> {
        messages.sort_by(|a, b| a.part.cmp(&b.part));
        let Some(first) = messages.first() else {
            return Err(Error::Spec(
                "there is no share of an objective to add".into(),
            ));
        };
        let bits = |own: &[f64]| own.iter().map(|c| c.to_bits()).collect::<Vec<_>>();
        let (shared, place) = (first.shared.clone(), bits(&first.coordinates));
        let mut gradient = vec![0.0; first.gradient.len()];
        let mut value = 0.0;
        let mut last: Option<&str> = None;
        for message in &messages {
            if message.shared != shared || bits(&message.coordinates) != place {
                return Err(Error::Spec(format!(
                    "part `{}` was evaluated under something else than the others",
                    message.part
                )));
            }
            if last == Some(message.part.as_str()) {
                return Err(Error::Spec(format!(
                    "part `{}` is there twice",
                    message.part
                )));
            }
            last = Some(&message.part);
            value += message.value;
            for (sum, own) in gradient.iter_mut().zip(&message.gradient) {
                *sum += own;
            }
        }
        Ok((value, gradient))
    }

    fn checksum(&self) -> Result<String> {
        let text = serde_json::to_vec(self).map_err(|error| Error::Spec(error.to_string()))?;
        let bytes = Sha256::digest(text);
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
