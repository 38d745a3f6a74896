//! What the landmarks believe once parts have spoken.

use quorate_gp::Result;
use quorate_gp::data::Inputs;
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::kernel::{Covariance, tiles};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_product, dot, multiply};
use quorate_gp::posterior::{Predict, same_for_all};
use rayon::prelude::*;

use super::{Landmarks, Summary};

/// Query rows answered together.
const QUERY_BLOCK: usize = 256;

/// The posterior over landmark values, ready to answer anywhere:
/// `mean = v' B^-1 b`, `variance = k(x, x) - v'v + v' B^-1 v` (Tresp 2000, sec. 6.4 and eq. 10, whitened).
#[derive(Clone, Debug)]
pub struct LandmarkBelief {
    landmarks: Landmarks,
    /// Factor of `B`.
    factor: Factor,
    /// `B^-1 b`, one column per output.
    weights: Matrix,
    log_evidence: f64,
}

impl LandmarkBelief {
    /// Turns a summary into a belief. `B >= I`, so this fails only when more was forgotten than had been absorbed.
    pub fn new(landmarks: Landmarks, summary: &Summary) -> Result<Self> {
        let count = landmarks.count();
        let policy = JitterPolicy {
            start: 0.0,
            first: 1e-15,
            last: 1e-13,
        };
        let factor = Factor::new(count, policy, |mut out| {
            out.copy_from(&summary.information);
            for i in 0..count {
                out[(i, i)] += 1.0;
            }
        })?;
        let mut weights = summary.vector.clone();
        factor.solve(weights.as_mut());
        let outputs = summary.outputs();
        let fit: f64 = (0..outputs)
            .map(|o| dot(summary.vector.col_as_slice(o), weights.col_as_slice(o)))
            .sum();
        let log_evidence =
            summary.log_evidence - 0.5 * outputs as f64 * factor.log_determinant() + 0.5 * fit;
        Ok(Self {
            landmarks,
            factor,
            weights,
            log_evidence,
        })
    }

    /// The landmarks.
    pub fn landmarks(&self) -> &Landmarks {
        &self.landmarks
    }

    /// Factor of `B`.
    pub fn factor(&self) -> &Factor {
        &self.factor
    }

    /// `B^-1 b`.
    pub fn weights(&self) -> &Matrix {
        &self.weights
    }

    /// Log evidence of the committee.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// `gamma = m - trace(B^-1)`: how many of the landmarks' degrees of freedom the rows pin down.
    pub fn effective_parameters(&self) -> f64 {
        let inverse = self.factor.inverse_lower();
        let trace: f64 = (0..inverse.ncols())
            .map(|column| {
                let column = &inverse.col_as_slice(column)[column..];
                dot(column, column)
            })
            .sum();
        self.landmarks.count() as f64 - trace
    }

    /// Means (output after output for each query) and variances of one block of queries.
    fn block(&self, query: Inputs<'_>) -> (Vec<f64>, Vec<f64>) {
        let mut whitened = Matrix::zeros(self.landmarks.count(), query.rows());
        let kernel = self.landmarks.kernel();
        kernel.fill(self.landmarks.inputs(), query, whitened.as_mut());
        self.landmarks.factor().whiten_block(whitened.as_mut());
        let prior = kernel.diagonal(query);
        let squares =
            |matrix: &Matrix, q: usize| dot(matrix.col_as_slice(q), matrix.col_as_slice(q));
        let means = (0..query.rows())
            .flat_map(|q| (0..self.weights.ncols()).map(move |output| (q, output)))
            .map(|(q, o)| dot(whitened.col_as_slice(q), self.weights.col_as_slice(o)))
            .collect();
        let left: Vec<f64> = (0..query.rows())
            .map(|q| (prior[q] - squares(&whitened, q)).max(0.0))
            .collect();
        self.factor.whiten_block(whitened.as_mut());
        let variances = left.iter().enumerate();
        let variances = variances.map(|(q, left)| left + squares(&whitened, q));
        (means, variances.collect())
    }
}

impl Predict for LandmarkBelief {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let diagonal = self.landmarks.kernel().diagonal(query);
        let outputs = self.weights.ncols();
        same_for_all(&vec![0.0; query.rows() * outputs], &diagonal, outputs)
    }

    fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        let (means, variances): (Vec<_>, Vec<_>) = (0..query.rows())
            .into_par_iter()
            .step_by(QUERY_BLOCK)
            .map(|first| {
                let last = (first + QUERY_BLOCK).min(query.rows());
                self.block(query.slice(first, last))
            })
            .unzip();
        let outputs = self.weights.ncols();
        Ok(same_for_all(&means.concat(), &variances.concat(), outputs))
    }

    fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        let mut whitened = self.landmarks.whitened(query);
        let mean = multiply(whitened.transpose(), self.weights.as_ref());
        let mut covariance = tiles::block(self.landmarks.kernel(), query, query);
        add_product(
            covariance.as_mut(),
            -1.0,
            whitened.transpose(),
            whitened.as_ref(),
        );
        self.factor.whiten(whitened.as_mut());
        add_product(
            covariance.as_mut(),
            1.0,
            whitened.transpose(),
            whitened.as_ref(),
        );
        Ok(Joint { mean, covariance })
    }
}
