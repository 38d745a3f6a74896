//! Mixtures of experts with weights instead of rows, behind one face: gradients, soft trees, densities.

use quorate_gp::data::Inputs;
use quorate_gp::watch::Watch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use super::density::{DensitySettings, GaussianMixture};
use super::experts::{ExpertObjective, ExpertShape, Map, Training, train};
use super::hierarchy::{SoftTree, TreeRows};
use super::predict::Voice;
use crate::error::{Error, Result};

/// Precision of every weight before any row, for standardised inputs and target.
const DECAY: f64 = 1e-2;
/// Rounds of expectation and maximisation at most, and the gain for each row below which they end.
const ROUNDS: usize = 200;
const GAIN: f64 = 1e-6;
/// What is added to variances of a mixture of Gaussians over standardised columns.
const RIDGE: f64 = 1e-3;

/// What an expert is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpertKind {
    /// A Gaussian process.
    #[default]
    Process,
    /// A linear function.
    Linear,
    /// A neural network with one hidden layer.
    Network,
}

/// What decides who speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    /// Gaussian processes.
    #[default]
    Process,
    /// Linear functions.
    Linear,
    /// Neural networks with one hidden layer.
    Network,
    /// Densities of the inputs of each expert, with linear experts: Gaussian mixture regression.
    Density,
    /// Gates one above the other, from the cuts of a tree.
    Tree,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Number of experts.
    pub experts: usize,
    /// What they are.
    pub expert: ExpertKind,
    /// What decides who speaks.
    pub gates: GateKind,
    /// What they are trained for.
    pub training: Training,
    /// Starts that are tried.
    pub starts: usize,
    /// Seed of the starts.
    pub seed: u64,
}

/// A mixture with weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ParametricMixture {
    /// Functions trained by gradients.
    Functions {
        /// Which functions.
        shape: ExpertShape,
        /// Their weights.
        weights: Vec<f64>,
        /// Variance of the residuals, where experts cooperate and have no noise of their own.
        residual: Option<f64>,
    },
    /// Linear experts under linear gates.
    Tree(SoftTree),
    /// A density of inputs and target.
    Density(GaussianMixture),
}

impl ParametricMixture {
    /// Trains what is asked for.
    pub fn train(asked: Asked, rows: TreeRows<'_>, watch: &dyn Watch) -> Result<Self> {
        let linear = asked.expert == ExpertKind::Linear;
        match asked.gates {
            GateKind::Tree if linear => {
                let depth = usize::BITS - asked.experts.saturating_sub(1).leading_zeros();
                let start = SoftTree::from_cuts(rows, depth as usize);
                let (tree, _) = start.climb(rows, ROUNDS, GAIN, watch)?;
                Ok(ParametricMixture::Tree(tree))
            }
            GateKind::Linear if linear && asked.training == Training::Competing => {
                best_flat(asked, rows, watch).map(ParametricMixture::Tree)
            }
            GateKind::Density if linear => {
                best_density(asked, rows, watch).map(ParametricMixture::Density)
            }
            GateKind::Linear | GateKind::Network => functions(asked, rows, watch),
            GateKind::Process | GateKind::Density | GateKind::Tree => Err(Error::Spec(
                "these gates are for other experts: `--gates process` for processes, `tree` and `density` for linear ones, `linear` and `network` for linear ones and networks"
                    .into(),
            )),
        }
    }

    /// What each expert says at query points.
    pub fn voices(&self, query: Inputs<'_>) -> Result<Vec<Voice>> {
        let mut told: Vec<Vec<(f64, f64, f64)>> = Vec::with_capacity(query.rows());
        match self {
            ParametricMixture::Functions {
                shape,
                weights,
                residual,
            } => {
                if weights.len() != shape.weights() || shape.inputs != query.width() {
                    return Err(damaged());
                }
                for row in 0..query.rows() {
                    let mut own = shape.voices(weights, query.row(row));
                    if let Some(variance) = residual {
                        // The mean is what was trained; its parts have no densities.
                        let mean = own.iter().map(|(share, mean, _)| share * mean).sum();
                        own.iter_mut()
                            .for_each(|voice| (voice.1, voice.2) = (mean, *variance));
                    }
                    told.push(own);
                }
            }
            ParametricMixture::Tree(tree) => {
                if tree.inputs != query.width() {
                    return Err(damaged());
                }
                told.extend((0..query.rows()).map(|row| tree.voices(query.row(row))));
            }
            ParametricMixture::Density(density) => {
                if density.width() != query.width() + 1 {
                    return Err(damaged());
                }
                for own in density.conditional(query.values())? {
                    let each = own.shares.into_iter().zip(own.means).zip(own.variances);
                    told.push(
                        each.map(|((share, mean), variance)| (share, mean, variance))
                            .collect(),
                    );
                }
            }
        }
        let experts = told.first().map_or(0, Vec::len);
        Ok((0..experts)
            .map(|expert| Voice {
                share: told.iter().map(|row| row[expert].0).collect(),
                mean: told.iter().map(|row| row[expert].1).collect(),
                variance: vec![0.0; told.len()],
                spread: told.iter().map(|row| 0.5 * row[expert].2.ln()).collect(),
                spread_variance: vec![0.0; told.len()],
            })
            .collect())
    }
}

