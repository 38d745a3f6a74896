//! A covariance matrix, factored once and asked often.

use faer::Par;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{BLOCK, Matrix, MatrixMut, MatrixRef, TRIANGLE_BLOCK, columns, factor_in_place};
use crate::{Error, Result};

/// What was added to the diagonal of a matrix to factor it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jitter {
    /// Relative to the mean of the diagonal; 0 when no repair was needed.
    pub relative: f64,
    /// In the matrix's own units.
    pub absolute: f64,
}

/// How far a matrix may be repaired: jitter is `start` at first, then runs from `first` to `last` in factors of ten.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JitterPolicy {
    /// Jitter that is always there, relative to the mean of the diagonal.
    pub start: f64,
    /// First jitter tried after that.
    pub first: f64,
    /// Largest jitter tried.
    pub last: f64,
}

impl Default for JitterPolicy {
    fn default() -> Self {
        Self {
            start: 0.0,
            first: 1e-12,
            last: 1e-6,
        }
    }
}

/// Cholesky factor of a positive definite matrix.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The strict upper triangle holds no meaning.
    lower: Matrix,
    jitter: Jitter,
}

impl Factor {
    /// Factors the matrix whose lower triangle `fill` writes, with as little jitter as will do.
    ///
    /// The factor takes the matrix's place, so a repair fills it again: rare, and it halves the memory.
    pub fn new(size: usize, policy: JitterPolicy, fill: impl Fn(MatrixMut<'_>)) -> Result<Self> {
        Self::in_matrix(Matrix::zeros(size, size), policy, fill)
    }

    /// As [`Factor::new`], in the memory of a square matrix whose values are not needed any more.
    pub fn in_matrix(
        mut lower: Matrix,
        policy: JitterPolicy,
        fill: impl Fn(MatrixMut<'_>),
    ) -> Result<Self> {
        let size = lower.nrows();
        let mut relative = policy.start;
        loop {
            fill(lower.as_mut());
            let mean = (0..size).map(|i| lower[(i, i)]).sum::<f64>() / size.max(1) as f64;
            if !mean.is_finite() {
                return Err(Error::NotFinite {
                    what: "the covariance matrix",
                });
            }
            let absolute = relative * mean;
            for i in 0..size {
                lower[(i, i)] += absolute;
            }
            match factor_in_place(lower.as_mut()) {
                Ok(()) => {
                    return Ok(Self {
                        lower,
                        jitter: Jitter { relative, absolute },
                    });
                }
                Err(row) if relative >= policy.last => {
                    return Err(Error::NotPositiveDefinite {
                        row,
                        pivot: lower[(row, row)],
                        jitter: relative,
                    });
                }
                Err(_) if relative < policy.first => relative = policy.first,
                Err(_) => relative *= 10.0,
            }
        }
    }

    /// A factor that was computed before, from its lower triangle; none where its diagonal is not positive.
    pub fn of_lower(lower: Matrix) -> Option<Self> {
        let sound = lower.nrows() == lower.ncols()
            && (0..lower.nrows()).all(|i| lower[(i, i)] > 0.0 && lower[(i, i)].is_finite());
        sound.then(|| Self {
            lower,
            jitter: Jitter::default(),
        })
    }

    /// The memory of the factor, for the next matrix.
    pub fn into_matrix(self) -> Matrix {
        self.lower
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.lower.nrows()
    }

    /// What was added to the diagonal.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// Logarithm of the determinant of the factored matrix.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.log_diagonal(0..self.size())
    }

    /// Sum of the logarithms of some of the factor's diagonal: half a log determinant, or a conditional one.
    pub fn log_diagonal(&self, rows: std::ops::Range<usize>) -> f64 {
        rows.map(|i| self.lower[(i, i)].ln()).sum()
    }

    /// `right := L^-1 right` on one thread; for a block of a few hundred columns.
    pub fn whiten_block(&self, right: MatrixMut<'_>) {
        solve_lower_triangular_in_place(self.lower.as_ref(), right, Par::Seq);
    }

    /// `right := L^-1 right`, in parallel over blocks of columns.
    pub fn whiten(&self, right: MatrixMut<'_>) {
        columns(right, BLOCK)
            .into_par_iter()
            .for_each(|block| self.whiten_block(block));
    }

    /// `right := L^-T right` on one thread.
    pub fn unwhiten_block(&self, right: MatrixMut<'_>) {
        solve_upper_triangular_in_place(self.lower.transpose(), right, Par::Seq);
    }

    /// `right := L^-T right`, in parallel over blocks of columns.
    pub fn unwhiten(&self, right: MatrixMut<'_>) {
        columns(right, BLOCK)
            .into_par_iter()
            .for_each(|block| self.unwhiten_block(block));
    }

    /// `right := L_11^-T right` with the leading block of `size` rows, the factor of the leading rows alone.
    pub fn unwhiten_leading(&self, size: usize, right: MatrixMut<'_>) {
        let corner = self.lower.as_ref().submatrix(0, 0, size, size);
        solve_upper_triangular_in_place(corner.transpose(), right, Par::Seq);
    }

    /// `right := (L L')^-1 right`, in parallel over blocks of columns.
    pub fn solve(&self, right: MatrixMut<'_>) {
        columns(right, BLOCK).into_par_iter().for_each(|mut block| {
            self.whiten_block(block.as_mut());
            self.unwhiten_block(block);
        });
    }

    /// `L right` on one thread: turns independent standard normals into draws with this covariance.
    pub fn colour(&self, right: MatrixRef<'_>) -> Matrix {
        let mut result = Matrix::zeros(self.size(), right.ncols());
        faer::linalg::matmul::triangular::matmul(
            result.as_mut(),
            faer::linalg::matmul::triangular::BlockStructure::Rectangular,
            faer::Accum::Replace,
            self.lower.as_ref(),
            faer::linalg::matmul::triangular::BlockStructure::TriangularLower,
            right,
            faer::linalg::matmul::triangular::BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        result
    }

    /// Some entries of the diagonal of `(L L')^-1`, for rows in increasing order: `|L^-1 e_i|^2`, a block of unit vectors
    /// at a time, so that memory stays at one block for each thread.
    pub fn inverse_diagonal(&self, rows: &[usize]) -> Vec<f64> {
        let size = self.size();
        let blocks: Vec<Vec<f64>> = rows
            .par_chunks(BLOCK)
            .map(|some| {
                let first = some[0];
                let mut block = Matrix::zeros(size - first, some.len());
                for (column, row) in some.iter().enumerate() {
                    block[(row - first, column)] = 1.0;
                }
                let corner =
                    self.lower
                        .as_ref()
                        .submatrix(first, first, size - first, size - first);
                solve_lower_triangular_in_place(corner, block.as_mut(), Par::Seq);
                let own = |(column, row): (usize, &usize)| {
                    let below = &block.col_as_slice(column)[row - first..];
                    super::dot(below, below)
                };
                some.iter().enumerate().map(own).collect()
            })
            .collect();
        blocks.concat()
    }

    /// `L^-1` as a lower triangular matrix (zeros above): n^3 / 3 operations.
    pub fn inverse_lower(&self) -> Matrix {
        self.inverse_lower_in(Matrix::zeros(self.size(), self.size()))
    }

    /// As [`Factor::inverse_lower`], in the memory of a matrix whose values are not needed any more.
    ///
    /// Exact gradients and leave-one-out answers need entries of the inverse covariance, `L^-T L^-1`; this is the one
    /// place where a triangular inverse is formed.
    pub fn inverse_lower_in(&self, mut inverse: Matrix) -> Matrix {
        let size = self.size();
        columns(inverse.as_mut(), TRIANGLE_BLOCK)
            .into_par_iter()
            .enumerate()
            .for_each(|(index, mut block)| {
                block.fill(0.0);
                let first = index * TRIANGLE_BLOCK;
                let (_, mut block) = block.split_at_row_mut(first);
                for i in 0..block.ncols() {
                    block[(i, i)] = 1.0;
                }
                let corner =
                    self.lower
                        .as_ref()
                        .submatrix(first, first, size - first, size - first);
                solve_lower_triangular_in_place(corner, block, Par::Seq);
            });
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor_of(matrix: &Matrix) -> Result<Factor> {
        Factor::new(matrix.nrows(), JitterPolicy::default(), |mut out| {
            out.copy_from(matrix);
        })
    }

    #[test]
    fn solving_gives_back_the_right_hand_side() {
        let matrix = Matrix::from_fn(300, 300, |i, j| {
            (-(i.abs_diff(j) as f64)).exp() + f64::from(i == j)
        });
        let factor = factor_of(&matrix).expect("positive definite");
        let right = Matrix::from_fn(300, 3, |i, j| (i * 3 + j) as f64 * 0.01);
        let mut solution = right.clone();
        factor.solve(solution.as_mut());
        let back = &matrix * &solution;
        assert!((&back - &right).norm_max() < 1e-12);
        let inverse = factor.inverse_lower();
        let rows = [0, 1, 77, 299];
        for (row, entry) in rows.iter().zip(factor.inverse_diagonal(&rows)) {
            let column = inverse.col_as_slice(*row);
            assert!((entry - super::super::dot(column, column)).abs() < 1e-14);
        }
        let identity = &(&inverse * &matrix) * inverse.transpose();
        assert!((&identity - &Matrix::identity(300, 300)).norm_max() < 1e-12);
    }

    #[test]
    fn a_singular_matrix_is_repaired_and_says_so() {
        let ones = Matrix::from_fn(5, 5, |_, _| 2.0);
        let factor = factor_of(&ones).expect("repairable");
        let jitter = factor.jitter();
        assert!(jitter.relative >= 1e-12 && jitter.relative <= 1e-6);
        assert!((jitter.absolute - 2.0 * jitter.relative).abs() < 1e-20);
    }

    #[test]
    fn an_indefinite_matrix_is_an_error_that_names_the_row() {
        let mut matrix = Matrix::identity(4, 4);
        matrix[(2, 2)] = -1.0;
        let error = factor_of(&matrix).expect_err("indefinite");
        assert!(matches!(error, Error::NotPositiveDefinite { row: 2, .. }));
        assert!(error.is_recoverable());
    }
}
