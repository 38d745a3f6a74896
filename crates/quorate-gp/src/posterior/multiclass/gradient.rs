//! Gradient of the coupled approximate evidence.

use rayon::prelude::*;

use super::mode::{CoupledMode, Stack, combine, scaled_inverse, spread};
use crate::data::Inputs;
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::likelihood::Classes;
use crate::linalg::{Matrix, add_gram_lower, dot};

/// Rows whose posterior covariances are held at a time.
const ROW_BLOCK: usize = 128;

/// Derivatives of the approximate log evidence with respect to every kernel's coordinates, one list for each kernel (one
/// for all classes, or one for each).
///
/// The sensitivity to `K_c` is `1/2 a_c a_c' - 1/2 [(W^-1 + K)^-1]_cc + 1/2 (u_c g_c' + g_c u_c')`, with
/// `[(W^-1 + K)^-1]_cc = E_c - E_c (sum E)^-1 E_c` and `u = (I + W K)^-1 s`; s says how the determinant follows the mode.
pub(crate) fn coupled_gradient(
    kernels: &[BoundKernel],
    inputs: Inputs<'_>,
    covariances: &[Matrix],
    classes: &Classes,
    mode: &CoupledMode,
) -> Vec<Vec<f64>> {
    let rows = classes.rows();
    let through_mode = determinant_slopes(covariances, classes, mode);
    let back = mode.coupling.solve(&spread(covariances, &through_mode));
    let u = combine(&through_mode, -1.0, &back);
    let mut gradients: Vec<Vec<f64>> = kernels
        .iter()
        .map(|kernel| vec![0.0; kernel.parameters().len()])
        .collect();
    let shared = kernels.len() == 1;
    let mut sensitivity = Matrix::zeros(rows, rows);
    let mut memory = Matrix::zeros(rows, rows);
    for class in 0..classes.count() {
        memory = scaled_inverse(
            &mode.coupling.factors[class],
            &mode.coupling.roots[class],
            memory,
        );
        let mut own = Matrix::zeros(rows, rows);
        add_gram_lower(own.as_mut(), 1.0, memory.as_ref());
        mirror_lower(&mut own);
        add_lower(&mut sensitivity, -0.5, &own);
        mode.coupling.sum.whiten(own.as_mut());
        add_gram_lower(sensitivity.as_mut(), 0.5, own.as_ref());
        // At the mode the weights are the slope of the log likelihood.
        let (a, u) = (&mode.weights[class], &u[class]);
        for column in 0..rows {
            let entries = &mut sensitivity.col_as_slice_mut(column)[column..];
            for (entry, row) in entries.iter_mut().zip(column..) {
                *entry +=
                    0.5 * a[row] * a[column] + 0.5 * (u[row] * a[column] + a[row] * u[column]);
            }
        }
        if !shared || class + 1 == classes.count() {
            let place = if shared { 0 } else { class };
            tiles::pull_back_lower(
                &kernels[place],
                inputs,
                sensitivity.as_ref(),
                &mut gradients[place],
            );
            sensitivity.fill(0.0);
        }
    }
    gradients
}

