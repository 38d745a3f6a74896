//! The support vector machine as a Gaussian process: its exact decision function (Tresp 2000, sec. 6.7).
//!
//! `min over f of sum_i w_i max(0, 1 - t_i f_i) + 1/2 f' K^-1 f`: the mode of the hinge without its smoothing. The paper's
//! constant is the variance of the kernel, and its offset b a `constant` term of the kernel. Curvature, and with it
//! probabilities and committees, come from the smoothed hinge of [`crate::likelihood::Hinge`].

use super::exact::check_width;
use super::laplace::check_groups;
use crate::data::{Dataset, Inputs};
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::likelihood::{Likelihood, Observations};
use crate::linalg::{Matrix, dot};
use crate::{Error, Result};

const MOST_SWEEPS: usize = 20_000;

/// The exact solution of the quadratic programme.
///
/// ```
/// use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
/// use quorate_gp::kernel::Kernel;
/// use quorate_gp::likelihood::{Extras, Observations};
/// use quorate_gp::posterior::SupportVectorMachine;
///
/// let data = Dataset::new(vec![-2.0, -1.0, 1.0, 2.0], 1, vec![0.0, 0.0, 1.0, 1.0], None, None)?;
/// let seen = Observations::of(&data, Extras::default())?;
/// let column = InputColumn { name: "x".into(), kind: ColumnKind::Number, deviation: 1.5 };
/// let kernel = "10 * linear".parse::<Kernel>()?.bind(&[column])?;
/// let machine = SupportVectorMachine::fit(kernel, data, &seen)?;
/// // The margin is 1 at the two inner rows, and they alone support it: one of them, or both, since they say the same.
/// assert!((1..=2).contains(&machine.support()));
/// assert!((machine.decisions(Inputs::new(&[0.5], 1, 1)?)?[0] - 0.5).abs() < 1e-6);
/// # Ok::<(), quorate_gp::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SupportVectorMachine {
    kernel: BoundKernel,
    data: Dataset,
    /// `v`: the decision at x is `sum_j k(x, x_j) v_j`.
    weights: Vec<f64>,
    latent: Vec<f64>,
    gap: f64,
}

impl SupportVectorMachine {
    /// Solves the dual, `max sum_i alpha_i - 1/2 f' K^-1 f` with `0 <= alpha_i <= w_i` and `v_i = t_i alpha_i`, one
    /// coordinate after the other in a fixed order, until primal and dual agree to 1e-9 of their size.
    pub fn fit(kernel: BoundKernel, data: Dataset, seen: &Observations) -> Result<Self> {
        let two_classes: Likelihood = "hinge".parse()?;
        two_classes.check(seen)?;
        check_groups(&data, seen)?;
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let mut rows = Vec::with_capacity(seen.rows().len());
        for group in 0..seen.groups() {
            for row in seen.of_group(group) {
                let sign = if row.value > 0.5 { 1.0 } else { -1.0 };
                rows.push((group, sign, row.weight));
            }
        }
        let mut alpha = vec![0.0; rows.len()];
        let mut latent = vec![0.0; data.rows()];
        for sweep in 1..=MOST_SWEEPS {
            for (i, &(group, sign, most)) in rows.iter().enumerate() {
                let own = covariance[(group, group)];
                if own <= 0.0 {
                    // The kernel cannot move this row: its margin is lost whatever its weight.
                    alpha[i] = most;
                    continue;
                }
                let better = (alpha[i] + (1.0 - sign * latent[group]) / own).clamp(0.0, most);
                let change = (better - alpha[i]) * sign;
                if change != 0.0 {
                    alpha[i] = better;
                    let column = covariance.col_as_slice(group);
                    for (value, entry) in latent.iter_mut().zip(column) {
                        *value += change * entry;
                    }
                }
            }
            if sweep % 10 != 0 {
                continue;
            }
            let (mut primal, mut dual) = (0.0, 0.0);
            for (i, &(group, sign, most)) in rows.iter().enumerate() {
                let margin = sign * latent[group];
                primal += most * (1.0 - margin).max(0.0) + 0.5 * alpha[i] * margin;
                dual += alpha[i] - 0.5 * alpha[i] * margin;
            }
            if primal - dual <= 1e-9 * (1.0 + primal.abs()) {
                let mut weights = vec![0.0; data.rows()];
                for (i, &(group, sign, _)) in rows.iter().enumerate() {
                    weights[group] += sign * alpha[i];
                }
                return Ok(Self {
                    kernel,
                    data,
                    weights,
                    latent,
                    gap: primal - dual,
                });
            }
        }
        Err(Error::NotConverged {
            what: "the dual of the support vector machine",
            steps: MOST_SWEEPS,
        })
    }

    /// The value whose sign decides, at each query.
    pub fn decisions(&self, query: Inputs<'_>) -> Result<Vec<f64>> {
        check_width(self.data.inputs(), query)?;
        let mut cross = Matrix::zeros(self.data.rows(), query.rows());
        self.kernel.fill(self.data.inputs(), query, cross.as_mut());
        Ok((0..query.rows())
            .map(|q| dot(cross.col_as_slice(q), &self.weights))
            .collect())
    }

    /// `v = K^-1 f`; zero away from the support vectors.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The decision value of each row, where the smoothed hinge is expanded for a committee.
    pub fn latent(&self) -> &[f64] {
        &self.latent
    }

    /// Number of support vectors.
    pub fn support(&self) -> usize {
        self.weights.iter().filter(|&&v| v != 0.0).count()
    }

    /// Primal minus dual: how far from the best the cost can be at most.
    pub fn gap(&self) -> f64 {
        self.gap
    }
}
