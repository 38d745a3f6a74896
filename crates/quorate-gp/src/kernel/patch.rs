//! A few rows of a block against a few of its columns, small enough that everything about it stays in the cache.

use std::ops::Range;

use super::bound::{BoundAtom, BoundKernel};
use super::side::{PADDING, Pair, Side};
use super::workspace::Workspace;
use crate::data::Inputs;
use crate::linalg::{MatrixMut, MatrixRef};

/// Rows of a patch.
const ROWS: usize = 256;
/// Columns of a patch.
const COLUMNS: usize = 8;

/// Some rows against some columns, with the features of every atom.
pub(super) struct Patch<'a> {
    row_sides: &'a [Side],
    column_sides: &'a [Side],
    rows: Range<usize>,
    columns: Range<usize>,
    stride: usize,
}

impl Patch<'_> {
    /// Numbers in the patch, padding included.
    pub fn len(&self) -> usize {
        self.stride * self.columns.len()
    }

    /// What one atom sees of the patch.
    pub fn pair(&self, atom: &BoundAtom) -> Pair<'_> {
        Pair {
            rows: &self.row_sides[atom.index],
            columns: &self.column_sides[atom.index],
            range: self.columns.clone(),
        }
    }

    /// Writes `factor` times the numbers of the patch to its place in the block.
    pub fn write(&self, factor: f64, patch: &[f64], mut out: MatrixMut<'_>) {
        for (j, column) in self.columns.clone().zip(patch.chunks(self.stride)) {
            let column = &column[..self.rows.len()];
            let target = out.as_mut().col_mut(j);
            let target = target.subrows_mut(self.rows.start, self.rows.len());
            match target.try_as_col_major_mut() {
                Some(target) => {
                    super::vector::copy_scaled(factor, column, target.as_slice_mut());
                }
                None => {
                    for (i, value) in self.rows.clone().zip(column) {
                        out[(i, j)] = factor * value;
                    }
                }
            }
        }
    }

    /// Reads the patch out of a block; the padding becomes zero.
    pub fn read(&self, block: MatrixRef<'_>, patch: &mut [f64]) {
        for (j, column) in self.columns.clone().zip(patch.chunks_mut(self.stride)) {
            let (used, padding) = column.split_at_mut(self.rows.len());
            let source = block.col(j).subrows(self.rows.start, self.rows.len());
            match source.try_as_col_major() {
                Some(source) => used.copy_from_slice(source.as_slice()),
                None => used
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, value)| *value = source[i]),
            }
            padding.fill(0.0);
        }
    }
}

impl BoundKernel {
    /// Features of the rows for every atom, in reading order.
    pub(super) fn sides(&self, inputs: Inputs<'_>) -> Vec<Side> {
        self.atoms()
            .into_iter()
            .map(|atom| atom.correlation.side(self.own(atom), inputs))
            .collect()
    }

    /// Calls `work_on` for every patch of a block, in a fixed order.
    pub(super) fn patches(
        &self,
        rows: Inputs<'_>,
        columns: Inputs<'_>,
        mut work_on: impl FnMut(&Patch<'_>, &mut Workspace),
    ) {
        let mut work = Workspace::default();
        let column_sides = self.sides(columns);
        for first_row in (0..rows.rows()).step_by(ROWS) {
            let last_row = (first_row + ROWS).min(rows.rows());
            let row_sides = self.sides(rows.slice(first_row, last_row));
            for first in (0..columns.rows()).step_by(COLUMNS) {
                let patch = Patch {
                    row_sides: &row_sides,
                    column_sides: &column_sides,
                    rows: first_row..last_row,
                    columns: first..(first + COLUMNS).min(columns.rows()),
                    stride: (last_row - first_row).next_multiple_of(PADDING),
                };
                work_on(&patch, &mut work);
            }
        }
    }
}
