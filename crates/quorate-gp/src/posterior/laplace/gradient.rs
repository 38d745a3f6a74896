//! Gradient of the approximate log evidence, the mode's own dependence on the parameters included.

use super::mode::{Mode, scaled_solve};
use crate::data::Inputs;
use crate::kernel::{BoundKernel, tiles};
use crate::likelihood::{Likelihood, Observations};
use crate::linalg::{Matrix, MatrixRef, dot, product_tile, symmetric_times};

/// Steps of the conjugate gradients that replace an observed curvature of either sign.
const MOST_STEPS: usize = 300;

/// What the gradient is made of, apart from the kernel.
pub(crate) struct Sensitivity {
    /// `L^-1` of `B = L L'`.
    inverse: Matrix,
    /// `u`: what a change of the mode's equation `f = K g(f)` costs; see [`Sensitivity::new`].
    mode: Vec<f64>,
    /// `[Sigma]_ii`-weighted factors: `1/2 (1 - [B^-1]_ii) / W_i`, half the posterior variance of each latent value.
    half_variance: Vec<f64>,
}

impl Sensitivity {
    /// Prepares the gradient at a mode (Rasmussen and Williams 2006, alg. 5.1; Williams and Barber 1998, App. B).
    ///
    /// With `Sigma = (K^-1 + W)^-1` and `R = D B^-1 D`, the evidence depends on the mode through
    /// `s_i = d(-1/2 log |B|) / df_i = -1/2 Sigma_ii dW_i/df_i`, and the mode on the parameters through
    /// `df = (I + K W')^-1 (dK g + K dg)`, W' being the curvature itself. So `u = (I + W' K)^-1 s` is what multiplies
    /// `dK g + K dg`. Sigma_ii comes from `D Sigma D = I - B^-1`: no product of n^3 operations is needed for it.
    pub fn new(covariance: MatrixRef<'_>, mode: &Mode, memory: Matrix) -> Self {
        let inverse = mode.factor.inverse_lower_in(memory);
        let size = mode.latent.len();
        let half_variance: Vec<f64> = (0..size)
            .map(|i| {
                let column = &inverse.col_as_slice(i)[i..];
                let curvature = mode.terms[i].curvature;
                if curvature > 0.0 {
                    0.5 * (1.0 - dot(column, column)).max(0.0) / curvature
                } else {
                    // The row says nothing, and neither its curvature nor that curvature's slope counts.
                    0.0
                }
            })
            .collect();
        let through_mode: Vec<f64> = (0..size)
            .map(|i| -half_variance[i] * mode.terms[i].curvature_slope)
            .collect();
        let is_observed = mode
            .terms
            .iter()
            .all(|term| term.curvature == term.observed_curvature);
        let mode = if is_observed {
            let spread = symmetric_times(covariance, &through_mode);
            let back = scaled_solve(&mode.root, &mode.factor, &spread);
            through_mode.iter().zip(&back).map(|(s, r)| s - r).collect()
        } else {
            solve_observed(covariance, mode, &through_mode)
        };
        Self {
            inverse,
            mode,
            half_variance,
        }
    }

    /// Adds the derivatives with respect to the kernel's coordinates: the sensitivity of the evidence to `K_ij` is
    /// `1/2 a_i a_j - 1/2 R_ij + 1/2 (u_i g_j + g_i u_j)`, made tile by tile.
    pub fn pull_back(
        &self,
        kernel: &BoundKernel,
        inputs: Inputs<'_>,
        mode: &Mode,
        gradient: &mut [f64],
    ) {
        let slope: Vec<f64> = mode.terms.iter().map(|term| term.slope).collect();
        let through_mode = Some((self.mode.as_slice(), slope.as_slice()));
        let inverse = self.inverse.as_ref();
        pull_back_scaled(
            kernel,
            inputs,
            (inverse, &mode.root, &mode.weights),
            through_mode,
            gradient,
        );
    }

