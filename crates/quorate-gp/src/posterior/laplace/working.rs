//! Working targets: at the mode, rows of any likelihood look like rows with Gaussian noise, so they add like those.
//!
//! Row i looks like a target `y_i = f_i + g_i / W_i` with noise variance `1 / W_i` (Tresp 2000, sec. 5.1). Where W is
//! near 0 (saturated classes, early censoring) neither number exists, though all that the committee needs of them does:
//! with `R` the covariance that the landmarks leave to the rows, `D = W^1/2` and `E = (I + D R D)^-1`,
//! `Q^-1 = (R + W^-1)^-1 = D E D` and `Q^-1 y = g + D E D (f - R g)`.

use crate::likelihood::{Derivatives, Likelihood, Observations};
use crate::linalg::{
    Factor, JitterPolicy, Matrix, MatrixMut, MatrixRef, dot, fill_scaled_lower, symmetric_times,
};
use crate::{Error, Result};

/// Latent values with the slope and curvature of the log likelihood there.
#[derive(Clone, Debug, PartialEq)]
pub struct Working {
    /// f: where the likelihood was expanded.
    pub latent: Vec<f64>,
    /// g.
    pub slope: Vec<f64>,
    /// W.
    pub curvature: Vec<f64>,
    /// `sum_i log p(y_i | f_i)`.
    pub log_density: f64,
}

impl Working {
    pub(crate) fn new(latent: &[f64], terms: &[Derivatives]) -> Self {
        Self {
            latent: latent.to_vec(),
            slope: terms.iter().map(|term| term.slope).collect(),
            curvature: terms.iter().map(|term| term.curvature).collect(),
            log_density: terms.iter().map(|term| term.log_density).sum(),
        }
    }

    /// The expansion at any latent values: at a part's own mode, or at the committee's mean to refresh it.
    pub fn at(likelihood: &Likelihood, seen: &Observations, latent: &[f64]) -> Result<Self> {
        if latent.len() != seen.groups() {
            return Err(Error::Shape {
                what: "latent values",
                expected: seen.groups(),
                found: latent.len(),
            });
        }
        let working = Self::new(latent, &likelihood.derivatives_of(seen, latent));
        if working.log_density.is_finite() {
            Ok(working)
        } else {
            Err(Error::NotFinite {
                what: "the log likelihood at the working point",
            })
        }
    }

    /// The rows against the covariance R that something else (landmarks, or nothing: then R is K) leaves to them.
    ///
    /// `remainder` needs both halves. Everything a summary is made of follows from the answer.
    pub fn condense(&self, remainder: MatrixRef<'_>) -> Result<Condensed> {
        let root: Vec<f64> = self.curvature.iter().map(|w| w.sqrt()).collect();
        let size = root.len();
        let factor = Factor::new(size, JitterPolicy::default(), |out| {
            fill_scaled_lower(out, remainder, &root);
        })?;
        let spread = symmetric_times(remainder, &self.slope);
        let mut vector = Matrix::from_fn(size, 1, |i, _| root[i] * (self.latent[i] - spread[i]));
        factor.solve(vector.as_mut());
        let vector: Vec<f64> = (0..size)
            .map(|i| self.slope[i] + root[i] * vector[(i, 0)])
            .collect();
        // With y = f + W^-1 g and q = Q^-1 y: y'Q^-1 y - g'W^-1 g = f'q + f'g - (R g)'q, in which no 1/W is left; and
        // log |Q| = log |I + D R D| - sum log W cancels the working densities' own normalisation.
        let misfit =
            dot(&self.latent, &vector) + dot(&self.latent, &self.slope) - dot(&spread, &vector);
        let log_evidence = self.log_density - 0.5 * factor.log_determinant() - 0.5 * misfit;
        Ok(Condensed {
            root,
            factor,
            vector,
            log_evidence,
        })
    }
}

/// A part ready to be added: `Q^-1 = D E D` in factored form.
#[derive(Clone, Debug)]
pub struct Condensed {
    root: Vec<f64>,
    factor: Factor,
    vector: Vec<f64>,
    log_evidence: f64,
}

impl Condensed {
    /// `Q^-1 y` for the working targets y.
    pub fn vector(&self) -> &[f64] {
        &self.vector
    }

    /// `log N(y; 0, Q)` plus, per row, `log p(y_i | f_i) - log N(y_i; f_i, 1 / W_i)`: the part's share of a committee's
    /// approximate evidence, and with R = K at the mode the Laplace evidence itself.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// `right := L^-1 D right`, whose inner products are `right' Q^-1 right`.
    pub fn whiten(&self, mut right: MatrixMut<'_>) {
        for column in 0..right.ncols() {
            for row in 0..right.nrows() {
                right[(row, column)] *= self.root[row];
            }
        }
        self.factor.whiten(right);
    }

    /// `right := Q^-1 right`.
    pub fn solve(&self, mut right: MatrixMut<'_>) {
        self.whiten(right.as_mut());
        self.factor.unwhiten(right.as_mut());
        for column in 0..right.ncols() {
            for row in 0..right.nrows() {
                right[(row, column)] *= self.root[row];
            }
        }
    }
}
