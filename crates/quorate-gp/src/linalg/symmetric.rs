//! Symmetric matrices and the diagonal scalings of Laplace's method.

use rayon::prelude::*;

use super::{BLOCK, MatrixMut, MatrixRef, columns, dot};

/// `matrix * vector` for a symmetric matrix of which both halves are written: one inner product for each column, so that
/// memory is read once, in order, and the sum has one order.
pub fn symmetric_times(matrix: MatrixRef<'_>, vector: &[f64]) -> Vec<f64> {
    let size = matrix.ncols();
    let blocks: Vec<Vec<f64>> = (0..size)
        .into_par_iter()
        .step_by(BLOCK)
        .map(|first| {
            let last = (first + BLOCK).min(size);
            (first..last)
                .map(|column| match matrix.col(column).try_as_col_major() {
                    Some(entries) => dot(entries.as_slice(), vector),
                    None => (0..size)
                        .map(|row| matrix[(row, column)] * vector[row])
                        .sum(),
                })
                .collect()
        })
        .collect();
    blocks.concat()
}

/// Writes the lower triangle of `I + D matrix D` with `D = diag(scale)`.
pub fn fill_scaled_lower(out: MatrixMut<'_>, matrix: MatrixRef<'_>, scale: &[f64]) {
    let size = out.nrows();
    columns(out, BLOCK)
        .into_par_iter()
        .enumerate()
        .for_each(|(block, mut out)| {
            for local in 0..out.ncols() {
                let column = block * BLOCK + local;
                let own = scale[column];
                // Whole slices where the memory allows: this pass is as long as memory is slow.
                let source = matrix.col(column).try_as_col_major();
                let target = out.as_mut().col_mut(local).try_as_col_major_mut();
                if let (Some(source), Some(target)) = (source, target) {
                    let source = &source.as_slice()[column..];
                    let target = &mut target.as_slice_mut()[column..];
                    for ((entry, k), s) in target.iter_mut().zip(source).zip(&scale[column..]) {
                        *entry = own * s * k;
                    }
                } else {
                    for row in column..size {
                        out[(row, local)] = own * scale[row] * matrix[(row, column)];
                    }
                }
                out[(column, local)] += 1.0;
            }
        });
}

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use super::*;

    #[test]
    fn products_and_scalings_are_what_they_say() {
        let size = 2 * BLOCK + 3;
        let matrix = Matrix::from_fn(size, size, |i, j| 1.0 / (1.0 + i.abs_diff(j) as f64));
        let vector: Vec<f64> = (0..size).map(|i| (i as f64 * 0.1).sin()).collect();
        let product = symmetric_times(matrix.as_ref(), &vector);
        let mut scaled = Matrix::zeros(size, size);
        fill_scaled_lower(scaled.as_mut(), matrix.as_ref(), &vector);
        for i in (0..size).step_by(17) {
            let direct: f64 = (0..size).map(|j| matrix[(i, j)] * vector[j]).sum();
            assert!((product[i] - direct).abs() < 1e-12);
            for j in 0..=i {
                let entry = vector[i] * matrix[(i, j)] * vector[j] + f64::from(u8::from(i == j));
                assert!((scaled[(i, j)] - entry).abs() < 1e-15);
            }
        }
    }
}
