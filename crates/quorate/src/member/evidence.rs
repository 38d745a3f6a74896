//! The evidence procedure for models that are linear in their weights (MacKay 1992; Latouche 2007, 2.1.1).

use std::f64::consts::PI;

use quorate_gp::data::Dataset;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot, multiply};

use crate::error::Result;

/// Belief about the weights of a linear model, `N(mean, A^-1)` with `A = alpha I + beta Phi' Phi`.
#[derive(Clone, Debug)]
pub struct EvidencePosterior {
    /// Precision of the prior of every weight.
    pub alpha: f64,
    /// Precision of the noise.
    pub beta: f64,
    /// Expected weights.
    pub mean: Vec<f64>,
    /// The factor of A.
    pub factor: Factor,
    /// Log evidence of the rows (eq. 2.3).
    pub log_evidence: f64,
    /// Weights that the rows determine, `gamma = sum_i lambda_i / (alpha + lambda_i)`.
    pub effective: f64,
    /// Rounds of the fixed-point iteration.
    pub rounds: usize,
}

/// Rounds at most: a relation that is not there sends alpha to its bound in small steps.
const ROUNDS: usize = 500;
/// Change of both logarithms at which the iteration ends.
const SMALL: f64 = 1e-9;
/// Bounds of both precisions, for targets of unit variance.
const BOUNDS: (f64, f64) = (1e-8, 1e10);

/// Finds alpha and beta by `alpha = gamma / m'm` and `1 / beta = sum of squared residuals / (N - gamma)`, in turn with the
/// weights they imply. `design` has a row for each distinct row of the data and a column for each basis function.
///
/// A row of weight k counts as k rows; of rows with equal inputs the scatter about their mean is a part of the residuals.
pub fn learn_evidence(design: &Matrix, data: &Dataset) -> Result<EvidencePosterior> {
    let size = design.ncols();
    let total = data.total_weight();
    let weights = data.weights();
    let scaled = Matrix::from_fn(design.nrows(), size, |row, column| {
        design[(row, column)] * weights[row].sqrt()
    });
    let mut gram = Matrix::zeros(size, size);
    add_gram_lower(gram.as_mut(), 1.0, scaled.as_ref());
    let targets = Matrix::from_fn(design.nrows(), 1, |row, _| {
        data.targets()[row] * weights[row].sqrt()
    });
    let right = multiply(scaled.transpose(), targets.as_ref());
    let within: f64 = data.scatter().iter().sum();

    let solve = |alpha: f64, beta: f64| -> Result<(Factor, Vec<f64>, f64)> {
        let factor = Factor::new(size, JitterPolicy::default(), |mut out| {
            for column in 0..size {
                for row in column..size {
                    out[(row, column)] = beta * gram[(row, column)];
                }
                out[(column, column)] += alpha;
            }
        })?;
        let mut mean = Matrix::from_fn(size, 1, |row, _| beta * right[(row, 0)]);
        factor.solve(mean.as_mut());
        let fitted = multiply(scaled.as_ref(), mean.as_ref());
        let residual: f64 = (0..design.nrows())
            .map(|row| (targets[(row, 0)] - fitted[(row, 0)]).powi(2))
            .sum();
        Ok((factor, mean.col_as_slice(0).to_vec(), residual + within))
    };
    let all: Vec<usize> = (0..size).collect();
    let spread = (dot(targets.col_as_slice(0), targets.col_as_slice(0)) + within) / total;
    let (mut alpha, mut beta) = (1.0, (1.0 / spread.max(1e-12)).clamp(BOUNDS.0, BOUNDS.1));
    let mut rounds = 0;
    loop {
        let (factor, mean, residual) = solve(alpha, beta)?;
        let traced: f64 = factor.inverse_diagonal(&all).iter().sum();
        let effective = (size as f64 - alpha * traced).clamp(0.0, size as f64);
        let squares = dot(&mean, &mean);
        let next = (
            (effective / squares.max(f64::MIN_POSITIVE)).clamp(BOUNDS.0, BOUNDS.1),
            ((total - effective).max(1e-3) / residual.max(f64::MIN_POSITIVE))
                .clamp(BOUNDS.0, BOUNDS.1),
        );
        let moved = (next.0 / alpha).ln().abs() + (next.1 / beta).ln().abs();
        rounds += 1;
        if moved < SMALL || rounds == ROUNDS {
            let log_evidence = 0.5 * size as f64 * alpha.ln() + 0.5 * total * beta.ln()
                - 0.5 * beta * residual
                - 0.5 * alpha * squares
                - 0.5 * factor.log_determinant()
                - 0.5 * total * (2.0 * PI).ln();
            return Ok(EvidencePosterior {
                alpha,
                beta,
                mean,
                factor,
                log_evidence,
                effective,
                rounds,
            });
        }
        (alpha, beta) = next;
    }
}
