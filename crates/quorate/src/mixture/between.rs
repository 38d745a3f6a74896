//! Covariances of a process between the rows of a mixture: those of all pairs, or through landmarks where rows are many.
//!
//! Through landmarks every row is a part of its own: `f_k = V_k' v + e_k`, with `V = L^-1 k(Z, X)`, `v ~ N(0, I)` and
//! `e_k ~ N(0, d_k)`, `d_k = k_kk - |V_k|^2`, independent of each other (Tresp 2000, eq. 13 to 15 with parts of one row). That is a
//! process too, and the same one where every row is a landmark; so all of expectation and maximisation, answers left out
//! among it, holds for it as it stands, at `O(n m^2)` for a step.

use std::sync::Arc;

use quorate_gp::data::Inputs;
use quorate_gp::kernel::{BoundKernel, Covariance, tiles};
use quorate_gp::linalg::{Matrix, add_gram_lower, dot, multiply};
use quorate_gp::posterior::Predict;
use rayon::prelude::*;

use super::processes::{MixtureRows, Prior};
use super::sites::{Sites, Smoothed};
use crate::error::Result;
use crate::landmarks::{LandmarkBelief, Landmarks, Summary};

/// Rows that are whitened together, and how many such blocks are summed up side by side.
const BLOCK: usize = 512;
const WAVE: usize = 8;

/// Covariances of a process between rows.
pub enum Between {
    /// Those of all pairs.
    Pairs(Matrix),
    /// Through landmarks.
    Landmarks(Box<Through>),
}

impl Between {
    /// Lets the process hear sites.
    pub fn hear(&self, sites: Sites) -> Result<Smoothed> {
        match self {
            Between::Pairs(covariance) => Smoothed::new(covariance, sites),
            Between::Landmarks(through) => through.hear(sites),
        }
    }
}

/// Covariances between the rows: those of gates and of noise are shared by all experts.
pub struct Covariances {
    pub experts: Vec<Between>,
    pub gate: Between,
    pub noise: Between,
}

impl Covariances {
    /// Those of all pairs.
    pub fn of_pairs(prior: &Prior, rows: &MixtureRows) -> Result<Self> {
        let inputs = rows.inputs()?;
        Self::with(prior, |kernel| {
            Ok(Between::Pairs(tiles::block(kernel, inputs, inputs)))
        })
    }

    /// Those through landmarks, row after row of encoded inputs.
    pub fn through(prior: &Prior, rows: &Arc<MixtureRows>, landmarks: &[f64]) -> Result<Self> {
        Self::with(prior, |kernel| {
            let own = Through::new(kernel.clone(), rows.clone(), landmarks)?;
            Ok(Between::Landmarks(Box::new(own)))
        })
    }

    fn with(prior: &Prior, own: impl Fn(&BoundKernel) -> Result<Between>) -> Result<Self> {
        Ok(Self {
            experts: prior.experts.iter().map(&own).collect::<Result<_>>()?,
            gate: own(&prior.gate)?,
            noise: own(&prior.noise)?,
        })
    }
}

/// A process whose rows are connected through landmarks alone.
pub struct Through {
    landmarks: Landmarks,
    rows: Arc<MixtureRows>,
    /// `d_k`: what the landmarks leave open of each row.
    left: Vec<f64>,
}

impl Through {
    fn new(kernel: BoundKernel, rows: Arc<MixtureRows>, landmarks: &[f64]) -> Result<Self> {
        let inputs = rows.inputs()?;
        let landmarks = frame(kernel, landmarks, inputs.width())?;
        let blocks: Vec<Vec<f64>> = (0..inputs.rows())
            .into_par_iter()
            .step_by(BLOCK)
            .map(|first| {
                let block = inputs.slice(first, (first + BLOCK).min(inputs.rows()));
                let whitened = whitened(&landmarks, block);
                let prior = landmarks.kernel().diagonal(block);
                let each = prior.iter().enumerate().map(|(row, prior)| {
                    let column = whitened.col_as_slice(row);
                    (prior - dot(column, column)).max(0.0)
                });
                each.collect()
            })
            .collect();
        let left = blocks.concat();
        Ok(Self {
            landmarks,
            rows,
            left,
        })
    }

