//! Whole matrices, tile by tile and in parallel, with the same bits on any number of threads.
//!
//! Tiles have a fixed size whatever the pool; entries depend on their tile alone, and gradients of tiles are summed
//! in the order of the tiles.

use std::ops::Range;

use rayon::prelude::*;

use super::covariance::Covariance;
use crate::data::Inputs;
use crate::linalg::{Matrix, MatrixMut, MatrixRef};

/// Rows and columns of a tile.
pub const TILE: usize = 256;

/// Writes the tile of a matrix at the given rows and columns.
pub type TileSource<'a> = dyn Fn(Range<usize>, Range<usize>, MatrixMut<'_>) + Sync + 'a;

/// k(x_i, x'_j) for all rows and columns.
pub fn block(kernel: &dyn Covariance, rows: Inputs<'_>, columns: Inputs<'_>) -> Matrix {
    let mut out = Matrix::zeros(rows.rows(), columns.rows());
    fill(kernel, rows, columns, out.as_mut());
    out
}

/// Writes k(x_i, x'_j) for all rows and columns to `out`.
///
/// # Panics
/// When `out` has not one row for each row and one column for each column.
pub fn fill(kernel: &dyn Covariance, rows: Inputs<'_>, columns: Inputs<'_>, out: MatrixMut<'_>) {
    assert_eq!((out.nrows(), out.ncols()), (rows.rows(), columns.rows()));
    cut(out, |_, _| true)
        .into_par_iter()
        .for_each(|(row, column, tile)| {
            kernel.fill(
                rows.slice(row, row + tile.nrows()),
                columns.slice(column, column + tile.ncols()),
                tile,
            );
        });
}

/// Writes k(x_i, x_j) for i >= j to the lower triangle of `out`. Above the diagonal, only the tiles on it are written.
///
/// # Panics
/// When `out` is not square with one row for each row of the inputs.
pub fn fill_lower(kernel: &dyn Covariance, inputs: Inputs<'_>, out: MatrixMut<'_>) {
    assert_eq!((out.nrows(), out.ncols()), (inputs.rows(), inputs.rows()));
    cut(out, |row, column| row >= column)
        .into_par_iter()
        .for_each(|(row, column, tile)| {
            kernel.fill(
                inputs.slice(row, row + tile.nrows()),
                inputs.slice(column, column + tile.ncols()),
                tile,
            );
        });
}

/// Adds `sum_ij S_ij dk(x_i, x'_j) / dtheta_p` over a whole block to `gradient[p]`.
///
/// # Panics
/// When `sensitivity` has not one row for each row and one column for each column.
pub fn pull_back(
    kernel: &dyn Covariance,
    rows: Inputs<'_>,
    columns: Inputs<'_>,
    sensitivity: MatrixRef<'_>,
    gradient: &mut [f64],
) {
    assert_eq!(
        (sensitivity.nrows(), sensitivity.ncols()),
        (rows.rows(), columns.rows())
    );
    let tiles = corners(rows.rows(), columns.rows(), |_, _| true);
    add_in_order(&tiles, gradient, |row, column, _, own| {
        let tile = sensitivity
            .subrows(row.start, row.len())
            .subcols(column.start, column.len());
        kernel.pull_back(
            rows.slice(row.start, row.end),
            columns.slice(column.start, column.end),
            tile,
            own,
        );
    });
}

/// Adds `sum_ij S_ij dk(x_i, x_j) / dtheta_p` over a whole symmetric matrix to `gradient[p]`. The sensitivity is
/// symmetric; only its lower triangle is read.
///
/// # Panics
/// When `sensitivity` is not square with one row for each row of the inputs.
pub fn pull_back_lower(
    kernel: &dyn Covariance,
    inputs: Inputs<'_>,
    sensitivity: MatrixRef<'_>,
    gradient: &mut [f64],
) {
    let shape = (sensitivity.nrows(), sensitivity.ncols());
    assert_eq!(shape, (inputs.rows(), inputs.rows()));
    let tiles = corners(inputs.rows(), inputs.rows(), |row, column| row >= column);
    add_in_order(&tiles, gradient, |row, column, scratch, own| {
        let tile = sensitivity
            .subrows(row.start, row.len())
            .subcols(column.start, column.len());
        let on_diagonal = row == column;
        let one = inputs.slice(row.start, row.end);
        let other = inputs.slice(column.start, column.end);
        if on_diagonal {
            let mut lower = tile_of(scratch, row.len(), column.len());
            lower.copy_from(tile);
            stand_for_both_halves(lower.as_mut());
            kernel.pull_back(one, other, lower.as_ref(), own);
        } else {
            kernel.pull_back(one, other, tile, own);
            twice(own);
        }
    });
}

