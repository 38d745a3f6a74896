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
/// Difference of primal and dual, relative to their size, at which a solution is exact.
const EXACT: f64 = 1e-9;
/// Halvings of the interval in which an offset lies: to about 1e-9 of its size.
const HALVINGS: usize = 40;

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
    /// `v`: the decision at x is `sum_j k(x, x_j) v_j + b`.
    weights: Vec<f64>,
    offset: f64,
    latent: Vec<f64>,
    gap: f64,
}

/// One row of the programme: its place in the covariance, its class as +1 or -1, and its weight.
pub type Margin = (usize, f64, f64);

/// A solution of the dual.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginSolution {
    /// `v_i`: the sum of `t alpha` over the rows at place i of the covariance.
    pub weights: Vec<f64>,
    /// `K v`: the decision at each place, without the offset.
    pub latent: Vec<f64>,
    /// Primal minus dual.
    pub gap: f64,
}

/// The coordinates of the dual, kept from one solution to the next.
struct Ascent<'a> {
    covariance: &'a Matrix,
    rows: &'a [Margin],
    alpha: Vec<f64>,
    latent: Vec<f64>,
}

impl<'a> Ascent<'a> {
    fn new(covariance: &'a Matrix, rows: &'a [Margin]) -> Self {
        Self {
            covariance,
            rows,
            alpha: vec![0.0; rows.len()],
            latent: vec![0.0; covariance.nrows()],
        }
    }

    /// Climbs `sum_i alpha_i (1 - t_i b) - 1/2 f' K^-1 f` with `0 <= alpha_i <= w_i` and `v_i = t_i alpha_i`, one coordinate
    /// after the other in a fixed order, until primal and dual agree or the sweeps are spent; gives their difference, and
    /// whether it is small enough.
    fn climb(&mut self, offset: f64, tolerance: f64, sweeps: usize) -> (f64, bool) {
        let mut gap = f64::INFINITY;
        for sweep in 1..=sweeps.next_multiple_of(10) {
            for (i, &(place, sign, most)) in self.rows.iter().enumerate() {
                let own = self.covariance[(place, place)];
                if own <= 0.0 {
                    // The kernel cannot move this row: its margin is lost whatever its weight.
                    self.alpha[i] = if sign * offset < 1.0 { most } else { 0.0 };
                    continue;
                }
                let short = 1.0 - sign * (self.latent[place] + offset);
                let better = (self.alpha[i] + short / own).clamp(0.0, most);
                let change = (better - self.alpha[i]) * sign;
                if change != 0.0 {
                    self.alpha[i] = better;
                    let column = self.covariance.col_as_slice(place);
                    for (value, entry) in self.latent.iter_mut().zip(column) {
                        *value += change * entry;
                    }
                }
            }
            if sweep % 10 != 0 {
                continue;
            }
            let (mut primal, mut dual) = (0.0, 0.0);
            for (i, &(place, sign, most)) in self.rows.iter().enumerate() {
                let (margin, pull) = (sign * self.latent[place], sign * offset);
                primal += most * (1.0 - margin - pull).max(0.0) + 0.5 * self.alpha[i] * margin;
                dual += self.alpha[i] * (1.0 - pull) - 0.5 * self.alpha[i] * margin;
            }
            gap = primal - dual;
            if gap <= tolerance * (1.0 + primal.abs()) {
                return (gap, true);
            }
        }
        (gap, false)
    }

    /// The same to the end.
    fn settle(&mut self, offset: f64) -> Result<f64> {
        match self.climb(offset, EXACT, MOST_SWEEPS) {
            (gap, true) => Ok(gap),
            (_, false) => Err(Error::NotConverged {
                what: "the dual of the support vector machine",
                steps: MOST_SWEEPS,
            }),
        }
    }

    /// `sum_i t_i alpha_i`, which an offset that costs nothing brings to zero.
    fn balance(&self) -> f64 {
        let each = self.rows.iter().zip(&self.alpha);
        each.map(|((_, sign, _), alpha)| sign * alpha).sum()
    }