    /// With `t = 1 / (1 + w d)`, a site `(w, h)` on `f = g + e` is the site `(t w, t h)` on `g = V'v`. Given `g ~ N(m, s)`, the
    /// belief about `f` has mean `t (m + d h)` and variance `t d + t^2 s`, and `a = h - w f` has `f = K a`.
    fn hear(&self, sites: Sites) -> Result<Smoothed> {
        let each = sites.precision.iter().zip(&self.left);
        let passed: Vec<f64> = each.map(|(w, d)| 1.0 / (1.0 + w * d)).collect();
        let inputs = self.rows.inputs()?;
        let summary = self.summary(inputs, &sites, &passed)?;
        let belief = LandmarkBelief::new(self.landmarks.clone(), &summary)?;
        let carried = belief.marginals(inputs)?;
        let open: f64 = passed.iter().map(|passed| -passed.ln()).sum();
        let mut heard = Smoothed {
            log_determinant: open + belief.factor().log_determinant(),
            weights: Vec::with_capacity(passed.len()),
            mean: Vec::with_capacity(passed.len()),
            variance: Vec::with_capacity(passed.len()),
            kept: Vec::with_capacity(passed.len()),
            told: super::sites::Told::Landmarks(Box::new((belief, summary))),
            sites: Sites::default(),
        };
        for (row, t) in passed.iter().enumerate() {
            let (w, h, d) = (sites.precision[row], sites.shift[row], self.left[row]);
            let g = carried.mean[(row, 0)];
            let s = (carried.variance[(row, 0)] - d).max(0.0);
            heard.weights.push(t * (h - w * g));
            heard.mean.push(t * (g + d * h));
            heard.variance.push(t * (d + t * s));
            heard.kept.push(t * (1.0 - t * w * s));
        }
        heard.sites = sites;
        Ok(heard)
    }

    /// What all rows say to the landmarks, summed up in the order of the rows.
    fn summary(&self, inputs: Inputs<'_>, sites: &Sites, passed: &[f64]) -> Result<Summary> {
        let count = self.landmarks.count();
        let mut sum = Summary::empty(count, 1);
        let firsts: Vec<usize> = (0..inputs.rows()).step_by(BLOCK).collect();
        for wave in firsts.chunks(WAVE) {
            let parts: Vec<Summary> = wave
                .par_iter()
                .map(|&first| {
                    let last = (first + BLOCK).min(inputs.rows());
                    let cross = whitened(&self.landmarks, inputs.slice(first, last));
                    let rows = last - first;
                    let root = |row: usize| (passed[row] * sites.precision[row]).sqrt();
                    let roots: Vec<f64> = (first..last).map(root).collect();
                    let scaled = Matrix::from_fn(rows, count, |row, landmark| {
                        roots[row] * cross[(landmark, row)]
                    });
                    let shift = Matrix::from_fn(rows, 1, |row, _| {
                        passed[first + row] * sites.shift[first + row]
                    });
                    let mut part = Summary::empty(count, 1);
                    add_gram_lower(part.information.as_mut(), 1.0, scaled.as_ref());
                    part.vector = multiply(cross.as_ref(), shift.as_ref());
                    part.rows = rows as f64;
                    part
                })
                .collect();
            for part in &parts {
                sum = sum.merge(part)?;
            }
        }
        Ok(sum)
    }
}

/// Landmarks, row after row of encoded inputs, under a kernel.
pub fn frame(kernel: BoundKernel, values: &[f64], width: usize) -> Result<Landmarks> {
    let inputs = Inputs::new(values, values.len() / width.max(1), width)?;
    Ok(Landmarks::new(kernel, inputs)?)
}

/// `L^-1 k(Z, X)` for one block of rows, on one thread.
fn whitened(landmarks: &Landmarks, block: Inputs<'_>) -> Matrix {
    let mut cross = Matrix::zeros(landmarks.count(), block.rows());
    let kernel = landmarks.kernel();
    kernel.fill(landmarks.inputs(), block, cross.as_mut());
    landmarks.factor().whiten_block(cross.as_mut());
    cross
}
