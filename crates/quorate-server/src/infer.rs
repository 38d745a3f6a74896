//! One inference: from the bytes of a request to the bytes of a reply.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::columns;
use crate::error::Refusal;
use crate::limits::Limits;
use crate::outputs::Wanted;
use crate::shelf::Loaded;
use crate::tensor::{Head, Tensor};

/// Tells how many bytes of a body are JSON text, where raw tensors follow it.
pub const TEXT_LENGTH: &str = "inference-header-content-length";

#[derive(Deserialize)]
struct Text {
    id: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    inputs: Vec<Head>,
    #[serde(default)]
    outputs: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// A request that was understood.
pub struct Request {
    id: Option<String>,
    inputs: Vec<Tensor>,
    wanted: Wanted,
    /// Which outputs are sent as raw bytes; the default for those not named.
    raw: Vec<bool>,
    all_raw: bool,
}

impl Request {
    /// Reads the body of a request.
    pub fn read(headers: &HeaderMap, body: &Bytes) -> Result<Self, Refusal> {
        let length = match headers.get(TEXT_LENGTH) {
            None => body.len(),
            Some(value) => {
                let length = value.to_str().ok().and_then(|text| text.parse().ok());
                let length: Option<usize> = length.filter(|length| *length <= body.len());
                length.ok_or_else(|| {
                    Refusal::bad(format!("`{TEXT_LENGTH}` is not a length within the body"))
                })?
            }
        };
        let (text, mut raw) = body.split_at(length);
        let text: Text = serde_json::from_slice(text)
            .map_err(|error| Refusal::bad(format!("the request is not understood: {error}")))?;
        let mut inputs = Vec::with_capacity(text.inputs.len());
        for head in text.inputs {
            let own = match head.binary_size()? {
                None => None,
                Some(size) if size <= raw.len() => {
                    let (own, rest) = raw.split_at(size);
                    raw = rest;
                    Some(own)
                }
                Some(_) => {
                    return Err(Refusal::bad(format!(
                        "input `{}` has more bytes than follow the text",
                        head.name
                    )));
                }
            };
            inputs.push(head.read(own)?);
        }
        if !raw.is_empty() {
            return Err(Refusal::bad(format!(
                "{} bytes at the end belong to no input",
                raw.len()
            )));
        }
        let all_raw = truth(&text.parameters, "binary_data_output")?;
        let mut quantiles = quantiles(&text.parameters)?;
        let mut raw = Vec::with_capacity(text.outputs.len());
        for output in &text.outputs {
            raw.push(match output.parameters.contains_key("binary_data") {
                true => truth(&output.parameters, "binary_data")?,
                false => all_raw,
            });
            let own = self::quantiles(&output.parameters)?;
            if !own.is_empty() {
                quantiles = own;
            }
        }
        if quantiles.is_empty() {
            quantiles = vec![0.025, 0.5, 0.975];
        }
        Ok(Self {
            id: text.id,
            inputs,
            wanted: Wanted {
                names: text.outputs.into_iter().map(|output| output.name).collect(),
                quantiles,
                latent: truth(&text.parameters, "latent")?,
            },
            raw,
            all_raw,
        })
    }

    /// Asks the model. Also tells the number of rows.
    pub fn answer(self, loaded: &Loaded, limits: &Limits) -> Result<(Reply, usize), Refusal> {
        let table = columns::frame(loaded.model.schema(), self.inputs, limits)?;
        let outputs = self.wanted.answer(&loaded.model, &table, limits)?;
        let raw = outputs.iter().enumerate();
        let raw = raw.map(|(index, _)| self.raw.get(index).copied().unwrap_or(self.all_raw));
        let reply = Reply {
            id: self.id,
            model: loaded.name.clone(),
            version: loaded.version.clone(),
            raw: raw.collect(),
            outputs,
        };
        Ok((reply, table.rows()))
    }
}

/// What a model said.
pub struct Reply {
    id: Option<String>,
    model: String,
    version: String,
    outputs: Vec<Tensor>,
    raw: Vec<bool>,
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut tail = Vec::new();
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (tensor, raw) in self.outputs.iter().zip(&self.raw) {
            let size = raw.then(|| {
                let bytes = tensor.raw();
                tail.extend_from_slice(&bytes);
                bytes.len()
            });
            outputs.push(tensor.json(size));
        }
        let mut value = json!({ "model_name": self.model, "model_version": self.version });
        if let Some(id) = self.id {
            value["id"] = json!(id);
        }
        value["outputs"] = Value::Array(outputs);
        let mut body = value.to_string().into_bytes();
        let length = body.len();
        let any_raw = self.raw.contains(&true);
        body.extend(tail);
        let mut response = body.into_response();
        let headers = response.headers_mut();
        let kind = match any_raw {
            true => {
                headers.insert(TEXT_LENGTH, HeaderValue::from(length));
                "application/octet-stream"
            }
            false => "application/json",
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}

fn truth(parameters: &Map<String, Value>, name: &str) -> Result<bool, Refusal> {
    match parameters.get(name) {
        None => Ok(false),
        Some(value) => value
            .as_bool()
            .ok_or_else(|| Refusal::bad(format!("parameter `{name}` is true or false"))),
    }
}

/// Probabilities between 0 and 1: a list, or a text with commas (parameters of the protocol are plain values).
fn quantiles(parameters: &Map<String, Value>) -> Result<Vec<f64>, Refusal> {
    let wrong = || Refusal::bad("parameter `quantiles` holds at most 100 numbers between 0 and 1");
    let numbers: Option<Vec<f64>> = match parameters.get("quantiles") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(Value::as_f64).collect(),
        Some(Value::Number(number)) => number.as_f64().map(|number| vec![number]),
        Some(Value::String(text)) => text.split(',').map(|p| p.trim().parse().ok()).collect(),
        Some(_) => None,
    };
    numbers
        .filter(|list| list.len() <= 100 && list.iter().all(|p| *p > 0.0 && *p < 1.0))
        .ok_or_else(wrong)
}
