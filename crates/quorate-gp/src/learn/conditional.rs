//! Grouped conditional likelihood: how well groups of rows are predicted from the rows nearest to them.
//!
//! `sum_g log p(y_g | y_N(g)) = sum_g [evidence(g + N(g)) - evidence(N(g))]`: the score of the predictor that answers
//! from nearest rows, so hyperparameters learned by it suit that predictor. Its cost does not depend on the number of
//! rows. With the neighbours N ordered before the group g, one Cholesky factor serves both evidences.

use std::ops::Range;

use rayon::prelude::*;

use crate::data::Dataset;
use crate::kernel::{BoundKernel, tiles};
use crate::learn::evidence::at;
use crate::learn::{Evaluation, Objective};
use crate::likelihood::GaussianNoise;
use crate::linalg::{Factor, JitterPolicy, Matrix, MatrixMut, product_tile};
use crate::posterior::outputs::{target_matrix, within_rows};
use crate::{Error, Result};

/// A group of rows and the rows it is predicted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Rows of the data set: first the neighbours, then the group itself.
    pub rows: Vec<usize>,
    /// How many of them are neighbours.
    pub neighbours: usize,
}

/// The grouped conditional log likelihood, scaled as if the groups covered all rows once.
#[derive(Clone, Debug)]
pub struct ConditionalLikelihood<'a> {
    kernel: &'a BoundKernel,
    blocks: Vec<Block>,
    scale: f64,
    policy: JitterPolicy,
}

/// The rows of one group, gathered once.
#[derive(Clone, Debug)]
struct Block {
    data: Dataset,
    neighbours: usize,
}

impl<'a> ConditionalLikelihood<'a> {
    /// The conditional likelihood of the groups under kernels of the shape of `kernel`.
    pub fn new(
        kernel: &'a BoundKernel,
        data: &Dataset,
        groups: &[Group],
        policy: JitterPolicy,
    ) -> Self {
        let covered: usize = groups.iter().map(|g| g.rows.len() - g.neighbours).sum();
        let blocks = groups
            .par_iter()
            .map(|group| Block {
                data: data.select(&group.rows),
                neighbours: group.neighbours,
            })
            .collect();
        Self {
            kernel,
            blocks,
            scale: data.rows() as f64 / covered.max(1) as f64,
            policy,
        }
    }
}

impl Objective for ConditionalLikelihood<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, noise) = at(self.kernel, coordinates)?;
        let evaluations: Result<Vec<Evaluation>> = self
            .blocks
            .par_iter()
            .map(|block| block.evaluate(&kernel, noise, coordinates.len(), self.policy))
            .collect();
        let mut total = Evaluation {
            value: 0.0,
            gradient: vec![0.0; coordinates.len()],
        };
        for evaluation in evaluations? {
            total = total.merge(&evaluation);
        }
        total.value *= self.scale;
        total
            .gradient
            .iter_mut()
            .for_each(|slope| *slope *= self.scale);
        if total.value.is_finite() && total.gradient.iter().all(|slope| slope.is_finite()) {
            Ok(total)
        } else {
            Err(Error::NotFinite {
                what: "the conditional likelihood or its gradient",
            })
        }
    }
}

