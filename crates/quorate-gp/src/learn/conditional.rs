//! Grouped conditional likelihood: how well groups of rows are predicted from the rows nearest to them.
//!
//! `sum_g log p(y_g | y_N(g)) = sum_g [evidence(g + N(g)) - evidence(N(g))]`: the score of the predictor that answers
//! from nearest rows, so hyperparameters learned by it suit that predictor. Its cost does not depend on the number of
//! rows. With the neighbours N ordered before the group g, one Cholesky factor serves both evidences.

use rayon::prelude::*;

use crate::data::Dataset;
use crate::kernel::{BoundKernel, tiles};
use crate::learn::evidence::at;
use crate::learn::{Evaluation, Objective};
use crate::likelihood::GaussianNoise;
use crate::linalg::{Factor, JitterPolicy, Matrix, dot};
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
    /// `C^-1 - pad(C_N^-1) = X X'`: a product of rank g instead of two inverses.
    fn evaluate(
        &self,
        kernel: &BoundKernel,
        noise: GaussianNoise,
        coordinates: usize,
        policy: JitterPolicy,
    ) -> Result<Evaluation> {
        let data = &self.data;
        let (n, given) = (data.rows(), self.neighbours);
        let members = n - given;
        let psi = noise.group_variances(data);
        let factor = Factor::new(n, policy, |mut out| {
            tiles::fill_lower(kernel, data.inputs(), out.as_mut());
            for (i, variance) in psi.iter().enumerate() {
                out[(i, i)] += variance;
            }
        })?;
        let mut whitened = Matrix::from_fn(n, 1, |row, _| data.targets()[row]);
        factor.whiten_block(whitened.as_mut());
        let misfit: f64 = (given..n).map(|row| whitened[(row, 0)].powi(2)).sum();
        let (within, within_slope) = noise.evidence_within_rows(data, given..n);
        let value = -0.5 * misfit
            - factor.log_diagonal(given..n)
            - 0.5 * members as f64 * (2.0 * std::f64::consts::PI).ln()
            + within;

        // Columns: a, a_N (zero on the group), then X.
        let mut columns = Matrix::zeros(n, 2 + members);
        for row in 0..n {
            columns[(row, 0)] = whitened[(row, 0)];
        }
        for member in 0..members {
            columns[(given + member, 2 + member)] = 1.0;
        }
        factor.unwhiten_block(columns.as_mut());
        let mut neighbours = Matrix::from_fn(given, 1, |row, _| whitened[(row, 0)]);
        factor.unwhiten_leading(given, neighbours.as_mut());
        for row in 0..given {
            columns[(row, 1)] = neighbours[(row, 0)];
        }

        let mut gradient = vec![0.0; coordinates];
        let Some((noise_slope, kernel_slopes)) = gradient.split_last_mut() else {
            return Err(Error::Invalid("no coordinates to evaluate at".into()));
        };
        tiles::pull_back_lower_with(
            kernel,
            data.inputs(),
            &|rows, cols, tile| sensitivity_tile(&columns, rows, cols, tile),
            kernel_slopes,
        );
        *noise_slope = within_slope
            + (0..n)
                .map(|row| {
                    let own: Vec<f64> = (2..2 + members).map(|c| columns[(row, c)]).collect();
                    let sensitivity = 0.5
                        * (columns[(row, 0)].powi(2) - columns[(row, 1)].powi(2) - dot(&own, &own));
                    sensitivity * noise.variance / data.weights()[row]
                })
                .sum::<f64>();
        Ok(Evaluation { value, gradient })
    }
}

/// One tile of `1/2 (a a' - a_N a_N' - X X')`.
fn sensitivity_tile(
    columns: &Matrix,
    rows: std::ops::Range<usize>,
    cols: std::ops::Range<usize>,
    mut tile: crate::linalg::MatrixMut<'_>,
) {
    let members = columns.ncols() - 2;
    let left = columns
        .as_ref()
        .submatrix(rows.start, 2, rows.len(), members);
    let right = columns
        .as_ref()
        .submatrix(cols.start, 2, cols.len(), members);
    crate::linalg::product_tile(tile.as_mut(), -0.5, left, right.transpose());
    for (j, column) in cols.enumerate() {
        for (i, row) in rows.clone().enumerate() {
            tile[(i, j)] += 0.5 * columns[(row, 0)] * columns[(column, 0)]
                - 0.5 * columns[(row, 1)] * columns[(column, 1)];
        }
    }
}
