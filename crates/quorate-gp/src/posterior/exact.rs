//! The exact posterior of Gaussian-process regression (Tresp 2000, eq. 6-8; Rasmussen and Williams 2006, alg. 2.1).

use std::f64::consts::PI;

use rayon::prelude::*;

use super::outputs::{target_matrix, within_groups};
use super::{Predict, same_for_all};
use crate::data::{Dataset, Inputs};
use crate::gaussian::{Joint, Marginals};
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::likelihood::GaussianNoise;
use crate::linalg::{Factor, Jitter, JitterPolicy, Matrix, dot, multiply};
use crate::{Error, Result};

/// Query rows answered together: wide enough for matrix products, narrow enough that memory stays bounded.
const QUERY_BLOCK: usize = 256;

/// A Gaussian process conditioned on rows: `K + Psi = L L'`, factored once.
#[derive(Clone, Debug)]
pub struct ExactPosterior {
    kernel: BoundKernel,
    noise: GaussianNoise,
    data: Dataset,
    factor: Factor,
    /// `(K + Psi)^-1 y`, one column per output.
    weights: Matrix,
}

impl ExactPosterior {
    /// Conditions the process on the rows.
    pub fn condition(
        kernel: BoundKernel,
        noise: GaussianNoise,
        data: Dataset,
        policy: JitterPolicy,
    ) -> Result<Self> {
        let factor = factor(&kernel, noise, &data, policy)?;
        let mut weights = target_matrix(&data);
        factor.solve(weights.as_mut());
        Ok(Self {
            kernel,
            noise,
            data,
            factor,
            weights,
        })
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        &self.kernel
    }

    /// The noise of the rows.
    pub fn noise(&self) -> GaussianNoise {
        self.noise
    }

    /// The rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// What was added to the diagonal to factor the covariance.
    pub fn jitter(&self) -> Jitter {
        self.factor.jitter()
    }

    /// The factor of `K + Psi`.
    pub fn factor(&self) -> &Factor {
        &self.factor
    }

    /// `(K + Psi)^-1 y`.
    pub fn weights(&self) -> &Matrix {
        &self.weights
    }

    /// Log evidence of all rows: `-1/2 y'(K + Psi)^-1 y - 1/2 log |2 pi (K + Psi)|`, plus what lies within groups of
    /// equal inputs.
    pub fn log_evidence(&self) -> f64 {
        log_evidence(&self.data, self.noise, &self.factor, &self.weights)
    }

    fn cross(&self, query: Inputs<'_>) -> Matrix {
        let mut cross = Matrix::zeros(self.data.rows(), query.rows());
        self.kernel.fill(self.data.inputs(), query, cross.as_mut());
        cross
    }

    /// Means (output after output for each query) and variances of one block of queries, on one thread.
    fn block_marginals(&self, query: Inputs<'_>) -> (Vec<f64>, Vec<f64>) {
        let mut cross = self.cross(query);
        let prior = self.kernel.diagonal(query);
        let means = (0..query.rows())
            .flat_map(|q| (0..self.weights.ncols()).map(move |output| (q, output)))
            .map(|(q, output)| dot(cross.col_as_slice(q), self.weights.col_as_slice(output)))
            .collect();
        self.factor.whiten_block(cross.as_mut());
        let variances = (0..query.rows()).map(|q| {
            let explained = dot(cross.col_as_slice(q), cross.col_as_slice(q));
            // Rounding may leave a negative remainder where the rows determine the function.
            (prior[q] - explained).max(0.0)
        });
        let variances = variances.collect();
        (means, variances)
    }
}

impl Predict for ExactPosterior {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let diagonal = self.kernel.diagonal(query);
        let outputs = self.weights.ncols();
        same_for_all(&vec![0.0; query.rows() * outputs], &diagonal, outputs)
    }

    fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        check_width(self.data.inputs(), query)?;
        let blocks: Vec<(Vec<f64>, Vec<f64>)> = (0..query.rows())
            .into_par_iter()
            .step_by(QUERY_BLOCK)
            .map(|first| {
                let last = (first + QUERY_BLOCK).min(query.rows());
                self.block_marginals(query.slice(first, last))
            })
            .collect();
        let (means, variances): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        Ok(same_for_all(
            &means.concat(),
            &variances.concat(),
            self.weights.ncols(),
        ))
    }

    fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        check_width(self.data.inputs(), query)?;
        let mut whitened = tiles::block(&self.kernel, self.data.inputs(), query);
        let mean = multiply(whitened.transpose(), self.weights.as_ref());
        self.factor.whiten(whitened.as_mut());
        let mut covariance = tiles::block(&self.kernel, query, query);
        crate::linalg::add_product(
            covariance.as_mut(),
            -1.0,
            whitened.transpose(),
            whitened.as_ref(),
        );
        Ok(Joint { mean, covariance })
    }
}

/// Factors `K + Psi` of the rows.
pub(crate) fn factor(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
    policy: JitterPolicy,
) -> Result<Factor> {
    let memory = Matrix::zeros(data.rows(), data.rows());
    factor_in(memory, kernel, noise, data, policy)
}

/// As [`factor`], in the memory of a matrix whose values are not needed any more.
pub(crate) fn factor_in(
    memory: Matrix,
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
    policy: JitterPolicy,
) -> Result<Factor> {
    let psi = noise.group_variances(data);
    Factor::in_matrix(memory, policy, |mut out| {
        tiles::fill_lower(kernel, data.inputs(), out.as_mut());
        for (i, variance) in psi.iter().enumerate() {
            out[(i, i)] += variance;
        }
    })
}

/// Log evidence of the rows, given the factor of `K + Psi` and `(K + Psi)^-1 y`.
pub(crate) fn log_evidence(
    data: &Dataset,
    noise: GaussianNoise,
    factor: &Factor,
    weights: &Matrix,
) -> f64 {
    let outputs = data.outputs() as f64;
    let fit: f64 = (0..data.outputs())
        .map(|output| dot(data.targets_of(output), weights.col_as_slice(output)))
        .sum();
    let (within, _) = within_groups(noise, data);
    -0.5 * fit
        - 0.5 * outputs * factor.log_determinant()
        - 0.5 * outputs * data.rows() as f64 * (2.0 * PI).ln()
        + within
}

pub(crate) fn check_width(rows: Inputs<'_>, query: Inputs<'_>) -> Result<()> {
    if rows.width() == query.width() {
        Ok(())
    } else {
        Err(Error::Shape {
            what: "columns of the query",
            expected: rows.width(),
            found: query.width(),
        })
    }
}