    fn solution(self, gap: f64) -> MarginSolution {
        let mut weights = vec![0.0; self.latent.len()];
        for (&(place, sign, _), alpha) in self.rows.iter().zip(&self.alpha) {
            weights[place] += sign * alpha;
        }
        MarginSolution {
            weights,
            latent: self.latent,
            gap,
        }
    }
}

/// Solves the programme for a covariance that is there already, without an offset, to a tolerance or as far as so many sweeps
/// come: the gap says how far the cost can be from the best.
pub fn solve_margins(
    covariance: &Matrix,
    rows: &[Margin],
    tolerance: f64,
    sweeps: usize,
) -> MarginSolution {
    let mut ascent = Ascent::new(covariance, rows);
    let (gap, _) = ascent.climb(0.0, tolerance, sweeps);
    ascent.solution(gap)
}

impl SupportVectorMachine {
    /// Solves the dual until primal and dual agree to 1e-9 of their size.
    pub fn fit(kernel: BoundKernel, data: Dataset, seen: &Observations) -> Result<Self> {
        let rows = margins(&data, seen)?;
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let mut ascent = Ascent::new(&covariance, &rows);
        let gap = ascent.settle(0.0)?;
        let found = ascent.solution(gap);
        Ok(Self::of(kernel, data, 0.0, found))
    }

    /// The same with an offset b that costs nothing, as is usual elsewhere: `sum_i t_i alpha_i` falls as b rises, and the b
    /// where it vanishes is found by halving.
    pub fn fit_with_offset(
        kernel: BoundKernel,
        data: Dataset,
        seen: &Observations,
    ) -> Result<Self> {
        let rows = margins(&data, seen)?;
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let mut ascent = Ascent::new(&covariance, &rows);
        ascent.settle(0.0)?;
        let up = if ascent.balance() > 0.0 { 1.0 } else { -1.0 };
        let (mut near, mut far) = (0.0, 1.0);
        loop {
            ascent.settle(up * far)?;
            // Far enough from all margins only one class has weights left.
            if up * ascent.balance() <= 0.0 || far > 1e6 {
                break;
            }
            (near, far) = (far, 2.0 * far);
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (near + far);
            ascent.settle(up * middle)?;
            if up * ascent.balance() > 0.0 {
                near = middle;
            } else {
                far = middle;
            }
        }
        let offset = up * 0.5 * (near + far);
        let gap = ascent.settle(offset)?;
        let found = ascent.solution(gap);
        Ok(Self::of(kernel, data, offset, found))
    }

    fn of(kernel: BoundKernel, data: Dataset, offset: f64, found: MarginSolution) -> Self {
        let latent = found.latent.iter().map(|value| value + offset).collect();
        Self {
            kernel,
            data,
            weights: found.weights,
            offset,
            latent,
            gap: found.gap,
        }
    }

    /// The value whose sign decides, at each query.
    pub fn decisions(&self, query: Inputs<'_>) -> Result<Vec<f64>> {
        check_width(self.data.inputs(), query)?;
        let mut cross = Matrix::zeros(self.data.rows(), query.rows());
        self.kernel.fill(self.data.inputs(), query, cross.as_mut());
        Ok((0..query.rows())
            .map(|q| dot(cross.col_as_slice(q), &self.weights) + self.offset)
            .collect())
    }

    /// `v = K^-1 f`; zero away from the support vectors.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The offset b; 0 where there is none beside the kernel's.
    pub fn offset(&self) -> f64 {
        self.offset
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

/// The rows of two classes as the programme has them.
fn margins(data: &Dataset, seen: &Observations) -> Result<Vec<Margin>> {
    let two_classes: Likelihood = "hinge".parse()?;
    two_classes.check(seen)?;
    check_groups(data, seen)?;
    let mut rows = Vec::with_capacity(seen.rows().len());
    for group in 0..seen.groups() {
        for row in seen.of_group(group) {
            let sign = if row.value > 0.5 { 1.0 } else { -1.0 };
            rows.push((group, sign, row.weight));
        }
    }
    Ok(rows)
}
