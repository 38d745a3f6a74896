//! Linear experts: the leaves of a soft tree.

use quorate_gp::linalg::{Factor, JitterPolicy, Matrix};
use serde::{Deserialize, Serialize};

use super::TreeRows;
use crate::error::Result;

/// Precision of every weight before any row, for standardised inputs and target.
const DECAY: f64 = 1e-3;
/// Before any row, a variance `s` has log density `-a log s - b / s`: no expert can shrink onto a few rows.
const VARIANCE_SHAPE: f64 = 1.0;
const VARIANCE_SCALE: f64 = 0.005;

/// A linear expert: `y = w_0 + w'x` with Gaussian noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearExpert {
    /// The constant, then a weight for each input.
    pub weights: Vec<f64>,
    /// Variance of the noise.
    pub variance: f64,
    /// The share of the rows it is responsible for.
    pub share: f64,
}

/// `w_0 + w'x`.
pub fn linear(weights: &[f64], row: &[f64]) -> f64 {
    let slopes = weights[1..].iter().zip(row);
    weights[0] + slopes.map(|(w, x)| w * x).sum::<f64>()
}

impl LinearExpert {
    pub(super) fn new(inputs: usize, value: f64) -> Self {
        let mut weights = vec![0.0; inputs + 1];
        weights[0] = value;
        Self {
            weights,
            variance: 1.0,
            share: 0.0,
        }
    }

    pub(super) fn log_prior(&self) -> f64 {
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        -0.5 * DECAY * squares
            - VARIANCE_SHAPE * self.variance.ln()
            - VARIANCE_SCALE / self.variance
    }

    /// Weighted least squares with the variance it has, then the variance.
    pub(super) fn learn(&mut self, rows: TreeRows<'_>, counts: &[f64]) -> Result<()> {
        let size = self.weights.len();
        let mut gram = Matrix::zeros(size, size);
        let mut right = Matrix::zeros(size, 1);
        for (row, (count, target)) in counts.iter().zip(rows.targets).enumerate() {
            let x = with_constant(rows.inputs.row(row));
            let count = count / self.variance;
            for i in 0..size {
                right[(i, 0)] += count * target * x[i];
                for j in 0..=i {
                    gram[(i, j)] += count * x[i] * x[j];
                }
            }
        }
        let factor = Factor::new(size, JitterPolicy::default(), |mut out| {
            out.copy_from(&gram);
            for i in 0..size {
                out[(i, i)] += DECAY;
            }
        })?;
        factor.solve(right.as_mut());
        self.weights = right.col_as_slice(0).to_vec();
        let total: f64 = counts.iter().sum();
        let squares: f64 = (counts.iter().zip(rows.targets).enumerate())
            .map(|(row, (count, target))| {
                count * (target - linear(&self.weights, rows.inputs.row(row))).powi(2)
            })
            .sum();
        self.variance = (squares + 2.0 * VARIANCE_SCALE) / (total + 2.0 * VARIANCE_SHAPE);
        self.share = total / rows.weights.iter().sum::<f64>();
        Ok(())
    }
}

/// A row behind a constant.
pub fn with_constant(row: &[f64]) -> Vec<f64> {
    std::iter::once(1.0).chain(row.iter().copied()).collect()
}
