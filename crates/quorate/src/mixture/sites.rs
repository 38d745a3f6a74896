//! A Gaussian process behind Gaussian sites: what every part of a mixture is after one step of its own iteration.
//!
//! A site says `exp(-1/2 w f^2 + h f)` about the function at one row: a row seen with noise variance `psi` and target `t`
//! is `w = 1 / psi`, `h = t / psi`, and a row that says nothing is `w = h = 0`, which no working target could express
//! (Tresp 2001, sec. 4.1 and appendix, write `Psi = 1 / w`). With `D = w^1/2` all comes from `B = I + D K D >= I`.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::Joint;
use quorate_gp::kernel::{BoundKernel, Covariance, tiles};
use quorate_gp::linalg::{
    Factor, JitterPolicy, Matrix, add_product, dot, fill_scaled_lower, multiply, symmetric_times,
};
use quorate_gp::posterior::Predict;
use rayon::prelude::*;

use crate::error::Result;
use crate::landmarks::{LandmarkBelief, Summary};

/// Query rows answered together.
const QUERY_BLOCK: usize = 256;
/// Below this share of a site's variance, what is kept of it is taken from the inverse instead of a difference.
const CANCELLING: f64 = 0.1;

/// What rows say of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sites {
    /// Precision `w` of each row, not negative.
    pub precision: Vec<f64>,
    /// Precision times target, `h`.
    pub shift: Vec<f64>,
}

/// What answers new questions: a factor over all rows, or what the landmarks believe, with the sum they believe it from.
#[derive(Clone, Debug)]
pub(super) enum Told {
    Rows { root: Vec<f64>, factor: Factor },
    Landmarks(Box<(LandmarkBelief, Summary)>),
}

/// A process that has heard its sites.
#[derive(Clone, Debug)]
pub struct Smoothed {
    pub(super) sites: Sites,
    pub(super) told: Told,
    /// `log |B|`.
    pub(super) log_determinant: f64,
    /// `a` with `f = K a`.
    pub weights: Vec<f64>,
    /// Mean at each row.
    pub mean: Vec<f64>,
    /// Variance at each row.
    pub variance: Vec<f64>,
    /// `1 - S_kk = [B^-1]_kk`: the share of a row's own site that the others do not replace.
    pub(super) kept: Vec<f64>,
}

impl Smoothed {
    /// Lets the process with this covariance between rows hear the sites.
    pub fn new(covariance: &Matrix, sites: Sites) -> Result<Self> {
        let size = covariance.nrows();
        let root: Vec<f64> = sites.precision.iter().map(|w| w.sqrt()).collect();
        let factor = Factor::new(size, JitterPolicy::default(), |out| {
            fill_scaled_lower(out, covariance.as_ref(), &root);
        })?;
        // a = h - D B^-1 D K h.
        let told = symmetric_times(covariance.as_ref(), &sites.shift);
        let mut right = Matrix::from_fn(size, 1, |row, _| root[row] * told[row]);
        factor.solve(right.as_mut());
        let weights: Vec<f64> = (0..size)
            .map(|row| sites.shift[row] - root[row] * right[(row, 0)])
            .collect();
        let mean = symmetric_times(covariance.as_ref(), &weights);
        // v = k - |L^-1 D k|^2 for the column k of each row.
        let mut cross = Matrix::from_fn(size, size, |i, j| root[i] * covariance[(i, j)]);
        factor.whiten(cross.as_mut());
        let variance: Vec<f64> = (0..size)
            .into_par_iter()
            .map(|row| {
                let column = cross.col_as_slice(row);
                (covariance[(row, row)] - dot(column, column)).max(0.0)
            })
            .collect();
        let mut kept: Vec<f64> = (0..size)
            .map(|row| 1.0 - sites.precision[row] * variance[row])
            .collect();
        let lost: Vec<usize> = (0..size).filter(|&row| kept[row] < CANCELLING).collect();
        for (&row, entry) in lost.iter().zip(factor.inverse_diagonal(&lost)) {
            kept[row] = entry;
        }
        Ok(Self {
            sites,
            log_determinant: factor.log_determinant(),
            told: Told::Rows { root, factor },
            weights,
            mean,
            variance,
            kept,
        })
    }

