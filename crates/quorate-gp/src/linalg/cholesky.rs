//! Cholesky factorisation in place, by panels.
//!
//! Right-looking: factor a diagonal block, solve the panel below it, subtract the panel's outer product from the
//! trailing matrix. The trailing update holds nearly all the work; it runs in parallel over blocks of columns of fixed
//! width, so the factor has the same bits on any number of threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Par, Spec};
use rayon::prelude::*;

use super::{MatrixMut, MatrixRef, columns};

/// Columns of a panel, and of a block of the trailing update.
const PANEL: usize = 256;
/// Rows of a panel solved by one task.
const SOLVE_ROWS: usize = 512;

/// Overwrites the lower triangle of a symmetric matrix with its Cholesky factor; the strict upper triangle is left as it was.
///
/// On failure returns the row of the first pivot that is not positive.
pub fn factor_in_place(matrix: MatrixMut<'_>) -> Result<(), usize> {
    let mut trailing = matrix;
    let mut done = 0;
    while trailing.nrows() > 0 {
        let width = trailing.nrows().min(PANEL);
        let (mut head, _, mut below, mut rest) = trailing.split_at_mut(width, width);
        factor_block(head.as_mut()).map_err(|row| done + row)?;
        solve_panel(head.as_ref(), below.as_mut());
        subtract_outer_product(rest.as_mut(), below.as_ref());
        done += width;
        trailing = rest;
    }
    Ok(())
}

fn factor_block(block: MatrixMut<'_>) -> Result<(), usize> {
    let size = block.nrows();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(
        size,
        Par::Seq,
        Spec::<LltParams, f64>::default(),
    ));
    let outcome = cholesky_in_place(
        block,
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    match outcome {
        Ok(_) => Ok(()),
        Err(LltError::NonPositivePivot { index }) => Err(index),
    }
}

/// Solves `panel := panel * head^-T` by blocks of rows.
fn solve_panel(head: MatrixRef<'_>, panel: MatrixMut<'_>) {
    columns(panel.transpose_mut(), SOLVE_ROWS)
        .into_par_iter()
        .for_each(|rows| solve_lower_triangular_in_place(head, rows, Par::Seq));
}

/// Subtracts `panel * panel'` from the lower triangle of `target`.
fn subtract_outer_product(target: MatrixMut<'_>, panel: MatrixRef<'_>) {
    let rows = target.nrows();
    columns(target, PANEL)
        .into_par_iter()
        .enumerate()
        .for_each(|(index, block)| {
            let (first, width) = (index * PANEL, block.ncols());
            let (_, block) = block.split_at_row_mut(first);
            let (diagonal, below) = block.split_at_row_mut(width);
            let here = panel.subrows(first, width);
            triangular::matmul(
                diagonal,
                BlockStructure::TriangularLower,
                Accum::Add,
                here,
                BlockStructure::Rectangular,
                here.transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
            let next = first + width;
            matmul(
                below,
                Accum::Add,
                panel.subrows(next, rows - next),
                here.transpose(),
                -1.0,
                Par::Seq,
            );
        });
}

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use super::*;

    fn positive_definite(size: usize) -> Matrix {
        Matrix::from_fn(size, size, |row, column| {
            let distance = row.abs_diff(column) as f64;
            (-0.3 * distance).exp() + if row == column { 0.1 } else { 0.0 }
        })
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix_at_every_block_edge() {
        for size in [1, 2, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 37] {
            let matrix = positive_definite(size);
            let mut factor = matrix.clone();
            factor_in_place(factor.as_mut()).expect("positive definite");
            let lower = Matrix::from_fn(size, size, |row, column| {
                if row >= column {
                    factor[(row, column)]
                } else {
                    0.0
                }
            });
            let product = &lower * lower.transpose();
            for column in 0..size {
                for row in column..size {
                    assert!((product[(row, column)] - matrix[(row, column)]).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn a_bad_pivot_is_named_by_its_row() {
        let mut matrix = positive_definite(2 * PANEL);
        matrix[(PANEL + 5, PANEL + 5)] = -1.0;
        assert_eq!(factor_in_place(matrix.as_mut()), Err(PANEL + 5));
        let mut matrix = positive_definite(10);
        matrix[(3, 3)] = f64::NAN;
        assert_eq!(factor_in_place(matrix.as_mut()), Err(3));
    }

    #[test]
    fn one_thread_and_many_give_the_same_bits() {
        let factors: Vec<Matrix> = [1, 2, 3]
            .iter()
            .map(|&threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("a pool");
                let mut matrix = positive_definite(3 * PANEL + 11);
                pool.install(|| factor_in_place(matrix.as_mut()))
                    .expect("positive definite");
                matrix
            })
            .collect();
        assert!(factors[0] == factors[1] && factors[0] == factors[2]);
    }
}
