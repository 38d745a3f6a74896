//! Committee evidence with its exact gradient, as an objective: two passes over the parts.
//!
//! The committee's model of all targets is `y ~ N(0, V'V + blockdiag(Q_i))`. With `C` that covariance, `a = C^-1 y` and
//! `S = 1/2 (a a' - C^-1)`, the derivative is `sum S dC`. Everything about `S` that is needed follows from `B`, `b` and
//! one part at a time:
//!
//! - `a_i = Q_i^-1 (y_i - V_i' B^-1 b)`, `[C^-1]_ii = Q_i^-1 - Q_i^-1 V_i' B^-1 V_i Q_i^-1`;
//! - with `A = K_fz K_zz^-1`: `(S A)_i = 1/2 (a_i (B^-1 b)' - Q_i^-1 V_i' B^-1) L^-1`;
//! - sensitivity to `k(X_i, X_i)`: `S_ii`; to `k(X_i, Z)`: `2 T_i` with `T_i = (S A)_i - S_ii A_i`;
//!   to `k(Z, Z)`: `-sum_i A_i' T_i`.
//!
//! Outputs add: each has an `a` and a `B^-1 b` of its own, and what does not depend on targets counts once for each.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, tiles};
use quorate_gp::learn::{Evaluation, Objective, at};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{Matrix, add_product, multiply};
use quorate_gp::posterior::within_groups;
use quorate_gp::{Error, Result};
use rayon::prelude::*;

use super::summary::PartFactor;
use super::{LandmarkBelief, Landmarks, SummaryTree};

/// The log evidence of parts that speak through landmarks.
pub struct CommitteeEvidence<'a> {
    kernel: &'a BoundKernel,
    parts: &'a [Dataset],
    landmarks: Inputs<'a>,
}

impl<'a> CommitteeEvidence<'a> {
    /// The evidence of `parts` through fixed landmark inputs, under kernels of the shape of `kernel`.
    pub fn new(kernel: &'a BoundKernel, parts: &'a [Dataset], landmarks: Inputs<'a>) -> Self {
        Self {
            kernel,
            parts,
            landmarks,
        }
    }
}

impl Objective for CommitteeEvidence<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, noise) = at(self.kernel, coordinates)?;
        let landmarks = Landmarks::new(kernel.clone(), self.landmarks)?;
        let factors: Vec<PartFactor> = self
            .parts
            .par_iter()
            .map(|part| PartFactor::new(&landmarks, noise, part))
            .collect::<Result<_>>()?;
        let outputs = self.parts.first().map_or(1, Dataset::outputs);
        let mut tree = SummaryTree::of_outputs(outputs);
        for (factor, part) in factors.iter().zip(self.parts) {
            tree.push(factor.summary(noise, part))?;
        }
        let belief = LandmarkBelief::new(landmarks, &tree.total(self.landmarks.rows())?)?;
        let mut total = PartSlopes::none(coordinates.len(), self.landmarks.rows());
        for (factors, parts) in factors.chunks(WAVE).zip(self.parts.chunks(WAVE)) {
            let slopes: Vec<PartSlopes> = factors
                .par_iter()
                .zip(parts)
                .map(|(factor, part)| part_slopes(&kernel, noise, &belief, factor, part))
                .collect();
            slopes.iter().for_each(|slopes| total.add(slopes));
        }
        let evaluation = Evaluation {
            value: belief.log_evidence(),
            gradient: total.gradient(&kernel, self.landmarks),
        };
        if evaluation.value.is_finite() && evaluation.gradient.iter().all(|s| s.is_finite()) {
            Ok(evaluation)
        } else {
            Err(Error::NotFinite {
                what: "the committee evidence or its gradient",
            })
        }
    }
}

/// What one part adds to the gradient.
struct PartSlopes {
    gradient: Vec<f64>,
    /// `-A_i' T_i`, sensitivity to `k(Z, Z)`.
    prior_sensitivity: Matrix,
}

impl PartSlopes {
    fn none(coordinates: usize, landmarks: usize) -> Self {
        Self {
            gradient: vec![0.0; coordinates],
            prior_sensitivity: Matrix::zeros(landmarks, landmarks),
        }
    }

    fn add(&mut self, other: &PartSlopes) {
        for (total, part) in self.gradient.iter_mut().zip(&other.gradient) {
            *total += part;
        }
        self.prior_sensitivity += &other.prior_sensitivity;
    }

    /// The gradient with what comes through the prior over the landmarks.
    fn gradient(mut self, kernel: &BoundKernel, landmarks: Inputs<'_>) -> Vec<f64> {
        let kernel_slopes = self.gradient.len() - 1;
        tiles::pull_back(
            kernel,
            landmarks,
            landmarks,
            self.prior_sensitivity.as_ref(),
            &mut self.gradient[..kernel_slopes],
        );
        self.gradient
    }
}

