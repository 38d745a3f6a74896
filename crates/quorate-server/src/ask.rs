//! Many servers, asked the same questions.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use quorate::gp::data::{Column, Frame};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::{Address, Call, Heard, Trust};
use crate::error::{Error, Result};
use crate::infer::TEXT_LENGTH;
use crate::tensor::{Cells, Datatype, Head, Tensor};

/// Rows of one request.
const PIECE: usize = 4_096;

type Outcome<T> = std::result::Result<T, String>;

/// A server that is asked, and how it does.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Where it is.
    pub address: Address,
    /// Its model and what that takes and gives; why not, where it is absent.
    pub state: Outcome<Described>,
}

/// What an agent's model takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The model's name.
    pub model: String,
    /// Its version.
    pub version: String,
    /// Input columns; true where they are text.
    pub inputs: Vec<(String, bool)>,
    /// True where it predicts classes.
    pub is_of_classes: bool,
}

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

/// Servers that are asked together.
pub struct Panel {
    agents: Vec<Agent>,
    trust: Arc<Trust>,
    runtime: tokio::runtime::Runtime,
}

impl Panel {
    /// Asks every server what it takes and gives. One that does not answer is absent, which is no error.
    pub fn gather(addresses: Vec<Address>, trust: Trust) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::Other(error.to_string()))?;
        let trust = Arc::new(trust);
        let found = runtime.block_on(each(&addresses, &trust, |address, trust| async move {
            describe(&address, &trust).await
        }));
        let mut agents: Vec<Agent> = addresses
            .into_iter()
            .zip(found)
            .map(|(address, state)| Agent { address, state })
            .collect();
        // All must be asked the same: the first that answered sets the columns.
        let leader = agents.iter().find_map(|agent| {
            let described = agent.state.as_ref().ok()?;
            Some((agent.address.url.clone(), described.clone()))
        });
        for agent in &mut agents {
            if let (Ok(own), Some((url, first))) = (&agent.state, &leader)
                && (sorted(&own.inputs) != sorted(&first.inputs)
                    || own.is_of_classes != first.is_of_classes)
            {
                agent.state = Err(format!("has other inputs or outputs than {url}"));
            }
        }
        Ok(Self {
            agents,
            trust,
            runtime,
        })
    }

    /// The servers, in the order they were named.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// What the models take and give, if any server answered.
    pub fn described(&self) -> Option<&Described> {
        self.agents
            .iter()
            .find_map(|agent| agent.state.as_ref().ok())
    }

    /// Asks all that are present about the rows of a table; who fails is absent from then on. One entry for each agent.
    pub fn ask(&mut self, table: &Frame) -> Vec<Option<Opinion>> {
        let pieces: Arc<Vec<Frame>> = Arc::new(
            (0..table.rows())
                .step_by(PIECE)
                .map(|first| {
                    let last = table.rows().min(first + PIECE);
                    table.select_rows(&(first..last).collect::<Vec<_>>())
                })
                .collect(),
        );
        let trust = &self.trust;
        let mut found: Vec<Outcome<Opinion>> = self.runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for (index, agent) in self.agents.iter().enumerate() {
                if let Ok(described) = agent.state.clone() {
                    let (address, trust) = (agent.address.clone(), trust.clone());
                    let pieces = pieces.clone();
                    tasks.spawn(async move {
                        (index, opinion(&address, &trust, &described, &pieces).await)
                    });
                }
            }
            let mut found: Vec<Outcome<Opinion>> = vec![Err(String::new()); self.agents.len()];
            while let Some(done) = tasks.join_next().await {
                if let Ok((index, outcome)) = done {
                    found[index] = outcome;
                }
            }
            found
        });
        for (agent, outcome) in self.agents.iter_mut().zip(&mut found) {
            if let (Ok(_), Err(problem)) = (&agent.state, outcome) {
                agent.state = Err(std::mem::take(problem));
            }
        }
        found.into_iter().map(std::result::Result::ok).collect()
    }
}