    /// What it heard.
    pub fn sites(&self) -> &Sites {
        &self.sites
    }

    /// Mean and variance at a row had its own site not been heard (Tresp 2001, sec. 4.1, where the mean is
    /// `y - (y - f) / (1 - S_kk)`).
    pub fn left_out(&self, row: usize) -> (f64, f64) {
        // A row that decides its own value alone keeps nothing, and rounding may leave less.
        let kept = self.kept[row].max(f64::EPSILON);
        let mean = (self.mean[row] - self.variance[row] * self.sites.shift[row]) / kept;
        (mean, self.variance[row].max(0.0) / kept)
    }

    /// `KL(q || p)` of the belief from the prior: `1/2 (m'a - sum w v + log |B|)`.
    pub fn divergence(&self) -> f64 {
        let seen = dot(&self.sites.precision, &self.variance);
        0.5 * (dot(&self.mean, &self.weights) - seen + self.log_determinant)
    }

    /// How many parameters the rows pin down: `trace S = sum w v`.
    pub fn effective_parameters(&self) -> f64 {
        dot(&self.sites.precision, &self.variance)
    }

    /// What its rows said to the landmarks; none where the rows themselves are asked.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.told {
            Told::Rows { .. } => None,
            Told::Landmarks(own) => Some(&own.1),
        }
    }

    /// Mean and variance at query points.
    pub fn marginals(
        &self,
        kernel: &BoundKernel,
        rows: Inputs<'_>,
        query: Inputs<'_>,
    ) -> quorate_gp::Result<(Vec<f64>, Vec<f64>)> {
        let (root, factor) = match &self.told {
            Told::Rows { root, factor } => (root, factor),
            Told::Landmarks(own) => {
                let told = own.0.marginals(query)?;
                let column = |matrix: &Matrix| matrix.col_as_slice(0).to_vec();
                return Ok((column(&told.mean), column(&told.variance)));
            }
        };
        let blocks: Vec<(Vec<f64>, Vec<f64>)> = (0..query.rows())
            .into_par_iter()
            .step_by(QUERY_BLOCK)
            .map(|first| {
                let query = query.slice(first, (first + QUERY_BLOCK).min(query.rows()));
                let mut cross = Matrix::zeros(rows.rows(), query.rows());
                kernel.fill(rows, query, cross.as_mut());
                let prior = kernel.diagonal(query);
                let means = (0..query.rows())
                    .map(|q| dot(cross.col_as_slice(q), &self.weights))
                    .collect();
                scale(&mut cross, root);
                factor.whiten_block(cross.as_mut());
                let variances = (0..query.rows())
                    .map(|q| {
                        let column = cross.col_as_slice(q);
                        (prior[q] - dot(column, column)).max(0.0)
                    })
                    .collect();
                (means, variances)
            })
            .collect();
        let (means, variances): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        Ok((means.concat(), variances.concat()))
    }

    /// Mean and covariance of all query points.
    pub fn joint(
        &self,
        kernel: &BoundKernel,
        rows: Inputs<'_>,
        query: Inputs<'_>,
    ) -> quorate_gp::Result<Joint> {
        let (root, factor) = match &self.told {
            Told::Rows { root, factor } => (root, factor),
            Told::Landmarks(own) => return own.0.joint(query),
        };
        let mut cross = tiles::block(kernel, rows, query);
        let weights = Matrix::from_fn(rows.rows(), 1, |row, _| self.weights[row]);
        let mean = multiply(cross.transpose(), weights.as_ref());
        scale(&mut cross, root);
        factor.whiten(cross.as_mut());
        let mut covariance = tiles::block(kernel, query, query);
        add_product(covariance.as_mut(), -1.0, cross.transpose(), cross.as_ref());
        Ok(Joint { mean, covariance })
    }
}

fn scale(cross: &mut Matrix, root: &[f64]) {
    for column in 0..cross.ncols() {
        let entries = cross.col_as_slice_mut(column).iter_mut();
        entries.zip(root).for_each(|(entry, root)| *entry *= root);
    }
}
