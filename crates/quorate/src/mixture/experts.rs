//! Mixtures of linear or network experts under linear or network gates, trained by exact gradients (Tresp 2001, *Committee
//! Machines*, sec. 3.1 and 3.2.2).

use quorate_gp::data::Inputs;
use quorate_gp::learn::{Evaluation, Objective, SearchLimits, maximise};
use quorate_gp::watch::Watch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::gate::{log_sum, softmax};
use super::hierarchy::TreeRows;
use crate::error::{Error, Result};
use crate::member::Network;

/// Rows whose gradients are summed together; fixed, so that sums have one order on any number of threads.
const CHUNK: usize = 128;
/// Logarithms of noise deviations are held above this, for standardised targets: no expert can shrink onto one row.
const LEAST_LOG_DEVIATION: f64 = -4.0;
/// Weights stay within this.
const REACH: f64 = 1e3;

/// A function of the inputs with weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Map {
    /// One number everywhere.
    Constant,
    /// `w_0 + w'x`.
    Linear,
    /// One hidden layer of this many units.
    Network {
        /// Hidden units.
        hidden: usize,
    },
}

impl Map {
    /// Number of weights.
    pub fn weights(self, inputs: usize) -> usize {
        match self {
            Map::Constant => 1,
            Map::Linear => inputs + 1,
            Map::Network { hidden } => Network { inputs, hidden }.weights(),
        }
    }

    /// Value at a row and its slope in every weight.
    pub fn slope(self, weights: &[f64], row: &[f64]) -> (f64, Vec<f64>) {
        match self {
            Map::Constant => (weights[0], vec![1.0]),
            Map::Linear => {
                let sum: f64 = weights[1..].iter().zip(row).map(|(w, x)| w * x).sum();
                let slope = std::iter::once(1.0).chain(row.iter().copied());
                (weights[0] + sum, slope.collect())
            }
            Map::Network { hidden } => Network {
                inputs: row.len(),
                hidden,
            }
            .slope(weights, row),
        }
    }
}

/// What is trained for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Training {
    /// Likelihood: experts compete for rows.
    #[default]
    Competing,
    /// Squared error of the weighted mean: experts cooperate.
    Cooperating,
}

/// The functions of a mixture of experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpertShape {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of experts.
    pub experts: usize,
    /// What an expert is, `f_i`.
    pub expert: Map,
    /// What a gate is, `h_i`.
    pub gate: Map,
    /// What the logarithm of a noise deviation is, `s_i`.
    pub noise: Map,
}

/// Values of all functions at one row, with their slopes: experts, gates, noises.
struct Values {
    values: [Vec<f64>; 3],
    slopes: [Vec<Vec<f64>>; 3],
}

impl ExpertShape {
    fn maps(&self) -> [Map; 3] {
        [self.expert, self.gate, self.noise]
    }

    /// Number of weights: those of all experts, of all gates, of all noises.
    pub fn weights(&self) -> usize {
        let each = self.maps().map(|map| map.weights(self.inputs));
        self.experts * each.iter().sum::<usize>()
    }

    fn values(&self, weights: &[f64], row: &[f64]) -> Values {
        let mut rest = weights;
        let mut found = Values {
            values: Default::default(),
            slopes: Default::default(),
        };
        for (place, map) in self.maps().into_iter().enumerate() {
            for _ in 0..self.experts {
                let (own, others) = rest.split_at(map.weights(self.inputs));
                let (value, slope) = map.slope(own, row);
                found.values[place].push(value);
                found.slopes[place].push(slope);
                rest = others;
            }
        }
        found
    }

    /// Share, mean and variance of every expert at a row.
    pub fn voices(&self, weights: &[f64], row: &[f64]) -> Vec<(f64, f64, f64)> {
        let [means, heights, spreads] = self.values(weights, row).values;
        let shares = softmax(&heights).into_iter();
        let each = shares.zip(means).zip(spreads);
        each.map(|((share, mean), spread)| {
            let spread = spread.max(LEAST_LOG_DEVIATION);
            (share, mean, (2.0 * spread).exp())
        })
        .collect()
    }

    /// Random weights to start from.
    fn start(&self, seed: u64) -> Vec<f64> {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let each = self.maps().map(|map| map.weights(self.inputs));
        let noises = self.weights() - self.experts * each[2];
        (0..self.weights())
            .map(|place| match place.checked_sub(noises) {
                None => 1.5 * uniform(),
                // Noises start at half of the target's deviation, everywhere alike.
                Some(_) if matches!(self.noise, Map::Network { .. }) => 0.2 * uniform(),
                Some(within) if within.is_multiple_of(each[2]) => -0.7,
                Some(_) => 0.0,
            })
            .collect()
    }
}

