//! A network as a member: linearised around its most probable weights, its prior over functions integrated over the weights.

use std::f64::consts::PI;

use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::linalg::{Matrix, dot};
use quorate_gp::posterior::Predict;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Network;
use super::learn::{Laplace, Start, learn};
use crate::error::Result;
use crate::member::state::{damaged, list_of_factor};
use crate::member::{Expansion, Member, Recipe, Setting, State};

/// Hidden units; the evidence makes those that are not needed small.
const HIDDEN: usize = 8;
/// Starts; the one with the most evidence is kept, because the surface has many peaks.
const STARTS: u64 = 3;
/// Rows with which starts are compared where there are more than four times as many: the best then goes on with all.
const TRIAL_ROWS: usize = 5000;
/// Step of the sum that stands for an integral over a hidden unit's input, in units of the narrower of its two factors, and where
/// it ends in those of each.
const STEP: f64 = 0.25;
const ENDS: (f64, f64) = (20.0, 9.0);

/// A Bayesian network with one hidden layer.
#[derive(Clone, Debug)]
pub struct NetworkMember {
    network: Network,
    expansion: Expansion,
    found: Laplace,
    /// Of its starts.
    seed: u64,
}

impl NetworkMember {
    /// Learns a network from rows, from several starts.
    pub fn fit(hidden: usize, expansion: Expansion, rows: &Dataset, seed: u64) -> Result<Self> {
        Self::fit_under(hidden, expansion, rows, seed, None)
    }

    /// As [`NetworkMember::fit`], with the weights' prior precision held where one is given.
    pub fn fit_under(
        hidden: usize,
        expansion: Expansion,
        rows: &Dataset,
        seed: u64,
        held: Option<f64>,
    ) -> Result<Self> {
        let network = Network {
            inputs: expansion.width(),
            hidden,
        };
        let many = rows.rows() > 4 * TRIAL_ROWS;
        let trial = many.then(|| rows.select(&random_rows(rows.rows(), TRIAL_ROWS, seed)));
        let tried = trial.as_ref().unwrap_or(rows);
        let values = expansion.apply(tried.inputs());
        let from = |seed: u64| learn(network, &values, tried, Start::random(network, seed, held));
        let starts: Vec<Laplace> = (0..STARTS)
            .into_par_iter()
            .map(|start| from(seed.wrapping_add(start)))
            .collect::<Result<_>>()?;
        let mut starts = starts.into_iter();
        let first = starts.next().map_or_else(|| from(seed), Ok)?;
        let mut found = starts.fold(first, |best, next| {
            match next.log_evidence > best.log_evidence {
                true => next,
                false => best,
            }
        });
        if many {
            let start = Start {
                weights: found.weights,
                alpha: found.alpha,
                beta: found.beta,
                is_held: held.is_some(),
            };
            found = learn(network, &expansion.apply(rows.inputs()), rows, start)?;
        }
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

    /// Variance of the function before the rows were seen, over all weights under their prior (Neal 1996; Latouche 2007, 3.3.4,
    /// by Monte Carlo, of which this is the limit): `1 / alpha (1 + H E tanh^2(u))` with `u ~ N(0, (1 + |x|^2) / alpha)` the
    /// input of a hidden unit. Its mean is 0, because weights of either sign are as likely.
    fn prior_variance(&self, rows: &[f64]) -> Vec<f64> {
        let alpha = self.found.alpha;
        rows.par_chunks(self.network.inputs.max(1))
            .map(|row| {
                let spread = ((1.0 + dot(row, row)) / alpha).sqrt();
                (1.0 + self.network.hidden as f64 * mean_square(spread)) / alpha
            })
            .collect()
    }
}

/// `E tanh^2(u)` for `u ~ N(0, spread^2)`, as `1 - E sech^2(u)` by the trapezoidal rule: both factors of the integrand are analytic
/// in a strip and die out, so that its error falls exponentially in the step (here below 1e-14).
fn mean_square(spread: f64) -> f64 {
    let step = STEP * spread.min(1.0);
    let last = (ENDS.0.min(ENDS.1 * spread) / step).ceil() as usize;
    let term = |place: usize| {
        let u = step * place as f64;
        let z = u / spread;
        (-0.5 * z * z).exp() / u.cosh().powi(2)
    };
    let half: f64 = (1..=last).map(term).sum();
    let density = step / (spread * (2.0 * PI).sqrt());
    1.0 - density * (1.0 + 2.0 * half)
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