    /// Adds the derivatives with respect to the likelihood's coordinates.
    pub fn dispersions(
        &self,
        covariance: MatrixRef<'_>,
        likelihood: &Likelihood,
        seen: &Observations,
        mode: &Mode,
        gradient: &mut [f64],
    ) {
        if gradient.is_empty() {
            return;
        }
        let moved = symmetric_times(covariance, &self.mode);
        for (which, slope) in gradient.iter_mut().enumerate() {
            let terms = likelihood.dispersions_of(seen, &mode.latent, which);
            *slope += (0..terms.len())
                .map(|i| {
                    terms[i].log_density - self.half_variance[i] * terms[i].curvature
                        + moved[i] * terms[i].slope
                })
                .sum::<f64>();
        }
    }

    /// What the log evidence gains when the determinant follows the mode's last step, to first order: the factor belongs
    /// to the curvatures before it.
    pub fn last_step(&self, mode: &Mode) -> f64 {
        let terms = mode.terms.iter().zip(&mode.root);
        terms
            .zip(&self.half_variance)
            .map(|((term, root), half)| -half * (term.curvature - root * root))
            .sum()
    }

    /// The memory, for the next evaluation.
    pub fn into_matrix(self) -> Matrix {
        self.inverse
    }
}

/// Adds `sum_ij S_ij dK_ij` for `S = 1/2 a a' - 1/2 D B^-1 D + 1/2 (u g' + g u')`; `fit` is `(L^-1, D, a)`, `pair` is (u, g).
pub(crate) fn pull_back_scaled(
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    fit: (MatrixRef<'_>, &[f64], &[f64]),
    pair: Option<(&[f64], &[f64])>,
    gradient: &mut [f64],
) {
    let (inverse, root, a) = fit;
    tiles::pull_back_lower_with(
        kernel,
        inputs,
        &|rows, columns, mut tile| {
            let below = inverse.nrows() - rows.start;
            let left = inverse.submatrix(rows.start, rows.start, below, rows.len());
            let right = inverse.submatrix(rows.start, columns.start, below, columns.len());
            product_tile(tile.as_mut(), -0.5, left.transpose(), right);
            for (j, column) in columns.enumerate() {
                for (i, row) in rows.clone().enumerate() {
                    let mut entry =
                        root[row] * root[column] * tile[(i, j)] + 0.5 * a[row] * a[column];
                    if let Some((u, g)) = pair {
                        entry += 0.5 * (u[row] * g[column] + g[row] * u[column]);
                    }
                    tile[(i, j)] = entry;
                }
            }
        },
        gradient,
    );
}

/// `u = (I + W' K)^-1 s` where the observed curvature W' may be negative.
///
/// `u = s - W' v` with `(K^-1 + W') v = s`. Conjugate gradients with the known `Sigma = (K^-1 + W)^-1` before the
/// residual: every search direction is Sigma times something, so that `K^-1` is never applied,
/// `(K^-1 + W') Sigma r = r + (W' - W) Sigma r`. At a mode `K^-1 + W'` has no negative eigenvalue.
fn solve_observed(covariance: MatrixRef<'_>, mode: &Mode, right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let difference: Vec<f64> = mode
        .terms
        .iter()
        .map(|term| term.observed_curvature - term.curvature)
        .collect();
    let sigma = |vector: &[f64]| -> Vec<f64> {
        let spread = symmetric_times(covariance, vector);
        let back = scaled_solve(&mode.root, &mode.factor, &spread);
        let again = symmetric_times(covariance, &back);
        spread.iter().zip(&again).map(|(k, r)| k - r).collect()
    };
    let mut solution = vec![0.0; size];
    let mut residual = right.to_vec();
    let mut smooth = sigma(&residual);
    let (mut direction, mut source) = (smooth.clone(), residual.clone());
    let first = dot(&residual, &smooth);
    let mut energy = first;
    for _ in 0..MOST_STEPS {
        if energy.is_nan() || energy <= 1e-26 * first {
            break;
        }
        let image: Vec<f64> = (0..size)
            .map(|i| source[i] + difference[i] * direction[i])
            .collect();
        let curvature = dot(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = energy / curvature;
        for i in 0..size {
            solution[i] += step * direction[i];
            residual[i] -= step * image[i];
        }
        smooth = sigma(&residual);
        let next = dot(&residual, &smooth);
        let keep = next / energy;
        energy = next;
        for i in 0..size {
            direction[i] = smooth[i] + keep * direction[i];
            source[i] = residual[i] + keep * source[i];
        }
    }
    (0..size)
        .map(|i| right[i] - mode.terms[i].observed_curvature * solution[i])
        .collect()
}
