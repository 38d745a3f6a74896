//! Matrix products in blocks of columns.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use rayon::prelude::*;

use super::{BLOCK, Matrix, MatrixMut, MatrixRef, TRIANGLE_BLOCK};

/// Cuts a matrix into blocks of at most `width` columns.
pub fn columns(matrix: MatrixMut<'_>, width: usize) -> Vec<MatrixMut<'_>> {
    let mut blocks = Vec::with_capacity(matrix.ncols().div_ceil(width.max(1)));
    let mut rest = matrix;
    while rest.ncols() > width {
        let (head, tail) = rest.split_at_col_mut(width);
        blocks.push(head);
        rest = tail;
    }
    blocks.push(rest);
    blocks
}

/// `target += scale * left * right`, in parallel over blocks of columns.
pub fn add_product(target: MatrixMut<'_>, scale: f64, left: MatrixRef<'_>, right: MatrixRef<'_>) {
    columns(target, BLOCK)
        .into_par_iter()
        .enumerate()
        .for_each(|(block, target)| {
            let width = target.ncols();
            let right = right.subcols(block * BLOCK, width);
            matmul(target, Accum::Add, left, right, scale, Par::Seq);
        });
}

/// `left * right`, in parallel over blocks of columns.
pub fn multiply(left: MatrixRef<'_>, right: MatrixRef<'_>) -> Matrix {
    let mut product = Matrix::zeros(left.nrows(), right.ncols());
    add_product(product.as_mut(), 1.0, left, right);
    product
}

/// `target = scale * left * right` on one thread: a tile of a larger product.
pub fn product_tile(target: MatrixMut<'_>, scale: f64, left: MatrixRef<'_>, right: MatrixRef<'_>) {
    matmul(target, Accum::Replace, left, right, scale, Par::Seq);
}

/// Adds `scale * matrix' * matrix` to the lower triangle of `target`, in parallel over blocks of columns.
pub fn add_gram_lower(target: MatrixMut<'_>, scale: f64, matrix: MatrixRef<'_>) {
    let size = target.nrows();
    columns(target, TRIANGLE_BLOCK)
        .into_par_iter()
        .enumerate()
        .for_each(|(index, block)| {
            let (first, width) = (index * TRIANGLE_BLOCK, block.ncols());
            let (_, below) = block.split_at_row_mut(first);
            let left = matrix.subcols(first, size - first).transpose();
            let right = matrix.subcols(first, width);
            matmul(below, Accum::Add, left, right, scale, Par::Seq);
        });
}

/// Inner product of two vectors: eight running sums, so that the order is fixed and the loop runs in vector registers.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (left_chunks, left_rest) = left.as_chunks::<8>();
    let (right_chunks, right_rest) = right.as_chunks::<8>();
    for (a, b) in left_chunks.iter().zip(right_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
