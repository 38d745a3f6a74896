//! What is believed about hyperparameters after learning.

use quorate_gp::learn::Hyperprior;
use quorate_gp::parameters::{Parameter, Transform};
use serde::{Deserialize, Serialize};

/// A distribution over hyperparameters: as a Gaussian, or as draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hyperposterior {
    /// What was believed before any row.
    pub prior: Hyperprior,
    /// Where it comes from: `local Laplace approximations`, `Laplace propagation`, `NUTS`, `HMC`.
    pub source: String,
    /// Each hyperparameter, the kernel's first, then the noise.
    pub parameters: Vec<ParameterBelief>,
    /// How the chains went; draws only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chains: Option<ChainReport>,
    /// Coordinates of each draw, chain after chain; draws only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<Vec<f64>>,
    /// Which draws predictions average over; draws only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub averaged: Vec<usize>,
}

/// How Markov chains went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainReport {
    /// Number of chains.
    pub chains: usize,
    /// Draws kept of each.
    pub draws: usize,
    /// Draws before that, while the sampler adapted.
    pub warmup: usize,
    /// Trajectories that could not be followed, among the draws kept.
    pub divergences: usize,
    /// Evaluations of the objective with its gradient.
    pub evaluations: usize,
    /// Rows the objective looked at.
    pub rows: usize,
}

/// What is believed about one hyperparameter's coordinate: its logarithm, or itself where it is signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterBelief {
    /// Its name.
    pub name: String,
    /// True when the coordinate is a logarithm.
    pub logarithm: bool,
    /// Posterior mean of the coordinate.
    pub mean: f64,
    /// Posterior standard deviation; 0 for what was fixed.
    pub deviation: f64,
    /// The coordinate at the maximum.
    pub maximum: f64,
    /// Potential scale reduction: near 1 when the chains tell the same; draws only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_hat: Option<f64>,
    /// Independent draws that would tell as much; draws only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_draws: Option<f64>,
}

impl Hyperposterior {
    /// A Gaussian around a maximum.
    pub fn gaussian(
        source: &str,
        prior: Hyperprior,
        parameters: &[Parameter],
        maximum: &[f64],
        deviations: &[f64],
    ) -> Self {
        let each = parameters.iter().zip(maximum).zip(deviations);
        Self {
            prior,
            source: source.to_owned(),
            parameters: each
                .map(|((parameter, maximum), deviation)| ParameterBelief {
                    name: parameter.name.clone(),
                    logarithm: parameter.transform == Transform::Log,
                    mean: *maximum,
                    deviation: *deviation,
                    maximum: *maximum,
                    r_hat: None,
                    effective_draws: None,
                })
                .collect(),
            chains: None,
            draws: Vec::new(),
            averaged: Vec::new(),
        }
    }

    /// The draws that predictions average over.
    pub fn averaged_draws(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.averaged
            .iter()
            .filter_map(|&draw| self.draws.get(draw))
    }
}
