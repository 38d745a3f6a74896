//! Small symmetric matrices: curvatures of hyperparameters.

use faer::Side;

use super::{Factor, JitterPolicy, Matrix};
use crate::{Error, Result};

/// Eigenvalues in increasing order with their vectors as columns; only the lower triangle is read.
pub fn eigen(matrix: &Matrix) -> Result<(Vec<f64>, Matrix)> {
    let found = matrix
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::NotFinite {
            what: "the eigenvalues of a curvature",
        })?;
    let values = found.S().column_vector().iter().copied().collect();
    Ok((values, found.U().to_owned()))
}

/// The nearest positive semidefinite matrix: negative eigenvalues become zero.
pub fn without_negative(matrix: &Matrix) -> Result<Matrix> {
    let (values, vectors) = eigen(matrix)?;
    let size = matrix.nrows();
    Ok(Matrix::from_fn(size, size, |i, j| {
        values
            .iter()
            .enumerate()
            .map(|(k, value)| value.max(0.0) * vectors[(i, k)] * vectors[(j, k)])
            .sum()
    }))
}

/// The factor of a matrix, with no repair: none when it is not positive definite.
pub fn factor_if_positive(matrix: &Matrix) -> Option<Factor> {
    let plain = JitterPolicy {
        start: 0.0,
        first: 0.0,
        last: 0.0,
    };
    Factor::new(matrix.nrows(), plain, |mut out| out.copy_from(matrix)).ok()
}