impl Block {
    /// With `C = L L'` over neighbours then group, `z = L^-1 y` and `X = L^-T [0; I]` (the group's columns):
    /// the value is the group's share of the evidence, and the sensitivity to `C` is
    /// `1/2 (a a' - pad(a_N a_N') - X X')` with `a = C^-1 y`, `a_N = C_N^-1 y_N`, because
    /// `C^-1 - pad(C_N^-1) = X X'`: a product of rank g instead of two inverses. Outputs add: each has an `a` and an
    /// `a_N` of its own, and `X X'` counts once for each.
    fn evaluate(
        &self,
        kernel: &BoundKernel,
        noise: GaussianNoise,
        coordinates: usize,
        policy: JitterPolicy,
    ) -> Result<Evaluation> {
        let data = &self.data;
        let (n, given) = (data.rows(), self.neighbours);
        let (members, outputs) = (n - given, data.outputs());
        let times = outputs as f64;
        let psi = noise.group_variances(data);
        let factor = Factor::new(n, policy, |mut out| {
            tiles::fill_lower(kernel, data.inputs(), out.as_mut());
            for (i, variance) in psi.iter().enumerate() {
                out[(i, i)] += variance;
            }
        })?;
        let mut whitened = target_matrix(data);
        factor.whiten_block(whitened.as_mut());
        let misfit: f64 = (0..outputs)
            .flat_map(|output| (given..n).map(move |row| (row, output)))
            .map(|place| whitened[place].powi(2))
            .sum();
        let (within, within_slope) = within_rows(noise, data, given..n);
        let value = -0.5 * misfit
            - times * factor.log_diagonal(given..n)
            - 0.5 * times * members as f64 * (2.0 * std::f64::consts::PI).ln()
            + within;

        let whole = self.columns(&factor, &whitened);
        let mut gradient = vec![0.0; coordinates];
        let Some((noise_slope, kernel_slopes)) = gradient.split_last_mut() else {
            return Err(Error::Invalid("no coordinates to evaluate at".into()));
        };
        let sensitivity = Sensitivity::new(whole, outputs);
        tiles::pull_back_lower_with(
            kernel,
            data.inputs(),
            &|rows, cols, tile| sensitivity.tile(rows, cols, tile),
            kernel_slopes,
        );
        *noise_slope = within_slope
            + (0..n)
                .map(|row| sensitivity.diagonal(row) * noise.variance / data.weights()[row])
                .sum::<f64>();
        Ok(Evaluation { value, gradient })
    }

    /// `a` of each output, `a_N` of each (zero on the group), then `X`.
    fn columns(&self, factor: &Factor, whitened: &Matrix) -> Matrix {
        let (n, given, outputs) = (whitened.nrows(), self.neighbours, whitened.ncols());
        let members = n - given;
        let mut columns = Matrix::zeros(n, 2 * outputs + members);
        for output in 0..outputs {
            let own = whitened.col_as_slice(output);
            columns.col_as_slice_mut(output).copy_from_slice(own);
        }
        for member in 0..members {
            columns[(given + member, 2 * outputs + member)] = 1.0;
        }
        factor.unwhiten_block(columns.as_mut());
        let mut neighbours = Matrix::from_fn(given, outputs, |row, output| whitened[(row, output)]);
        factor.unwhiten_leading(given, neighbours.as_mut());
        for output in 0..outputs {
            let own = &mut columns.col_as_slice_mut(outputs + output)[..given];
            own.copy_from_slice(neighbours.col_as_slice(output));
        }
        columns
    }
}

/// `1/2 (A A' - A_N A_N' - o X X')` with its columns `A`, `A_N`, `X`, for `o` outputs.
struct Sensitivity {
    columns: Matrix,
    /// The same, each with its sign and count, so that one product makes a tile.
    signed: Matrix,
}

impl Sensitivity {
    fn new(columns: Matrix, outputs: usize) -> Self {
        let mut signed = columns.clone();
        for column in 0..signed.ncols() {
            let factor = match column {
                c if c < outputs => 0.5,
                c if c < 2 * outputs => -0.5,
                _ => -0.5 * outputs as f64,
            };
            let own = signed.col_as_slice_mut(column).iter_mut();
            own.for_each(|value| *value *= factor);
        }
        Self { columns, signed }
    }

    fn tile(&self, rows: Range<usize>, cols: Range<usize>, tile: MatrixMut<'_>) {
        let width = self.columns.ncols();
        let left = self.signed.as_ref();
        let left = left.submatrix(rows.start, 0, rows.len(), width);
        let right = self.columns.as_ref();
        let right = right.submatrix(cols.start, 0, cols.len(), width);
        product_tile(tile, 1.0, left, right.transpose());
    }

    fn diagonal(&self, row: usize) -> f64 {
        let columns = 0..self.columns.ncols();
        columns
            .map(|column| self.columns[(row, column)] * self.signed[(row, column)])
            .sum()
    }
}
