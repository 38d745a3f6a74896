//! Many servers, asked the same questions.

mod opinion;

pub use opinion::Opinion;

use std::sync::Arc;

use hyper::Method;
use quorate::gp::data::Frame;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::client::{Address, Call, Heard, Trust};
use crate::error::{Error, Result};
use opinion::{question, read};

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