/// As [`pull_back_lower`], with the sensitivity made tile by tile, so that no second matrix is ever held.
///
/// `sensitivity(rows, columns, out)` writes the tile of those rows and columns; on the diagonal only the lower
/// triangle of what it writes is read.
pub fn pull_back_lower_with(
    kernel: &dyn Covariance,
    inputs: Inputs<'_>,
    sensitivity: &TileSource<'_>,
    gradient: &mut [f64],
) {
    let tiles = corners(inputs.rows(), inputs.rows(), |row, column| row >= column);
    add_in_order(&tiles, gradient, |row, column, scratch, own| {
        let mut tile = tile_of(scratch, row.len(), column.len());
        sensitivity(row.clone(), column.clone(), tile.as_mut());
        let on_diagonal = row == column;
        if on_diagonal {
            stand_for_both_halves(tile.as_mut());
        }
        let one = inputs.slice(row.start, row.end);
        let other = inputs.slice(column.start, column.end);
        kernel.pull_back(one, other, tile.as_ref(), own);
        if !on_diagonal {
            twice(own);
        }
    });
}

/// A tile below the diagonal stands for its mirror image too.
fn twice(gradient: &mut [f64]) {
    for value in gradient {
        *value *= 2.0;
    }
}

/// On the diagonal, entries below it stand for those above, which are cleared unread.
fn stand_for_both_halves(mut tile: MatrixMut<'_>) {
    for j in 0..tile.ncols() {
        for i in 0..j {
            tile[(i, j)] = 0.0;
        }
        for i in j + 1..tile.nrows() {
            tile[(i, j)] *= 2.0;
        }
    }
}

/// Scratch as a tile; what was left there is still there.
fn tile_of(scratch: &mut [f64], rows: usize, columns: usize) -> MatrixMut<'_> {
    MatrixMut::from_column_major_slice_mut(&mut scratch[..rows * columns], rows, columns)
}

/// First rows and columns of the tiles that are wanted, column of tiles by column of tiles.
fn corners(
    rows: usize,
    columns: usize,
    is_wanted: impl Fn(usize, usize) -> bool,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut tiles = Vec::new();
    for column in (0..columns).step_by(TILE) {
        for row in (0..rows).step_by(TILE) {
            if is_wanted(row, column) {
                tiles.push((
                    row..(row + TILE).min(rows),
                    column..(column + TILE).min(columns),
                ));
            }
        }
    }
    tiles
}

/// Cuts a matrix into its tiles: first row, first column and the tile itself, for the tiles that are wanted.
fn cut(
    matrix: MatrixMut<'_>,
    is_wanted: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize, MatrixMut<'_>)> {
    let mut tiles = Vec::new();
    let mut right = matrix;
    let mut column = 0;
    while right.ncols() > 0 {
        let width = right.ncols().min(TILE);
        let (strip, rest) = right.split_at_col_mut(width);
        let mut below = strip;
        let mut row = 0;
        while below.nrows() > 0 {
            let height = below.nrows().min(TILE);
            let (tile, rest) = below.split_at_row_mut(height);
            if is_wanted(row, column) {
                tiles.push((row, column, tile));
            }
            below = rest;
            row += height;
        }
        right = rest;
        column += width;
    }
    tiles
}

/// Tiles whose gradients are held at a time: many parameters times many tiles would fill the memory.
const HELD: usize = 512;

/// Each tile's gradient in parallel, summed in the order of the tiles; every worker has scratch for one tile.
fn add_in_order(
    tiles: &[(Range<usize>, Range<usize>)],
    gradient: &mut [f64],
    pull_back: impl Fn(Range<usize>, Range<usize>, &mut [f64], &mut [f64]) + Sync,
) {
    let count = gradient.len();
    for tiles in tiles.chunks(HELD) {
        let gradients: Vec<Vec<f64>> = tiles
            .par_iter()
            .map_init(
                || vec![0.0; TILE * TILE],
                |scratch, (row, column)| {
                    let mut own = vec![0.0; count];
                    pull_back(row.clone(), column.clone(), scratch, &mut own);
                    own
                },
            )
            .collect();
        for own in gradients {
            for (total, value) in gradient.iter_mut().zip(own) {
                *total += value;
            }
        }
    }
}