/// `s_ic = -1/2 trace(Sigma_i dW_i / df_ic)`, Sigma_i being the posterior covariance of the C latent values of row i:
/// with `t_j = [Sigma_i]_jj - 2 [Sigma_i pi]_j`, `s_ic = -1/2 w pi_c (t_c - sum_j pi_j t_j)`.
fn determinant_slopes(covariances: &[Matrix], classes: &Classes, mode: &CoupledMode) -> Stack {
    let (count, rows) = (classes.count(), classes.rows());
    let starts: Vec<usize> = (0..rows).step_by(ROW_BLOCK).collect();
    let blocks: Vec<Vec<f64>> = starts
        .into_par_iter()
        .map(|first| {
            let width = ROW_BLOCK.min(rows - first);
            let (diagonal, shared) = row_factors(covariances, mode, first, width);
            let mut slopes = vec![0.0; width * count];
            for local in 0..width {
                let row = first + local;
                let pi: Vec<f64> = (0..count).map(|c| mode.probabilities[c][row]).collect();
                // Sigma = diag + G'G, so Sigma pi needs one combined column.
                let mut mixed = vec![0.0; rows];
                for c in 0..count {
                    for (sum, entry) in mixed.iter_mut().zip(shared[c].col_as_slice(local)) {
                        *sum += pi[c] * entry;
                    }
                }
                let t: Vec<f64> = (0..count)
                    .map(|c| {
                        let column = shared[c].col_as_slice(local);
                        let own = diagonal[c][local];
                        own + dot(column, column) - 2.0 * (own * pi[c] + dot(column, &mixed))
                    })
                    .collect();
                let mean = dot(&pi, &t);
                for c in 0..count {
                    slopes[local * count + c] = -0.5 * classes.total(row) * pi[c] * (t[c] - mean);
                }
            }
            slopes
        })
        .collect();
    let flat = blocks.concat();
    (0..count)
        .map(|c| (0..rows).map(|i| flat[i * count + c]).collect())
        .collect()
}

/// For rows `first..first + width` and each class: `K_ii - k_i' E_c k_i`, and the columns `M^-1 E_c k_i` with `M M' = sum E`.
/// The posterior covariance of classes c and d at a row is the first (for c = d) plus the inner product of their columns.
fn row_factors(
    covariances: &[Matrix],
    mode: &CoupledMode,
    first: usize,
    width: usize,
) -> (Vec<Vec<f64>>, Vec<Matrix>) {
    let count = mode.weights.len();
    let mut diagonals = Vec::with_capacity(count);
    let mut columns = Vec::with_capacity(count);
    for class in 0..count {
        let covariance = &covariances[class % covariances.len()];
        let cross = covariance.as_ref().subcols(first, width).to_owned();
        let prior: Vec<f64> = (0..width)
            .map(|i| covariance[(first + i, first + i)])
            .collect();
        let (diagonal, shared) = class_factors(mode, class, cross, &prior);
        diagonals.push(diagonal);
        columns.push(shared);
    }
    (diagonals, columns)
}

/// The same for any cross covariances (training rows x queries) of one class, on one thread.
pub(crate) fn class_factors(
    mode: &CoupledMode,
    class: usize,
    mut cross: Matrix,
    prior: &[f64],
) -> (Vec<f64>, Matrix) {
    let (root, factor) = (&mode.coupling.roots[class], &mode.coupling.factors[class]);
    let scale = |matrix: &mut Matrix| {
        for column in 0..matrix.ncols() {
            for (entry, scale) in matrix.col_as_slice_mut(column).iter_mut().zip(root) {
                *entry *= scale;
            }
        }
    };
    scale(&mut cross);
    factor.whiten_block(cross.as_mut());
    let diagonal = (0..cross.ncols())
        .map(|q| {
            let column = cross.col_as_slice(q);
            (prior[q] - dot(column, column)).max(0.0)
        })
        .collect();
    factor.unwhiten_block(cross.as_mut());
    scale(&mut cross);
    mode.coupling.sum.whiten_block(cross.as_mut());
    (diagonal, cross)
}

fn mirror_lower(matrix: &mut Matrix) {
    for column in 0..matrix.ncols() {
        for row in column + 1..matrix.nrows() {
            matrix[(column, row)] = matrix[(row, column)];
        }
    }
}

fn add_lower(target: &mut Matrix, scale: f64, source: &Matrix) {
    for column in 0..target.ncols() {
        let theirs = &source.col_as_slice(column)[column..];
        let ours = &mut target.col_as_slice_mut(column)[column..];
        for (mine, their) in ours.iter_mut().zip(theirs) {
            *mine += scale * their;
        }
    }
}
