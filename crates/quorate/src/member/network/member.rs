//! A network as a member: linearised around its most probable weights, its prior over functions by Monte Carlo.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::linalg::{Matrix, dot};
use quorate_gp::posterior::Predict;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Network;
use super::learn::{Laplace, learn, normals};
use crate::error::Result;
use crate::member::state::{damaged, list_of_factor};
use crate::member::{Expansion, Member, Recipe, Setting, State};

/// Hidden units; the evidence makes those that are not needed small.
const HIDDEN: usize = 8;
/// Starts; the one with the most evidence is kept, because the surface has many peaks.
const STARTS: u64 = 3;
/// Weights drawn from their prior: its variance at a query is known to a tenth.
const DRAWS: usize = 200;

/// A Bayesian network with one hidden layer.
#[derive(Clone, Debug)]
pub struct NetworkMember {
    network: Network,
    expansion: Expansion,
    found: Laplace,
    seed: u64,
}

impl NetworkMember {
    /// Learns a network from rows, from several starts.
    pub fn fit(hidden: usize, expansion: Expansion, rows: &Dataset, seed: u64) -> Result<Self> {
        let network = Network {
            inputs: expansion.width(),
            hidden,
        };
        let values = expansion.apply(rows.inputs());
        let starts: Vec<Laplace> = (0..STARTS)
            .into_par_iter()
            .map(|start| learn(network, &values, rows, seed.wrapping_add(start)))
            .collect::<Result<_>>()?;
        let mut starts = starts.into_iter();
        let first = starts
            .next()
            .map_or_else(|| learn(network, &values, rows, seed), Ok)?;
        let found = starts.fold(first, |best, next| {
            match next.log_evidence > best.log_evidence {
                true => next,
                false => best,
            }
        });
        Ok(Self {
            network,
            expansion,
            found,
            seed,
        })
    }

    /// The network.
    pub fn network(&self) -> Network {
        self.network
    }

    pub(in crate::member) fn found(&self) -> &Laplace {
        &self.found
    }

    pub(in crate::member) fn expanded(&self, query: Inputs<'_>) -> Vec<f64> {
        self.expansion.apply(query)
    }

    /// Variance of the function before the rows were seen: over weights drawn from their prior (Neal 1996; Latouche 2007,
    /// 3.3.4). Its mean is 0, because weights of either sign are as likely.
    fn prior_variance(&self, rows: &[f64]) -> Vec<f64> {
        let size = self.network.weights();
        let scale = 1.0 / self.found.alpha.sqrt();
        let drawn = normals(size * DRAWS, self.seed ^ 0x7072);
        let drawn: Vec<f64> = drawn.into_iter().map(|w| w * scale).collect();
        rows.par_chunks(self.network.inputs.max(1))
            .map(|row| {
                let draws = drawn.chunks_exact(size);
                let squares = draws.map(|weights| self.network.output(weights, row).powi(2));
                squares.sum::<f64>() / DRAWS as f64
            })
            .collect()
    }
}

impl Predict for NetworkMember {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let variance = self.prior_variance(&self.expansion.apply(query));
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| variance[row]),
        }
    }

    /// `f(w_MP, x)` and `J H^-1 J'` (thesis 2.1.2), at most the prior's variance: a linear function of the weights does not
    /// know that units saturate.
    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        let rows = self.expansion.apply(query);
        let prior = self.prior_variance(&rows);
        let (outputs, slopes) = self.network.slopes(&self.found.weights, &rows);
        let mut slopes = slopes.transpose().to_owned();
        self.found.factor.whiten(slopes.as_mut());
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| outputs[row]),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| {
                let own = slopes.col_as_slice(row);
                dot(own, own).min(prior[row])
            }),
        })
    }

    fn joint(&self, _query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        Err(quorate_gp::Error::Invalid(
            "a network's beliefs are formed one query at a time".into(),
        ))
    }
}

impl Member for NetworkMember {
    fn noise_variance(&self) -> f64 {
        1.0 / self.found.beta
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.found.log_evidence)
    }

    fn state(&self) -> Result<State> {
        let stored = Stored {
            network: self.network,
            expansion: self.expansion.clone(),
            seed: self.seed,
        };
        let found = &self.found;
        State::new(
            &stored,
            vec![
                vec![found.alpha, found.beta, found.log_evidence],
                found.weights.clone(),
                list_of_factor(&found.factor),
            ],
        )
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    network: Network,
    expansion: Expansion,
    seed: u64,
}

pub fn restore(state: &State) -> Result<Box<dyn Member>> {
    let stored: Stored = state.read()?;
    let [alpha, beta, log_evidence] = *state.list(0)? else {
        return Err(damaged("the size of weights and noise"));
    };
    let weights = state.list(1)?.to_vec();
    let network = stored.network;
    if network.inputs != stored.expansion.width() || weights.len() != network.weights() {
        return Err(damaged("the number of its weights"));
    }
    Ok(Box::new(NetworkMember {
        network,
        expansion: stored.expansion,
        found: Laplace {
            factor: state.factor(2, weights.len())?,
            weights,
            alpha,
            beta,
            log_evidence,
        },
        seed: stored.seed,
    }))
}

struct Learning {
    expansion: Expansion,
    seed: u64,
}

impl Recipe for Learning {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let fitted = NetworkMember::fit(HIDDEN, self.expansion.clone(), rows, self.seed)?;
        Ok(Box::new(fitted))
    }
}

pub fn prepare(setting: &Setting<'_>, _rows: &Dataset) -> Result<Box<dyn Recipe>> {
    Ok(Box::new(Learning {
        expansion: Expansion::of(setting.columns),
        seed: setting.seed,
    }))
}
