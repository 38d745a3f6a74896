//! Weights of a network at their most probable values, with the size of weights and noise by the evidence (MacKay 1992;
//! Latouche 2007, 2.1.2), with Gauss-Newton curvature (Foresee and Hagan 1997), which is never negative.

use std::f64::consts::PI;

use quorate_gp::data::Dataset;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot, multiply};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use super::Network;
use crate::error::Result;

/// A Gaussian around the most probable weights, `N(weights, H^-1)` with `H = alpha I + beta J'J`.
#[derive(Clone, Debug)]
pub struct Laplace {
    pub weights: Vec<f64>,
    pub alpha: f64,
    pub beta: f64,
    pub factor: Factor,
    pub log_evidence: f64,
}

/// Updates of alpha and beta at most.
const ROUNDS: usize = 60;
/// Steps in the weights between two updates.
const STEPS: usize = 6;
/// Change of both logarithms at which learning ends.
const SMALL: f64 = 1e-3;
const BOUNDS: (f64, f64) = (1e-6, 1e8);
/// Rows whose slopes are held at the same time by one thread, and such blocks at a time: bounds the memory.
const BLOCK: usize = 4096;
const WAVE: usize = 4;

/// Standard normal numbers by the polar method of Marsaglia.
pub fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x6e65_7477);
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut drawn = Vec::with_capacity(count + 1);
    while drawn.len() < count {
        let (a, b) = (2.0 * unit() - 1.0, 2.0 * unit() - 1.0);
        let square = a * a + b * b;
        if square > 0.0 && square < 1.0 {
            let scale = (-2.0 * square.ln() / square).sqrt();
            drawn.extend([a * scale, b * scale]);
        }
    }
    drawn.truncate(count);
    drawn
}

/// What the rows say about the weights at one place.
struct Place {
    outputs: Vec<f64>,
    gram: Matrix,
    /// `J' W (t - f)`.
    pull: Vec<f64>,
    residual: f64,
}

impl Place {
    fn at(network: Network, weights: &[f64], rows: &[f64], data: &Dataset) -> Self {
        let mut place = Self {
            outputs: Vec::with_capacity(data.rows()),
            gram: Matrix::zeros(network.weights(), network.weights()),
            pull: vec![0.0; network.weights()],
            residual: 0.0,
        };
        let firsts: Vec<usize> = (0..data.rows()).step_by(BLOCK).collect();
        for some in firsts.chunks(WAVE) {
            let blocks: Vec<Self> = some
                .par_iter()
                .map(|&first| Self::block(network, weights, rows, data, first))
                .collect();
            for block in blocks {
                place.outputs.extend(block.outputs);
                place.gram += &block.gram;
                let both = place.pull.iter_mut().zip(block.pull);
                both.for_each(|(sum, own)| *sum += own);
            }
        }
        place.residual = residual(&place.outputs, data);
        place
    }

    /// The rows of one block; their residual is left to the whole.
    fn block(
        network: Network,
        weights: &[f64],
        rows: &[f64],
        data: &Dataset,
        first: usize,
    ) -> Self {
        let last = (first + BLOCK).min(data.rows());
        let (outputs, mut slopes) = network.slopes(
            weights,
            &rows[first * network.inputs..last * network.inputs],
        );
        let (targets, counts) = (&data.targets()[first..last], &data.weights()[first..last]);
        let errors = Matrix::from_fn(outputs.len(), 1, |row, _| {
            (targets[row] - outputs[row]) * counts[row].sqrt()
        });
        for column in 0..slopes.ncols() {
            for row in 0..slopes.nrows() {
                slopes[(row, column)] *= counts[row].sqrt();
            }
        }
        let mut gram = Matrix::zeros(network.weights(), network.weights());
        add_gram_lower(gram.as_mut(), 1.0, slopes.as_ref());
        let pull = multiply(slopes.transpose(), errors.as_ref());
        Self {
            residual: 0.0,
            outputs,
            gram,
            pull: pull.col_as_slice(0).to_vec(),
        }
    }

