//! Models that are linear in their weights: fixed functions of the inputs, and a belief about how much of each.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::linalg::{Matrix, add_gram_lower, dot, multiply};
use quorate_gp::posterior::Predict;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::state::{damaged, list_of_factor};
use super::{EvidencePosterior, Expansion, Member, State, learn_evidence};
use crate::error::Result;

/// Query rows whose functions are held at the same time.
const BLOCK: usize = 512;

/// Fixed functions of the expanded inputs; the first is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Each input.
    Linear,
    /// Each input, its square, and the products of pairs where the inputs are at most so many.
    Quadratic {
        /// Most inputs whose products are taken.
        products_up_to: usize,
    },
    /// `exp(-|x - c|^2 / (2 width^2))` around centres, row after row.
    Radial {
        /// The centres in expanded inputs.
        centres: Vec<f64>,
        /// Their common width.
        width: f64,
    },
}

impl Basis {
    /// The functions of one row of expanded inputs.
    fn functions(&self, row: &[f64]) -> Vec<f64> {
        let mut values = vec![1.0];
        match self {
            Basis::Linear => values.extend_from_slice(row),
            Basis::Quadratic { products_up_to } => {
                values.extend_from_slice(row);
                let pairs = row.len() <= *products_up_to;
                for (i, a) in row.iter().enumerate() {
                    let last = if pairs { row.len() } else { i + 1 };
                    values.extend(row[i..last].iter().map(|b| a * b));
                }
            }
            Basis::Radial { centres, width } => {
                let around = centres.chunks_exact(row.len().max(1)).map(|centre| {
                    let square: f64 = row.iter().zip(centre).map(|(a, b)| (a - b).powi(2)).sum();
                    (-0.5 * square / (width * width)).exp()
                });
                values.extend(around);
            }
        }
        values
    }

    /// Number of functions of so many expanded inputs.
    pub fn count(&self, inputs: usize) -> usize {
        match self {
            Basis::Linear => 1 + inputs,
            Basis::Quadratic { products_up_to } if inputs <= *products_up_to => {
                1 + inputs + inputs * (inputs + 1) / 2
            }
            Basis::Quadratic { .. } => 1 + 2 * inputs,
            Basis::Radial { centres, .. } => 1 + centres.len() / inputs.max(1),
        }
    }

    /// A row for each row of the inputs, a column for each function.
    pub fn design(&self, expansion: &Expansion, inputs: Inputs<'_>) -> Matrix {
        let expanded = expansion.apply(inputs);
        let rows: Vec<Vec<f64>> = expanded
            .par_chunks(expansion.width().max(1))
            .map(|row| self.functions(row))
            .collect();
        let width = rows.first().map_or(0, Vec::len);
        Matrix::from_fn(inputs.rows(), width, |row, column| rows[row][column])
    }
}

/// A member that believes in weights of fixed functions.
#[derive(Clone, Debug)]
pub struct WeightSpace {
    basis: Basis,
    expansion: Expansion,
    posterior: EvidencePosterior,
}

impl WeightSpace {
    /// Learns the weights of the functions from rows, with the size of weights and noise by their evidence.
    pub fn fit(basis: Basis, expansion: Expansion, rows: &Dataset) -> Result<Self> {
        let design = basis.design(&expansion, rows.inputs());
        Ok(Self {
            posterior: learn_evidence(&design, rows)?,
            basis,
            expansion,
        })
    }

    /// What is believed about the weights.
    pub fn posterior(&self) -> &EvidencePosterior {
        &self.posterior
    }

    /// The functions of some queries, a row for each query.
    pub fn design(&self, query: Inputs<'_>) -> Matrix {
        self.basis.design(&self.expansion, query)
    }

    /// The functions of some queries, a column for each query.
    fn functions(&self, query: Inputs<'_>) -> Matrix {
        self.basis
            .design(&self.expansion, query)
            .transpose()
            .to_owned()
    }

    fn moments(&self, query: Inputs<'_>) -> Vec<(f64, f64, f64)> {
        let blocks: Vec<Vec<(f64, f64, f64)>> = (0..query.rows())
            .into_par_iter()
            .step_by(BLOCK)
            .map(|first| {
                let last = (first + BLOCK).min(query.rows());
                let mut functions = self.functions(query.slice(first, last));
                let told: Vec<(f64, f64)> = (0..last - first)
                    .map(|q| {
                        let own = functions.col_as_slice(q);
                        let prior = dot(own, own) / self.posterior.alpha;
                        (dot(own, &self.posterior.mean), prior)
                    })
                    .collect();
                self.posterior.factor.whiten_block(functions.as_mut());
                let left = |q: usize| dot(functions.col_as_slice(q), functions.col_as_slice(q));
                let both = told.into_iter().enumerate();
                both.map(|(q, (mean, prior))| (mean, left(q), prior))
                    .collect()
            })
            .collect();
        blocks.concat()
    }
}

impl Predict for WeightSpace {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let moments = self.moments(query);
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| moments[row].2),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        let moments = self.moments(query);
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| moments[row].0),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| moments[row].1),
        })
    }

    fn joint(&self, query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        let mut functions = self.functions(query);
        let weights = Matrix::from_fn(self.posterior.mean.len(), 1, |row, _| {
            self.posterior.mean[row]
        });
        let mean = multiply(functions.transpose(), weights.as_ref());
        self.posterior.factor.whiten(functions.as_mut());
        let rows = query.rows();
        let mut lower = Matrix::zeros(rows, rows);
        add_gram_lower(lower.as_mut(), 1.0, functions.as_ref());
        let covariance = Matrix::from_fn(rows, rows, |i, j| lower[(i.max(j), i.min(j))]);
        Ok(Joint { mean, covariance })
    }
}

impl Member for WeightSpace {
    fn noise_variance(&self) -> f64 {
        1.0 / self.posterior.beta
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.posterior.log_evidence)
    }

    fn state(&self) -> Result<State> {
        let own = &self.posterior;
        let stored = Stored {
            basis: self.basis.clone(),
            expansion: self.expansion.clone(),
            rounds: own.rounds,
        };
        State::new(
            &stored,
            vec![
                vec![own.alpha, own.beta, own.log_evidence, own.effective],
                own.mean.clone(),
                list_of_factor(&own.factor),
            ],
        )
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    basis: Basis,
    expansion: Expansion,
    rounds: usize,
}

pub fn restore(state: &State) -> Result<Box<dyn Member>> {
    let stored: Stored = state.read()?;
    let [alpha, beta, log_evidence, effective] = *state.list(0)? else {
        return Err(damaged("the size of weights and noise"));
    };
    let mean = state.list(1)?.to_vec();
    if mean.len() != stored.basis.count(stored.expansion.width()) {
        return Err(damaged("the number of its weights"));
    }
    Ok(Box::new(WeightSpace {
        posterior: EvidencePosterior {
            alpha,
            beta,
            factor: state.factor(2, mean.len())?,
            mean,
            log_evidence,
            effective,
            rounds: stored.rounds,
        },
        basis: stored.basis,
        expansion: stored.expansion,
    }))
}
