//! Rows of a block as the loops want them: one feature after the other, padded to whole vectors.

use std::ops::Range;

use super::vector;
use crate::data::Inputs;

/// Rows are padded to a multiple of this many; two AVX-512 vectors.
pub(super) const PADDING: usize = 16;

/// One side of a block: features of its rows, feature-major. Padding rows are zero.
#[derive(Debug, Default)]
pub(super) struct Side {
    rows: usize,
    stride: usize,
    values: Vec<f64>,
    marks: Vec<f64>,
}

impl Side {
    /// `features` features of each row, all zero.
    pub fn new(rows: usize, features: usize) -> Side {
        let stride = rows.next_multiple_of(PADDING);
        Side {
            rows,
            stride,
            values: vec![0.0; stride * features],
            marks: Vec::new(),
        }
    }

    /// The chosen columns of the inputs, each multiplied by its factor.
    pub fn scaled(inputs: Inputs<'_>, columns: &[usize], factor: impl Fn(usize) -> f64) -> Side {
        let mut side = Side::new(inputs.rows(), columns.len());
        let factors: Vec<f64> = (0..columns.len()).map(factor).collect();
        let (stride, width) = (side.stride, inputs.width().max(1));
        // A few rows at a time: this transposes a row-major table, and those rows stay in the cache.
        for (block, rows) in inputs.values().chunks(PADDING * width).enumerate() {
            let first = block * PADDING;
            let count = rows.len() / width;
            for (feature, (&column, factor)) in columns.iter().zip(&factors).enumerate() {
                let places = &mut side.values[feature * stride + first..][..count];
                for (place, row) in places.iter_mut().zip(rows[column..].chunks(width)) {
                    *place = row[0] * factor;
                }
            }
        }
        side
    }

    /// The same side with one more number a row, kept apart from the features: a norm, a level code.
    pub fn marked(mut self, mark: impl FnMut(usize) -> f64) -> Side {
        self.marks = (0..self.rows).map(mark).collect();
        self.marks.resize(self.stride, 0.0);
        self
    }

    /// The same side with the squared norm of its features as marks.
    pub fn with_norms(mut self) -> Side {
        let mut norms = vec![0.0; self.stride];
        for feature in 0..self.features() {
            vector::add_squares(self.feature(feature), &mut norms);
        }
        self.marks = norms;
        self
    }

    /// The number kept apart for every row, padding included.
    pub fn marks(&self) -> &[f64] {
        &self.marks
    }

    /// Number of rows without padding.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rows with padding: the distance from one feature to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.values.len().checked_div(self.stride).unwrap_or(0)
    }

    /// One feature of the rows, to be changed; the padding stays as it is.
    pub fn feature_mut(&mut self, feature: usize) -> &mut [f64] {
        &mut self.values[feature * self.stride..][..self.rows]
    }

    /// One feature of every row, padding included.
    pub fn feature(&self, feature: usize) -> &[f64] {
        &self.values[feature * self.stride..][..self.stride]
    }
}

/// A patch of a block: all rows of one side against a few rows of the other, stored column after column with the
/// padding of the first side.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    /// The side along the columns of storage.
    pub rows: &'a Side,
    /// The other side.
    pub columns: &'a Side,
    /// Which rows of the other side.
    pub range: Range<usize>,
}

impl Pair<'_> {
    /// Numbers in the patch, padding included.
    pub fn len(&self) -> usize {
        self.rows.stride() * self.range.len()
    }
}