fn sorted(inputs: &[(String, bool)]) -> Vec<&(String, bool)> {
    let mut sorted: Vec<_> = inputs.iter().collect();
    sorted.sort();
    sorted
}

/// The same question to all, at one time; replies in the order of the addresses.
async fn each<T, F>(
    addresses: &[Address],
    trust: &Arc<Trust>,
    question: impl Fn(Address, Arc<Trust>) -> F,
) -> Vec<Outcome<T>>
where
    T: Clone + Send + 'static,
    F: Future<Output = Outcome<T>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for (index, address) in addresses.iter().enumerate() {
        let asked = question(address.clone(), trust.clone());
        tasks.spawn(async move { (index, asked.await) });
    }
    let mut found = vec![Err("did not answer".to_owned()); addresses.len()];
    while let Some(done) = tasks.join_next().await {
        if let Ok((index, outcome)) = done {
            found[index] = outcome;
        }
    }
    found
}

async fn describe(address: &Address, trust: &Trust) -> Outcome<Described> {
    let model = match &address.model {
        Some(model) => model.clone(),
        None => only_model(address, trust).await?,
    };
    let reply = address
        .call(trust, Call::get(format!("/v2/models/{model}")))
        .await?;
    let value = text_of(&reply)?;
    let tensors = |key: &str| -> Vec<(String, String)> {
        let list = value[key].as_array().cloned().unwrap_or_default();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let each = list
            .iter()
            .map(|one| (word(&one["name"]), word(&one["datatype"])));
        each.collect()
    };
    let inputs = tensors("inputs").into_iter();
    let outputs = tensors("outputs");
    let has = |name: &str| outputs.iter().any(|(own, _)| own == name);
    let has_number = has("mean") && has("prior_variance");
    if !has_number && !has("probabilities") {
        return Err("gives neither `mean` with `prior_variance` nor `probabilities`".into());
    }
    Ok(Described {
        version: value["versions"][0].as_str().unwrap_or_default().to_owned(),
        inputs: inputs
            .map(|(name, datatype)| (name, datatype == "BYTES"))
            .collect(),
        is_of_classes: has("probabilities"),
        model,
    })
}

async fn only_model(address: &Address, trust: &Trust) -> Outcome<String> {
    let mut call = Call::get("/v2/repository/index");
    call.method = Method::POST;
    let list = text_of(&address.call(trust, call).await?)?;
    let names: Vec<&str> = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["name"].as_str())
        .collect();
    match names[..] {
        [name] => Ok(name.to_owned()),
        _ => Err(format!(
            "has the models {}: name one at the end of the address",
            names.join(", ")
        )),
    }
}

/// The JSON text of a reply; what it says where it is no success.
fn text_of(reply: &Heard) -> Outcome<Value> {
    let value: Option<Value> = serde_json::from_slice(&reply.body).ok();
    match (reply.status, value) {
        (200, Some(value)) => Ok(value),
        (200, None) => Err("its reply is not understood".into()),
        (status, value) => {
            let words = value.and_then(|value| value["error"].as_str().map(String::from));
            Err(format!("says {status}: {}", words.unwrap_or_default()))
        }
    }
}

async fn opinion(
    address: &Address,
    trust: &Trust,
    described: &Described,
    pieces: &[Frame],
) -> Outcome<Opinion> {
    let mut whole: Option<Opinion> = None;
    for piece in pieces {
        let reply = address.call(trust, question(described, piece)?).await?;
        let said = read(described, &reply, piece.rows())?;
        match (&mut whole, said) {
            (None, said) => whole = Some(said),
            (Some(whole), said) => whole.append(said),
        }
    }
    whole.ok_or_else(|| "was asked nothing".into())
}

/// The request for some rows: raw tensors both ways.
fn question(described: &Described, piece: &Frame) -> Outcome<Call> {
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
fn read(described: &Described, reply: &Heard, rows: usize) -> Outcome<Opinion> {
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
    fn append(&mut self, other: Opinion) {
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
