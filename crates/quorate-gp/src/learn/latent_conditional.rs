//! Grouped conditional likelihood for any likelihood: how well groups of rows are predicted from the rows nearest to them.
//!
//! `sum_g log p(y_g | y_N(g)) = sum_g [evidence(g + N(g)) - evidence(N(g))]`, each evidence by Laplace's method. Unlike
//! Gaussian noise, the two have different modes, so that each needs its own.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::Result;
use crate::data::Dataset;
use crate::kernel::BoundKernel;
use crate::learn::laplace::BlockRows;
use crate::learn::{Evaluation, Group, Objective, latent_at};
use crate::likelihood::{Likelihood, Observations};
use crate::linalg::Spares;

/// The grouped conditional log likelihood, scaled as if the groups covered all rows once.
///
/// Nearly flat in the variance of a kernel for classes: add [`crate::learn::latent_priors`].
#[derive(Debug)]
pub struct LatentConditional<'a> {
    kernel: &'a BoundKernel,
    likelihood: Likelihood,
    groups: Vec<(Block, Block)>,
    scale: f64,
}

/// Rows whose evidence counts.
#[derive(Debug)]
struct Block {
    data: Dataset,
    seen: Observations,
    spares: Spares,
    anchor: OnceLock<Option<Vec<f64>>>,
}

impl Block {
    fn new(data: &Dataset, seen: &Observations, rows: &[usize]) -> Self {
        Self {
            data: data.select(rows),
            seen: seen.select(rows),
            spares: Spares::new(rows.len()),
            anchor: OnceLock::new(),
        }
    }

    fn rows(&self) -> BlockRows<'_> {
        BlockRows {
            data: &self.data,
            seen: &self.seen,
            spares: &self.spares,
        }
    }

    /// Weights of the mode at the values the objective was made with, looked for from `start`.
    fn anchor(
        &self,
        first: (&BoundKernel, &Likelihood),
        start: impl FnOnce() -> Option<Vec<f64>>,
    ) -> Option<&[f64]> {
        let found = self
            .anchor
            .get_or_init(|| self.rows().anchor(first.0, first.1, start().as_deref()));
        found.as_deref()
    }
}

impl<'a> LatentConditional<'a> {
    /// The conditional likelihood of the groups under kernels and likelihoods of these shapes.
    pub fn new(
        kernel: &'a BoundKernel,
        likelihood: Likelihood,
        data: &Dataset,
        seen: &Observations,
        groups: &[Group],
    ) -> Result<Self> {
        likelihood.check(seen)?;
        crate::posterior::laplace::check_groups(data, seen)?;
        let covered: usize = groups.iter().map(|g| g.rows.len() - g.neighbours).sum();
        let pair = |group: &Group| {
            (
                Block::new(data, seen, &group.rows),
                Block::new(data, seen, &group.rows[..group.neighbours]),
            )
        };
        Ok(Self {
            kernel,
            likelihood,
            groups: groups.par_iter().map(pair).collect(),
            scale: data.rows() as f64 / covered.max(1) as f64,
        })
    }
}

impl Objective for LatentConditional<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, likelihood) = latent_at(self.kernel, self.likelihood, coordinates)?;
        let first = (self.kernel, &self.likelihood);
        let evaluations: Result<Vec<(Evaluation, Option<Evaluation>)>> = self
            .groups
            .par_iter()
            .map(|(all, given)| {
                if given.data.rows() == 0 {
                    let anchor = all.anchor(first, || None);
                    let all = all.rows().evaluate(&kernel, &likelihood, anchor)?;
                    return Ok((all, None));
                }
                let near = given.anchor(first, || None);
                // What the neighbours expect of the group is close to what all of them find: their weights, and none yet
                // of the group's own, which stands behind them.
                let anchor = all.anchor(first, || {
                    let mut weights = near?.to_vec();
                    weights.resize(all.data.rows(), 0.0);
                    Some(weights)
                });
                let all = all.rows().evaluate(&kernel, &likelihood, anchor)?;
                let given = given.rows().evaluate(&kernel, &likelihood, near)?;
                Ok((all, Some(given)))
            })
            .collect();
        let mut total = Evaluation {
            value: 0.0,
            gradient: vec![0.0; coordinates.len()],
        };
        for (all, given) in evaluations? {
            total = total.merge(&all);
            if let Some(mut given) = given {
                given.value = -given.value;
                given.gradient.iter_mut().for_each(|slope| *slope = -*slope);
                total = total.merge(&given);
            }
        }
        total.value *= self.scale;
        total
            .gradient
            .iter_mut()
            .for_each(|slope| *slope *= self.scale);
        Ok(total)
    }
}
