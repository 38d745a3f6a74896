//! What a part says about the hyperparameters without showing a row: a second-order expansion of its log evidence.
//!
//! Expansions are Gaussian factors up to a constant. As information, `-1/2 x' P x + h' x`, they add, like everything else
//! that parts say to each other.

use serde::{Deserialize, Serialize};

use super::{Evaluation, Expansion};
use crate::Result;
use crate::linalg::{Matrix, factor_if_positive, without_negative};

/// A log density `-1/2 x' P x + h' x` over coordinates, up to a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quadratic {
    /// `P`, row after row.
    pub precision: Vec<f64>,
    /// `h`.
    pub vector: Vec<f64>,
}

impl Quadratic {
    /// Says nothing.
    pub fn none(size: usize) -> Self {
        Self {
            precision: vec![0.0; size * size],
            vector: vec![0.0; size],
        }
    }

    /// Number of coordinates.
    pub fn size(&self) -> usize {
        self.vector.len()
    }

    /// Adds `scale` times another.
    pub fn add(&mut self, scale: f64, other: &Quadratic) {
        for (mine, theirs) in self.precision.iter_mut().zip(&other.precision) {
            *mine += scale * theirs;
        }
        for (mine, theirs) in self.vector.iter_mut().zip(&other.vector) {
            *mine += scale * theirs;
        }
    }

    /// Value and gradient at a point.
    pub fn evaluate(&self, point: &[f64]) -> Evaluation {
        let size = self.size();
        let mut value = 0.0;
        let mut gradient = vec![0.0; size];
        for (i, row) in self.precision.chunks(size.max(1)).enumerate() {
            let pull: f64 = row.iter().zip(point).map(|(p, x)| p * x).sum();
            gradient[i] = self.vector[i] - pull;
            value += point[i] * (self.vector[i] - 0.5 * pull);
        }
        Evaluation { value, gradient }
    }

    /// Where it is largest, with the standard deviation of each coordinate, as a Gaussian over the coordinates with
    /// `free[i]`; the others stay as in `elsewhere`, with no deviation. None when it has no maximum.
    pub fn maximum(&self, free: &[bool], elsewhere: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let moving: Vec<usize> = (0..self.size()).filter(|&i| free[i]).collect();
        let at = |i: usize, j: usize| self.precision[i * self.size() + j];
        let matrix = Matrix::from_fn(moving.len(), moving.len(), |i, j| at(moving[i], moving[j]));
        let factor = factor_if_positive(&matrix)?;
        let mut solution = Matrix::from_fn(moving.len(), 1, |i, _| self.vector[moving[i]]);
        factor.solve(solution.as_mut());
        let variances = factor.inverse_diagonal(&(0..moving.len()).collect::<Vec<_>>());
        let (mut mean, mut deviation) = (elsewhere.to_vec(), vec![0.0; self.size()]);
        for (place, &i) in moving.iter().enumerate() {
            mean[i] = solution[(place, 0)];
            deviation[i] = variances[place].sqrt();
        }
        let finite = mean.iter().chain(&deviation).all(|value| value.is_finite());
        finite.then_some((mean, deviation))
    }
}

/// The log evidence of a part near a point: all that has to travel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Where it was expanded: the part's own maximum.
    pub at: Vec<f64>,
    /// Log evidence there.
    pub value: f64,
    /// Its gradient there; not zero at the maximum of a hyperposterior, where it balances the prior's.
    pub gradient: Vec<f64>,
    /// Second derivatives there, row after row.
    pub hessian: Vec<f64>,
    /// Evaluations of the part's evidence that it took to get there.
    pub evaluations: usize,
}

impl Message {
    /// The message of an expansion at a point.
    pub fn new(at: Vec<f64>, expansion: &Expansion, evaluations: usize) -> Self {
        let size = at.len();
        let entries = (0..size * size).map(|k| expansion.hessian[(k / size, k % size)]);
        Self {
            value: expansion.evaluation.value,
            gradient: expansion.evaluation.gradient.clone(),
            hessian: entries.collect(),
            at,
            evaluations,
        }
    }

    /// `log p~ = g'(x - x_j) + 1/2 (x - x_j)' H (x - x_j)` as information: precision `-H`, vector `g - H x_j`.
    pub fn quadratic(&self) -> Quadratic {
        self.with_precision(self.hessian.iter().map(|entry| -entry).collect())
    }

    /// The same where the evidence curves downwards, and flat where it curves upwards: such messages never ask for more
    /// uncertainty than the prior has, so that their sum always has a maximum.
    pub fn concave(&self) -> Result<Quadratic> {
        let size = self.at.len();
        let precision = Matrix::from_fn(size, size, |i, j| -self.hessian[i * size + j]);
        let clipped = without_negative(&precision)?;
        let entries = (0..size * size).map(|k| clipped[(k / size, k % size)]);
        Ok(self.with_precision(entries.collect()))
    }

    fn with_precision(&self, precision: Vec<f64>) -> Quadratic {
        let size = self.at.len();
        let row = |i: usize| &precision[i * size..(i + 1) * size];
        let pull = |i: usize| -> f64 { row(i).iter().zip(&self.at).map(|(p, x)| p * x).sum() };
        // A fixed coordinate has a slope but no say.
        let moves = |i: usize| row(i).iter().any(|entry| *entry != 0.0);
        let vector = (0..size)
            .map(|i| {
                if moves(i) {
                    self.gradient[i] + pull(i)
                } else {
                    0.0
                }
            })
            .collect();
        Quadratic { precision, vector }
    }
}
