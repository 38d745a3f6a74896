//! A question and the opinion in its reply.

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use quorate::gp::data::{Column, Frame};
use serde_json::{Value, json};

use super::{Described, Outcome, text_of};
use crate::client::{Call, Heard};
use crate::infer::TEXT_LENGTH;
use crate::tensor::{Cells, Datatype, Head, Tensor};

/// What an agent believes about the rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Opinion {
    /// About a number, row by row.
    Number {
        /// Expected value.
        mean: Vec<f64>,
        /// Variance of the function.
        latent_variance: Vec<f64>,
        /// Variance of the noise of a new observation.
        noise: Vec<f64>,
        /// What it expected before it saw its rows.
        prior_mean: Vec<f64>,
        /// With which variance.
        prior_variance: Vec<f64>,
    },
    /// About classes.
    Classes {
        /// Their labels.
        labels: Vec<String>,
        /// Their probabilities, row after row.
        probabilities: Vec<f64>,
    },
}

/// The request for some rows: raw tensors both ways.
pub(super) fn question(described: &Described, piece: &Frame) -> Outcome<Call> {
    let mut tensors = Vec::with_capacity(described.inputs.len());
    for (name, is_text) in &described.inputs {
        let column = piece
            .column(name)
            .ok_or_else(|| format!("wants a column `{name}`, which the table has not"))?;
        let cells = match column {
            Column::Number(cells) => Cells::Numbers(cells.clone()),
            Column::Text(cells) => Cells::Text(cells.clone()),
        };
        if matches!(cells, Cells::Text(_)) != *is_text {
            return Err(format!("wants other cells in column `{name}`"));
        }
        tensors.push(Tensor {
            name: name.clone(),
            datatype: if *is_text {
                Datatype::Bytes
            } else {
                Datatype::Fp64
            },
            shape: vec![piece.rows()],
            cells,
        });
    }
    let raw: Vec<Vec<u8>> = tensors.iter().map(Tensor::raw).collect();
    let inputs = tensors.iter().zip(&raw);
    let inputs: Vec<Value> = inputs
        .map(|(tensor, raw)| tensor.json(Some(raw.len())))
        .collect();
    let outputs: &[&str] = match described.is_of_classes {
        true => &["probabilities", "classes"],
        false => &[
            "mean",
            "variance",
            "latent_variance",
            "prior_mean",
            "prior_variance",
        ],
    };
    let outputs: Vec<Value> = outputs.iter().map(|name| json!({ "name": name })).collect();
    let text = json!({
        "inputs": inputs,
        "outputs": outputs,
        "parameters": { "binary_data_output": true },
    });
    let mut body = text.to_string().into_bytes();
    let mut headers = HeaderMap::new();
    headers.insert(TEXT_LENGTH, body.len().into());
    body.extend(raw.into_iter().flatten());
    Ok(Call {
        method: Method::POST,
        path: format!("/v2/models/{}/infer", described.model),
        headers,
        body: Bytes::from(body),
    })
}

/// The opinion in a reply. An agent may be anybody: its numbers are looked at before they are believed.
pub(super) fn read(described: &Described, reply: &Heard, rows: usize) -> Outcome<Opinion> {
    let length = reply.headers.get(TEXT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let length = length.unwrap_or(reply.body.len()).min(reply.body.len());
    let (text, mut raw) = reply.body.split_at(length);
    let text = text_of(&Heard {
        status: reply.status,
        headers: HeaderMap::new(),
        body: Bytes::copy_from_slice(text),
    })?;
    let mut tensors = Vec::new();
    for one in text["outputs"].as_array().into_iter().flatten() {
        let head: Head = serde_json::from_value(one.clone()).map_err(|error| error.to_string())?;
        let size = head.binary_size().map_err(|refusal| refusal.sentence)?;
        let own = match size {
            None => None,
            Some(size) if size <= raw.len() => {
                let (own, rest) = raw.split_at(size);
                raw = rest;
                Some(own)
            }
            Some(_) => return Err("its reply is cut off".into()),
        };
        tensors.push(head.read(own).map_err(|refusal| refusal.sentence)?);
    }
    let numbers = |name: &str| -> Outcome<Vec<f64>> {
        let own = tensors.iter().find(|tensor| tensor.name == name);
        match own.map(|tensor| &tensor.cells) {
            Some(Cells::Numbers(cells)) if cells.iter().all(|cell| cell.is_finite()) => {
                Ok(cells.clone())
            }
            Some(_) => Err(format!("its `{name}` holds what is no finite number")),
            None => Err(format!("its reply has no `{name}`")),
        }
    };
    if described.is_of_classes {
        let labels = tensors.iter().find(|tensor| tensor.name == "classes");
        let labels: Vec<String> = match labels.map(|tensor| &tensor.cells) {
            Some(Cells::Text(cells)) => cells
                .iter()
                .map(|cell| cell.as_deref().unwrap_or("").to_owned())
                .collect(),
            _ => return Err("its reply has no `classes`".into()),
        };
        let probabilities = numbers("probabilities")?;
        let sums = probabilities.chunks(labels.len().max(1));
        let are_sound = probabilities.len() == rows * labels.len()
            && probabilities.iter().all(|p| *p >= 0.0)
            && sums
                .map(|row| row.iter().sum::<f64>())
                .all(|sum| (sum - 1.0).abs() < 1e-6);
        return match are_sound {
            true => Ok(Opinion::Classes {
                labels,
                probabilities,
            }),
            false => Err("its probabilities do not add up to one".into()),
        };
    }
    let (mean, variance) = (numbers("mean")?, numbers("variance")?);
    let latent_variance = numbers("latent_variance")?;
    let (prior_mean, prior_variance) = (numbers("prior_mean")?, numbers("prior_variance")?);
    let all = [
        &mean,
        &variance,
        &latent_variance,
        &prior_mean,
        &prior_variance,
    ];
    if all.iter().any(|own| own.len() != rows) {
        return Err(format!(
            "it was asked about {rows} rows and answered about others"
        ));
    }
    let variances = [&variance, &latent_variance, &prior_variance];
    if variances
        .iter()
        .any(|own| own.iter().any(|value| *value < 0.0))
    {
        return Err("it answers with negative variances".into());
    }
    let noise = variance
        .iter()
        .zip(&latent_variance)
        .map(|(all, own)| (all - own).max(0.0));
    Ok(Opinion::Number {
        noise: noise.collect(),
        mean,
        latent_variance,
        prior_mean,
        prior_variance,
    })
}

impl Opinion {
    /// Puts the opinion about further rows behind this one.
    pub(super) fn append(&mut self, other: Opinion) {
        match (self, other) {
            (
                Opinion::Number {
                    mean,
                    latent_variance,
                    noise,
                    prior_mean,
                    prior_variance,
                },
                Opinion::Number {
                    mean: a,
                    latent_variance: b,
                    noise: c,
                    prior_mean: d,
                    prior_variance: e,
                },
            ) => {
                mean.extend(a);
                latent_variance.extend(b);
                noise.extend(c);
                prior_mean.extend(d);
                prior_variance.extend(e);
            }
            (
                Opinion::Classes { probabilities, .. },
                Opinion::Classes {
                    probabilities: more,
                    ..
                },
            ) => probabilities.extend(more),
            // One agent gives one kind of opinion.
            _ => {}
        }
    }
}