fn damaged() -> Error {
    Error::Spec("the weights of the mixture and its inputs do not belong together".into())
}

/// The group of the nearest of some random rows, for each row.
fn groups(rows: TreeRows<'_>, count: usize, random: &mut ChaCha12Rng) -> Vec<usize> {
    let all = rows.inputs.rows();
    let centres: Vec<&[f64]> = (0..count)
        .map(|_| rows.inputs.row((random.next_u64() % all as u64) as usize))
        .collect();
    let distance =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum() };
    let nearest = |row: usize| {
        let own = rows.inputs.row(row);
        let order = |a: &usize, b: &usize| {
            distance(own, centres[*a]).total_cmp(&distance(own, centres[*b]))
        };
        (0..count).min_by(order).unwrap_or(0)
    };
    (0..all).map(nearest).collect()
}

fn best_flat(asked: Asked, rows: TreeRows<'_>, watch: &dyn Watch) -> Result<SoftTree> {
    let mut random = ChaCha12Rng::seed_from_u64(asked.seed);
    let mut best: Option<(f64, SoftTree)> = None;
    for _ in 0..asked.starts.max(1) {
        let start = SoftTree::flat(
            rows,
            &groups(rows, asked.experts, &mut random),
            asked.experts,
        )?;
        let (tree, path) = start.climb(rows, ROUNDS, GAIN, watch)?;
        let value = path.last().copied().unwrap_or(f64::NEG_INFINITY);
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, tree));
        }
    }
    best.map(|(_, tree)| tree)
        .ok_or_else(|| Error::Spec("no mixture of experts was tried".into()))
}

fn best_density(asked: Asked, rows: TreeRows<'_>, watch: &dyn Watch) -> Result<GaussianMixture> {
    let mut random = ChaCha12Rng::seed_from_u64(asked.seed);
    let joint: Vec<f64> = (0..rows.inputs.rows())
        .flat_map(|row| {
            rows.inputs
                .row(row)
                .iter()
                .copied()
                .chain([rows.targets[row]])
        })
        .collect();
    let (width, all) = (rows.inputs.width() + 1, rows.inputs.rows());
    let settings = DensitySettings {
        ridge: RIDGE,
        ..DensitySettings::default()
    };
    let mut best: Option<(f64, GaussianMixture)> = None;
    for _ in 0..asked.starts.max(1) {
        watch.check()?;
        let means = (0..asked.experts).map(|_| {
            let row = (random.next_u64() % all as u64) as usize;
            joint[row * width..(row + 1) * width].to_vec()
        });
        let start = GaussianMixture::around(means.collect(), &joint, RIDGE);
        let (found, path) = start.climb(&joint, rows.weights, settings)?;
        let value = path.last().copied().unwrap_or(f64::NEG_INFINITY);
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, found));
        }
    }
    best.map(|(_, density)| density)
        .ok_or_else(|| Error::Spec("no mixture of Gaussians was tried".into()))
}

fn functions(asked: Asked, rows: TreeRows<'_>, watch: &dyn Watch) -> Result<ParametricMixture> {
    const HIDDEN: usize = 5;
    let network = Map::Network { hidden: HIDDEN };
    let shape = ExpertShape {
        inputs: rows.inputs.width(),
        experts: asked.experts,
        expert: match asked.expert {
            ExpertKind::Linear => Map::Linear,
            ExpertKind::Network => network,
            ExpertKind::Process => {
                return Err(Error::Spec(
                    "processes have gates that are processes".into(),
                ));
            }
        },
        gate: match asked.gates {
            GateKind::Network => network,
            _ => Map::Linear,
        },
        noise: Map::Linear,
    };
    let objective = ExpertObjective {
        shape,
        rows,
        training: asked.training,
        decay: DECAY,
    };
    let (weights, _) = train(&objective, asked.starts, asked.seed, watch)?;
    let residual = (asked.training == Training::Cooperating).then(|| {
        let squares = (0..rows.inputs.rows()).map(|row| {
            let voices = shape.voices(&weights, rows.inputs.row(row));
            let mean: f64 = voices.iter().map(|(share, mean, _)| share * mean).sum();
            rows.weights[row] * (rows.targets[row] - mean).powi(2)
        });
        (squares.sum::<f64>() / rows.weights.iter().sum::<f64>()).max(1e-8)
    });
    Ok(ParametricMixture::Functions {
        shape,
        weights,
        residual,
    })
}
