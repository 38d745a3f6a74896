//! The trait behind every kernel: blocks, diagonal, and the pull-back of a sensitivity.

use crate::Result;
use crate::data::Inputs;
use crate::linalg::{MatrixMut, MatrixRef};
use crate::parameters::Parameter;

/// A covariance function with hyperparameters.
///
/// `fill` and `pull_back` run on one thread and are meant for tiles of a few hundred rows; [`super::tiles`] walks a
/// whole matrix in parallel. A gradient is never a stack of matrices: given the sensitivity `S` of some scalar to the
/// entries of a block, the pull-back adds `sum_ij S_ij dk(x_i, x'_j) / dtheta` to the gradient of each coordinate.
pub trait Covariance: Send + Sync {
    /// k(x, x) for each row.
    fn diagonal(&self, inputs: Inputs<'_>) -> Vec<f64>;

    /// Writes k(x_i, x'_j) to row i, column j of `out`.
    fn fill(&self, rows: Inputs<'_>, columns: Inputs<'_>, out: MatrixMut<'_>);

    /// Adds `sum_ij S_ij dk(x_i, x'_j) / dtheta_p` to `gradient[p]` for every coordinate.
    fn pull_back(
        &self,
        rows: Inputs<'_>,
        columns: Inputs<'_>,
        sensitivity: MatrixRef<'_>,
        gradient: &mut [f64],
    );

    /// Adds `sum_i s_i dk(x_i, x_i) / dtheta_p` to `gradient[p]` for every coordinate.
    fn pull_back_diagonal(&self, inputs: Inputs<'_>, sensitivity: &[f64], gradient: &mut [f64]);

    /// The hyperparameters, in the order of the gradient.
    fn parameters(&self) -> Vec<Parameter>;

    /// Moves every hyperparameter to the given coordinates (logarithms of positive ones).
    fn set_coordinates(&mut self, coordinates: &[f64]) -> Result<()>;
}