/// Penalised log likelihood, or less half the squared error, of rows.
pub struct ExpertObjective<'a> {
    /// The functions.
    pub shape: ExpertShape,
    /// The rows.
    pub rows: TreeRows<'a>,
    /// What is trained for.
    pub training: Training,
    /// Precision of every weight before any row.
    pub decay: f64,
}

impl ExpertObjective<'_> {
    /// What one row adds, and the slopes in the functions' values: `f_i`, `h_i`, `s_i` (sec. 3.1).
    fn row(&self, values: &[Vec<f64>; 3], target: f64) -> (f64, [Vec<f64>; 3]) {
        let [means, heights, spreads] = values;
        let shares = softmax(heights);
        match self.training {
            Training::Competing => {
                let all = log_sum(heights.iter().copied());
                let held: Vec<f64> = spreads.iter().map(|s| s.max(LEAST_LOG_DEVIATION)).collect();
                let ratio = |i: usize| (target - means[i]).powi(2) * (-2.0 * held[i]).exp();
                let logs: Vec<f64> = (0..means.len())
                    .map(|i| {
                        let constant = 0.5 * (2.0 * std::f64::consts::PI).ln();
                        heights[i] - all - constant - held[i] - 0.5 * ratio(i)
                    })
                    .collect();
                let claims = softmax(&logs);
                let each = 0..means.len();
                let to_mean = each
                    .clone()
                    .map(|i| claims[i] * (target - means[i]) * (-2.0 * held[i]).exp());
                let to_height = each.clone().map(|i| claims[i] - shares[i]);
                let to_spread = each.map(|i| {
                    if spreads[i] > LEAST_LOG_DEVIATION {
                        claims[i] * (ratio(i) - 1.0)
                    } else {
                        0.0
                    }
                });
                let slopes = [to_mean.collect(), to_height.collect(), to_spread.collect()];
                (log_sum(logs.iter().copied()), slopes)
            }
            Training::Cooperating => {
                let mean: f64 = shares.iter().zip(means).map(|(g, f)| g * f).sum();
                let error = target - mean;
                let to_mean = shares.iter().map(|share| share * error).collect();
                let to_height = (shares.iter().zip(means))
                    .map(|(share, own)| share * (own - mean) * error)
                    .collect();
                let slopes = [to_mean, to_height, vec![0.0; means.len()]];
                (-0.5 * error * error, slopes)
            }
        }
    }
}

impl Objective for ExpertObjective<'_> {
    fn evaluate(&self, weights: &[f64]) -> quorate_gp::Result<Evaluation> {
        let inputs: Inputs<'_> = self.rows.inputs;
        let chunks: Vec<Evaluation> = (0..inputs.rows())
            .into_par_iter()
            .step_by(CHUNK)
            .map(|first| {
                let mut sum = Evaluation {
                    value: 0.0,
                    gradient: vec![0.0; weights.len()],
                };
                for row in first..(first + CHUNK).min(inputs.rows()) {
                    let found = self.shape.values(weights, inputs.row(row));
                    let (value, slopes) = self.row(&found.values, self.rows.targets[row]);
                    let count = self.rows.weights[row];
                    sum.value += count * value;
                    let through = slopes.iter().flatten().zip(found.slopes.iter().flatten());
                    let mut rest = &mut sum.gradient[..];
                    for (slope, inner) in through {
                        let (own, others) = rest.split_at_mut(inner.len());
                        for (entry, inner) in own.iter_mut().zip(inner) {
                            *entry += count * slope * inner;
                        }
                        rest = others;
                    }
                }
                sum
            })
            .collect();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        let prior = Evaluation {
            value: -0.5 * self.decay * squares,
            gradient: weights.iter().map(|w| -self.decay * w).collect(),
        };
        Ok(chunks.iter().fold(prior, |sum, own| sum.merge(own)))
    }
}

/// The best weights of several starts, with their objective.
pub fn train(
    objective: &ExpertObjective<'_>,
    starts: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<(Vec<f64>, f64)> {
    let size = objective.shape.weights();
    let limits = SearchLimits {
        steps: 300,
        relative_gain: 1e-8,
        ..SearchLimits::default()
    };
    let mut best: Option<(Vec<f64>, f64)> = None;
    for start in 0..starts.max(1) {
        let weights = objective.shape.start(seed ^ (start as u64) << 32);
        let bounds = vec![(-REACH, REACH); size];
        let found = maximise(
            objective,
            &weights,
            &bounds,
            &vec![true; size],
            limits,
            watch,
        )?;
        if best.as_ref().is_none_or(|(_, value)| found.value > *value) {
            best = Some((found.coordinates, found.value));
        }
    }
    best.ok_or_else(|| Error::Spec("no mixture of experts was tried".into()))
}
