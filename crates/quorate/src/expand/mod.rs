//! Rows with a likelihood as rows with Gaussian noise: working targets at one common function.
//!
//! Laplace's method makes of a row with slope g and curvature W of its log likelihood at f a target `f + g / W` with noise
//! variance `1 / W` (Tresp 2000, sec. 5.1). As published, every part expands at its own mode; then a part is timid, the
//! more so the smaller it is. Here all rows expand at one function, the mode as the landmarks see it: a row's working
//! target depends on the row alone, so that parts add, stream, merge and are forgotten exactly as those of a
//! regression, and one step of Newton from the common mode is left to the committee.

mod around;
mod evidence;
mod mode;
mod projection;

pub(crate) use around::modes_around;
pub use evidence::ProjectedEvidence;

use std::f64::consts::PI;

use quorate_gp::data::{Dataset, Inputs, Schema};
use quorate_gp::kernel::tiles;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{Matrix, dot};

use crate::error::{Error, Result};
use crate::landmarks::{Landmarks, Summary};
use crate::latent::observations;
use crate::task::Through;

/// Rows whose covariance with the landmarks is held at a time.
const CHUNK: usize = 2048;
/// Least curvature: a row that says nothing has large noise, not infinite noise.
const LEAST_CURVATURE: f64 = 1e-10;
/// The noise that a committee of working targets adds to their own: none that can be felt.
pub const NO_NOISE: GaussianNoise = GaussianNoise { variance: 1e-9 };

/// The function at which all rows expand.
#[derive(Clone, Debug)]
pub struct Expansion {
    landmarks: Landmarks,
    through: Through,
    /// In whitened coordinates: the function is `k(x, Z) L^-T a`.
    weights: Vec<f64>,
}

/// Rows as rows with Gaussian noise.
#[derive(Clone, Debug)]
pub struct Working {
    /// One row for each distinct input: its working target, and its noise as known noise.
    pub data: Dataset,
    /// `sum log p(y | f) - log N(working target; f, 1 / W)`: what their evidence as Gaussian rows leaves out.
    pub beyond: f64,
    /// Rows, counting weights.
    pub weight: f64,
}

impl Expansion {
    /// The expansion at known weights.
    pub fn new(landmarks: Landmarks, through: Through, weights: &[f64]) -> Result<Self> {
        if weights.len() != landmarks.count() {
            return Err(Error::Spec(
                "the function at which rows expand and the landmarks do not belong together".into(),
            ));
        }
        Ok(Self {
            weights: weights.to_vec(),
            landmarks,
            through,
        })
    }

    /// `a`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The same function seen through another likelihood or level.
    pub fn through(&self) -> Through {
        self.through
    }

    /// The function at some inputs.
    pub fn latents(&self, inputs: Inputs<'_>) -> Vec<f64> {
        values(&self.landmarks, &self.weights, inputs)
    }

    /// Working targets of rows.
    pub fn working(&self, schema: &Schema, data: &Dataset) -> Result<Working> {
        working_at(schema, data, self.through, &self.latents(data.inputs()))
    }
}

/// The function with these whitened weights at some inputs.
fn values(landmarks: &Landmarks, weights: &[f64], inputs: Inputs<'_>) -> Vec<f64> {
    let mut plain = Matrix::from_fn(weights.len(), 1, |row, _| weights[row]);
    landmarks.factor().unwhiten(plain.as_mut());
    let mut found = Vec::with_capacity(inputs.rows());
    for first in (0..inputs.rows()).step_by(CHUNK) {
        let some = inputs.slice(first, (first + CHUNK).min(inputs.rows()));
        let cross = tiles::block(landmarks.kernel(), landmarks.inputs(), some);
        let each = 0..some.rows();
        found.extend(each.map(|row| dot(cross.col_as_slice(row), plain.col_as_slice(0))));
    }
    found
}

/// Working targets at any latent values, one for each distinct row.
pub fn working_at(
    schema: &Schema,
    data: &Dataset,
    through: Through,
    latent: &[f64],
) -> Result<Working> {
    let seen = observations(schema, data, through)?;
    let terms = through.likelihood.derivatives_of(&seen, latent);
    let (mut targets, mut noise) = (Vec::new(), Vec::new());
    let mut beyond = 0.0;
    for (term, f) in terms.iter().zip(latent) {
        let curvature = term.curvature.max(LEAST_CURVATURE);
        let step = term.slope / curvature;
        targets.push(f + step);
        noise.push(1.0 / curvature);
        beyond += term.log_density + 0.5 * (2.0 * PI / curvature).ln() + 0.5 * step * term.slope;
    }
    let inputs = data.inputs();
    let data = Dataset::new(
        inputs.values().to_vec(),
        inputs.width(),
        targets,
        None,
        Some(noise),
    )?;
    Ok(Working {
        data,
        beyond,
        weight: seen.total_weight(),
    })
}

impl Working {
    /// What the summaries of its parts leave out: evidence that has nothing to do with landmarks, and rows behind one input.
    pub fn rest(&self, landmarks: usize) -> Summary {
        let mut rest = Summary::empty(landmarks, 1);
        rest.log_evidence = self.beyond;
        rest.rows = self.weight - self.data.total_weight();
        rest
    }
}
