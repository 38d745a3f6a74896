//! Leave-one-out log density as an objective, with its exact gradient.

use crate::data::Dataset;
use crate::kernel::{BoundKernel, tiles};
use crate::learn::evidence::at;
use crate::learn::{Evaluation, Objective};
use crate::linalg::{JitterPolicy, Matrix, multiply, product_tile};
use crate::posterior::exact;
use crate::{Error, Result};

/// How well each row is predicted by all others (Rasmussen and Williams 2006, eq. 5.10-5.12); rows with the same inputs
/// are left out together.
#[derive(Clone, Debug)]
pub struct LeaveOneOutDensity<'a> {
    kernel: &'a BoundKernel,
    data: &'a Dataset,
    policy: JitterPolicy,
}

impl<'a> LeaveOneOutDensity<'a> {
    /// The density of `data` under kernels of the shape of `kernel`.
    pub fn new(kernel: &'a BoundKernel, data: &'a Dataset, policy: JitterPolicy) -> Self {
        Self {
            kernel,
            data,
            policy,
        }
    }
}

impl Objective for LeaveOneOutDensity<'_> {
    /// With `Q = C^-1`, `a = Q y`, a row's variance is `1 / Q_ii` and its error `a_i / Q_ii`, so the value is
    /// `sum 1/2 log Q_ii - 1/2 a_i^2 / Q_ii - 1/2 log 2 pi`. From `dQ = -Q dC Q` and `da = -Q dC a` its sensitivity to `C`
    /// is `1/2 (u a' + a u') - Q diag(c) Q` with `c_i = (1 + a_i^2 / Q_ii) / (2 Q_ii)`, `u = Q (a_i / Q_ii)`.
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, noise) = at(self.kernel, coordinates)?;
        let data = self.data;
        let n = data.rows();
        let factor = exact::factor(&kernel, noise, data, self.policy)?;
        let mut weights = Matrix::from_fn(n, 1, |row, _| data.targets()[row]);
        factor.solve(weights.as_mut());
        let inverse = {
            let lower = factor.inverse_lower();
            multiply(lower.transpose(), lower.as_ref())
        };
        drop(factor);
        let a = weights.col_as_slice(0);
        let own: Vec<f64> = (0..n).map(|i| inverse[(i, i)]).collect();
        let value = (0..n)
            .map(|i| {
                0.5 * own[i].ln()
                    - 0.5 * a[i] * a[i] / own[i]
                    - 0.5 * (2.0 * std::f64::consts::PI).ln()
            })
            .sum::<f64>();
        let error = Matrix::from_fn(n, 1, |i, _| a[i] / own[i]);
        let pulled = multiply(inverse.as_ref(), error.as_ref());
        let u = pulled.col_as_slice(0);
        // Q diag(c)^1/2: its product with its own transpose is what is taken off.
        let scaled = Matrix::from_fn(n, n, |i, j| {
            let c = 0.5 * (1.0 + a[j] * a[j] / own[j]) / own[j];
            inverse[(i, j)] * c.sqrt()
        });
        let mut gradient = vec![0.0; coordinates.len()];
        let Some((noise_slope, kernel_slopes)) = gradient.split_last_mut() else {
            return Err(Error::Invalid("no coordinates to evaluate at".into()));
        };
        tiles::pull_back_lower_with(
            &kernel,
            data.inputs(),
            &|rows, columns, mut tile| {
                let left = scaled.as_ref().subrows(rows.start, rows.len());
                let right = scaled.as_ref().subrows(columns.start, columns.len());
                product_tile(tile.as_mut(), -1.0, left, right.transpose());
                for (j, column) in columns.enumerate() {
                    for (i, row) in rows.clone().enumerate() {
                        tile[(i, j)] += 0.5 * (u[row] * a[column] + a[row] * u[column]);
                    }
                }
            },
            kernel_slopes,
        );
        *noise_slope = (0..n)
            .map(|i| {
                let square: f64 = (0..n).map(|j| scaled[(i, j)] * scaled[(i, j)]).sum();
                (u[i] * a[i] - square) * noise.variance / data.weights()[i]
            })
            .sum();
        if value.is_finite() && gradient.iter().all(|slope| slope.is_finite()) {
            Ok(Evaluation { value, gradient })
        } else {
            Err(Error::NotFinite {
                what: "the leave-one-out density or its gradient",
            })
        }
    }
}