    fn curvature(&self, alpha: f64, beta: f64, damping: f64) -> Result<Factor> {
        let size = self.gram.nrows();
        let factor = Factor::new(size, JitterPolicy::default(), |mut out| {
            for column in 0..size {
                for row in column..size {
                    out[(row, column)] = beta * self.gram[(row, column)];
                }
                out[(column, column)] += alpha + damping;
            }
        })?;
        Ok(factor)
    }
}

fn residual(outputs: &[f64], data: &Dataset) -> f64 {
    let rows = outputs.iter().zip(data.targets()).zip(data.weights());
    let between: f64 = rows.map(|((f, t), w)| w * (t - f).powi(2)).sum();
    between + data.scatter().iter().sum::<f64>()
}

/// Where learning starts.
pub struct Start {
    pub weights: Vec<f64>,
    pub alpha: f64,
    pub beta: f64,
    /// Whether alpha stays where it is instead of going where the evidence is most.
    pub is_held: bool,
}

impl Start {
    /// Small random weights, with a precision that is learned or held.
    pub fn random(network: Network, seed: u64, held: Option<f64>) -> Self {
        let scale = 1.0 / ((network.inputs + 1) as f64).sqrt();
        let drawn = normals(network.weights(), seed);
        Self {
            weights: drawn.iter().map(|w| w * scale).collect(),
            alpha: held.unwrap_or(1.0),
            beta: 10.0,
            is_held: held.is_some(),
        }
    }
}

/// Learns the weights from one start; `rows` are the expanded inputs.
pub fn learn(network: Network, rows: &[f64], data: &Dataset, start: Start) -> Result<Laplace> {
    let size = network.weights();
    let total = data.total_weight();
    let all: Vec<usize> = (0..size).collect();
    let Start {
        mut weights,
        mut alpha,
        mut beta,
        is_held,
    } = start;
    let mut place = Place::at(network, &weights, rows, data);
    let mut damping = 1.0;
    for round in 0.. {
        for _ in 0..STEPS {
            let value = beta * place.residual + alpha * dot(&weights, &weights);
            let factor = place.curvature(alpha, beta, damping)?;
            let mut step =
                Matrix::from_fn(size, 1, |i, _| beta * place.pull[i] - alpha * weights[i]);
            factor.solve(step.as_mut());
            let moved: Vec<f64> = (0..size).map(|i| weights[i] + step[(i, 0)]).collect();
            let chunks = rows.par_chunks_exact(network.inputs.max(1));
            let outputs: Vec<f64> = chunks.map(|row| network.output(&moved, row)).collect();
            let next = beta * residual(&outputs, data) + alpha * dot(&moved, &moved);
            if next < value {
                weights = moved;
                place = Place::at(network, &weights, rows, data);
                damping = (damping / 5.0).max(1e-10);
                if value - next < 1e-7 * value {
                    break;
                }
            } else {
                damping *= 8.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        let factor = place.curvature(alpha, beta, 0.0)?;
        let traced: f64 = factor.inverse_diagonal(&all).iter().sum();
        let effective = (size as f64 - alpha * traced).clamp(1e-6, size as f64);
        let squares = dot(&weights, &weights).max(f64::MIN_POSITIVE);
        let free = (total - effective).max(0.05 * total);
        let next = (
            match is_held {
                true => alpha,
                false => (effective / squares).clamp(BOUNDS.0, BOUNDS.1),
            },
            (free / place.residual.max(f64::MIN_POSITIVE)).clamp(BOUNDS.0, BOUNDS.1),
        );
        let moved = (next.0 / alpha).ln().abs() + (next.1 / beta).ln().abs();
        if moved < SMALL || round == ROUNDS {
            // Hidden units may be exchanged, and their signs, without a change of the function.
            let symmetries: f64 = (1..=network.hidden).map(|j| (2.0 * j as f64).ln()).sum();
            let log_evidence = 0.5 * size as f64 * alpha.ln() + 0.5 * total * beta.ln()
                - 0.5 * beta * place.residual
                - 0.5 * alpha * squares
                - 0.5 * factor.log_determinant()
                - 0.5 * total * (2.0 * PI).ln()
                + symmetries;
            debug_assert_eq!(place.outputs.len(), data.rows());
            return Ok(Laplace {
                weights,
                alpha,
                beta,
                factor,
                log_evidence,
            });
        }
        (alpha, beta) = next;
    }
    unreachable!("the last round returns")
}