/// Parts whose slopes are held at the same time: bounds the memory, whatever their number. The sum does not depend on it.
pub(crate) const WAVE: usize = 4;

/// What parts add to the gradient of the committee evidence, given what all parts together believe; the gradients of all
/// parts add up to that of [`CommitteeEvidence`].
pub fn part_gradient(
    belief: &LandmarkBelief,
    noise: GaussianNoise,
    parts: &[Dataset],
) -> Result<Vec<f64>> {
    let landmarks = belief.landmarks();
    let kernel = landmarks.kernel();
    let coordinates = kernel.parameters().len() + 1;
    let mut total = PartSlopes::none(coordinates, landmarks.count());
    for some in parts.chunks(WAVE) {
        let slopes: Vec<PartSlopes> = some
            .par_iter()
            .map(|part| {
                let factor = PartFactor::new(landmarks, noise, part)?;
                Ok(part_slopes(kernel, noise, belief, &factor, part))
            })
            .collect::<Result<_>>()?;
        slopes.iter().for_each(|slopes| total.add(slopes));
    }
    Ok(total.gradient(kernel, landmarks.inputs()))
}

fn part_slopes(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    belief: &LandmarkBelief,
    factor: &PartFactor,
    part: &Dataset,
) -> PartSlopes {
    let landmarks = belief.landmarks();
    let weights = belief.weights();
    // Q^-1 V' = L_Q^-T (L_Q^-1 V'), and the residual a = Q^-1 (y - V' B^-1 b).
    let mut solved = factor.scaled.clone();
    factor.factor.unwhiten(solved.as_mut());
    let mut residual = factor.target.clone();
    factor.factor.unwhiten_block(residual.as_mut());
    add_product(residual.as_mut(), -1.0, solved.as_ref(), weights.as_ref());
    let outputs = residual.ncols();
    let times = outputs as f64;

    // S_ii = 1/2 (a a' - Q^-1 + E'E) with E = L_B^-1 V Q^-1.
    let mut inner = solved.transpose().to_owned();
    belief.factor().whiten(inner.as_mut());
    let inverse = factor.factor.inverse_lower();
    let mut own = multiply(inverse.transpose(), inverse.as_ref());
    let rows = part.rows();
    for j in 0..rows {
        for i in 0..rows {
            let fits: f64 = (0..outputs)
                .map(|o| residual[(i, o)] * residual[(j, o)])
                .sum();
            own[(i, j)] = 0.5 * (fits - times * own[(i, j)]);
        }
    }
    add_product(own.as_mut(), 0.5 * times, inner.transpose(), inner.as_ref());

    // T' = L^-T [ 1/2 (B^-1 b a' - B^-1 V Q^-1) - V S_ii ], landmarks x rows.
    belief.factor().unwhiten(inner.as_mut());
    let mut cross = Matrix::from_fn(landmarks.count(), rows, |z, i| {
        let fits: f64 = (0..outputs)
            .map(|o| weights[(z, o)] * residual[(i, o)])
            .sum();
        0.5 * (fits - times * inner[(z, i)])
    });
    add_product(cross.as_mut(), -1.0, factor.whitened.as_ref(), own.as_ref());
    landmarks.factor().unwhiten(cross.as_mut());

    // A' = L^-T V, so -A' T = -(L^-T V) T.
    let mut projection = factor.whitened.clone();
    landmarks.factor().unwhiten(projection.as_mut());
    let mut prior_sensitivity = Matrix::zeros(landmarks.count(), landmarks.count());
    add_product(
        prior_sensitivity.as_mut(),
        -1.0,
        projection.as_ref(),
        cross.transpose(),
    );

    let parameters = kernel.parameters().len();
    let mut gradient = vec![0.0; parameters + 1];
    tiles::pull_back_lower(
        kernel,
        part.inputs(),
        own.as_ref(),
        &mut gradient[..parameters],
    );
    for column in 0..rows {
        cross
            .col_as_slice_mut(column)
            .iter_mut()
            .for_each(|value| *value *= 2.0);
    }
    tiles::pull_back(
        kernel,
        landmarks.inputs(),
        part.inputs(),
        cross.as_ref(),
        &mut gradient[..parameters],
    );
    let (_, within) = within_groups(noise, part);
    gradient[parameters] = within
        + (0..rows)
            .map(|i| own[(i, i)] * noise.variance / part.weights()[i])
            .sum::<f64>();
    PartSlopes {
        gradient,
        prior_sensitivity,
    }
}
