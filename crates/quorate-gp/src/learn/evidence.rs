//! Log evidence of rows as a block, with its exact gradient.

use std::ops::Range;

use crate::data::Dataset;
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::learn::{Evaluation, Objective};
use crate::likelihood::GaussianNoise;
use crate::linalg::{JitterPolicy, Matrix, MatrixMut, Spares, dot, product_tile};
use crate::posterior::exact;
use crate::posterior::outputs::{target_matrix, within_groups};
use crate::{Error, Result};

/// The log evidence of one block of rows (Rasmussen and Williams 2006, eq. 5.8-5.9).
#[derive(Clone, Debug)]
pub struct BlockEvidence<'a> {
    pub(super) kernel: &'a BoundKernel,
    pub(super) data: &'a Dataset,
    pub(super) policy: JitterPolicy,
    pub(super) spares: Spares,
}

impl<'a> BlockEvidence<'a> {
    /// The evidence of `data` under kernels of the shape of `kernel`.
    pub fn new(kernel: &'a BoundKernel, data: &'a Dataset, policy: JitterPolicy) -> Self {
        Self {
            kernel,
            data,
            policy,
            spares: Spares::new(data.rows()),
        }
    }

    /// One tile of `S = 1/2 (A A' - o C^-1)`, given `L^-1` and `A = C^-1 Y`, for `o` outputs; below the diagonal of tiles
    /// only.
    pub(super) fn sensitivity_tile(
        &self,
        inverse: &Matrix,
        weights: &Matrix,
        rows: Range<usize>,
        columns: Range<usize>,
        mut tile: MatrixMut<'_>,
    ) {
        let below = inverse.nrows() - rows.start;
        product_tile(
            tile.as_mut(),
            -0.5 * weights.ncols() as f64,
            inverse
                .as_ref()
                .submatrix(rows.start, rows.start, below, rows.len())
                .transpose(),
            inverse
                .as_ref()
                .submatrix(rows.start, columns.start, below, columns.len()),
        );
        for output in 0..weights.ncols() {
            let weights = weights.col_as_slice(output);
            for (j, column) in columns.clone().enumerate() {
                for (i, row) in rows.clone().enumerate() {
                    tile[(i, j)] += 0.5 * weights[row] * weights[column];
                }
            }
        }
    }
}

impl Objective for BlockEvidence<'_> {
    /// With `C = K + Psi`, `a = C^-1 y` and sensitivity `S = 1/2 (a a' - C^-1)`, the derivative is `sum_ij S_ij dC_ij`.
    /// Outputs add: `S = 1/2 (A A' - o C^-1)` with a column of `A` for each of `o`.
    /// Two n x n matrices live at a time (`L`, `L^-1`); the sensitivity exists one tile at a time.
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, noise) = at(self.kernel, coordinates)?;
        let data = self.data;
        let factor = exact::factor_in(self.spares.take(), &kernel, noise, data, self.policy)?;
        let outputs = data.outputs() as f64;
        let mut weights = target_matrix(data);
        factor.solve(weights.as_mut());
        let value = exact::log_evidence(data, noise, &factor, &weights);

        let inverse = factor.inverse_lower_in(self.spares.take());
        self.spares.give_back(factor.into_matrix());
        let mut gradient = vec![0.0; coordinates.len()];
        let (noise_slope, kernel_slopes) = gradient
            .split_last_mut()
            .ok_or_else(|| Error::Invalid("no coordinates to evaluate at".into()))?;
        tiles::pull_back_lower_with(
            &kernel,
            data.inputs(),
            &|rows, columns, tile| self.sensitivity_tile(&inverse, &weights, rows, columns, tile),
            kernel_slopes,
        );
        let (_, within) = within_groups(noise, data);
        *noise_slope = within
            + (0..data.rows())
                .map(|row| {
                    let column = &inverse.col_as_slice(row)[row..];
                    let squares: f64 = (0..weights.ncols())
                        .map(|output| weights[(row, output)] * weights[(row, output)])
                        .sum();
                    let sensitivity = 0.5 * (squares - outputs * dot(column, column));
                    sensitivity * noise.variance / data.weights()[row]
                })
                .sum::<f64>();
        self.spares.give_back(inverse);
        if value.is_finite() && gradient.iter().all(|slope| slope.is_finite()) {
            Ok(Evaluation { value, gradient })
        } else {
            Err(Error::NotFinite {
                what: "the log evidence or its gradient",
            })
        }
    }
}

/// Kernel and noise at a point of the search.
pub fn at(kernel: &BoundKernel, coordinates: &[f64]) -> Result<(BoundKernel, GaussianNoise)> {
    let Some((noise, kernel_coordinates)) = coordinates.split_last() else {
        return Err(Error::Invalid("no coordinates to evaluate at".into()));
    };
    let mut kernel = kernel.clone();
    kernel.set_coordinates(kernel_coordinates)?;
    let noise = GaussianNoise {
        variance: noise.exp(),
    };
    Ok((kernel, noise))
}
