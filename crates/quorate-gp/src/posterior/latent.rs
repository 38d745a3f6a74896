//! Beliefs at queries of any posterior of the form `mean = k*' a`, `variance = k** - |L^-1 D k*|^2` with `L L' = I + D K D`:
//! Laplace's method (Rasmussen and Williams 2006, alg. 3.2) and expectation propagation (alg. 3.6).

use rayon::prelude::*;

use super::exact::check_width;
use crate::Result;
use crate::data::Inputs;
use crate::gaussian::{Joint, Marginals};
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::likelihood::Latent;
use crate::linalg::{Factor, Matrix, add_product, dot, multiply};

/// Query rows answered together.
const QUERY_BLOCK: usize = 256;

/// What a prediction needs of a fit.
pub(crate) struct Asked<'a> {
    pub kernel: &'a BoundKernel,
    pub inputs: Inputs<'a>,
    pub weights: &'a [f64],
    pub root: &'a [f64],
    pub factor: &'a Factor,
}

impl Asked<'_> {
    /// Mean and variance at each query.
    pub fn latents(&self, query: Inputs<'_>) -> Result<Vec<Latent>> {
        check_width(self.inputs, query)?;
        let blocks: Vec<Vec<Latent>> = (0..query.rows())
            .into_par_iter()
            .step_by(QUERY_BLOCK)
            .map(|first| {
                let last = (first + QUERY_BLOCK).min(query.rows());
                self.block(query.slice(first, last))
            })
            .collect();
        Ok(blocks.concat())
    }

    fn block(&self, query: Inputs<'_>) -> Vec<Latent> {
        let mut cross = Matrix::zeros(self.inputs.rows(), query.rows());
        self.kernel.fill(self.inputs, query, cross.as_mut());
        let prior = self.kernel.diagonal(query);
        let means: Vec<f64> = (0..query.rows())
            .map(|q| dot(cross.col_as_slice(q), self.weights))
            .collect();
        scale_rows(&mut cross, self.root);
        self.factor.whiten_block(cross.as_mut());
        (0..query.rows())
            .map(|q| {
                let explained = dot(cross.col_as_slice(q), cross.col_as_slice(q));
                Latent {
                    mean: means[q],
                    // Rounding may leave a negative remainder where the rows determine the function.
                    variance: (prior[q] - explained).max(0.0),
                }
            })
            .collect()
    }

    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        let latents = self.latents(query)?;
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| latents[row].mean),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| latents[row].variance),
        })
    }

    pub fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        check_width(self.inputs, query)?;
        let mut cross = tiles::block(self.kernel, self.inputs, query);
        let weights = Matrix::from_fn(self.weights.len(), 1, |row, _| self.weights[row]);
        let mean = multiply(cross.transpose(), weights.as_ref());
        scale_rows(&mut cross, self.root);
        self.factor.whiten(cross.as_mut());
        let mut covariance = tiles::block(self.kernel, query, query);
        add_product(covariance.as_mut(), -1.0, cross.transpose(), cross.as_ref());
        Ok(Joint { mean, covariance })
    }
}

/// What is believed before seeing rows.
pub(crate) fn prior(kernel: &BoundKernel, query: Inputs<'_>) -> Marginals {
    let diagonal = kernel.diagonal(query);
    Marginals {
        mean: Matrix::zeros(query.rows(), 1),
        variance: Matrix::from_fn(query.rows(), 1, |row, _| diagonal[row]),
    }
}

fn scale_rows(matrix: &mut Matrix, scale: &[f64]) {
    for column in 0..matrix.ncols() {
        for (entry, factor) in matrix.col_as_slice_mut(column).iter_mut().zip(scale) {
            *entry *= factor;
        }
    }
}
