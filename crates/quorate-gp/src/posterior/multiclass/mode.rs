//! The coupled mode of all classes: C factors of n x n and one more, never a matrix of Cn x Cn.

use crate::likelihood::{Classes, softmax};
use crate::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot, symmetric_times};
use crate::posterior::laplace::{factor_scaled, scaled_solve};
use crate::{Error, Result};

const MOST_STEPS: usize = 100;
const MOST_HALVINGS: usize = 40;
const SETTLED: f64 = 1e-18;
const ROUNDING: f64 = 1e-13;

/// One number for each class and row: class after class.
pub(crate) type Stack = Vec<Vec<f64>>;

/// What couples the classes at a point: with `D_c = diag(w pi_c)`, `B_c = I + D_c^1/2 K_c D_c^1/2` and
/// `E_c = D_c^1/2 B_c^-1 D_c^1/2`, the curvature `W = D - D R (R'DR)^-1 R'D` has
/// `(W^-1 + K)^-1 = E - E R (sum_c E_c)^-1 R' E` (Rasmussen and Williams 2006, eq. 3.44-3.47), R being C identities.
#[derive(Clone, Debug)]
pub(crate) struct Coupling {
    /// `D_c^1/2`.
    pub roots: Stack,
    /// Factors of `B_c`.
    pub factors: Vec<Factor>,
    /// Factor of `sum_c E_c`.
    pub sum: Factor,
}

impl Coupling {
    /// Factors everything at class probabilities `pi` (class after class); `totals` are the rows' weights.
    pub fn new(covariances: &[Matrix], probabilities: &Stack, classes: &Classes) -> Result<Self> {
        let rows = classes.rows();
        let root = |own: &Vec<f64>| -> Vec<f64> {
            (0..rows)
                .map(|i| (classes.total(i) * own[i]).sqrt())
                .collect()
        };
        let roots: Stack = probabilities.iter().map(root).collect();
        let mut factors = Vec::with_capacity(roots.len());
        let mut total = Matrix::zeros(rows, rows);
        let mut memory = Matrix::zeros(rows, rows);
        for (class, root) in roots.iter().enumerate() {
            let covariance = &covariances[class % covariances.len()];
            let factor = factor_scaled(covariance.as_ref(), root, Matrix::zeros(rows, rows))?;
            memory = scaled_inverse(&factor, root, memory);
            add_gram_lower(total.as_mut(), 1.0, memory.as_ref());
            factors.push(factor);
        }
        // Only the lower triangle was summed, and only it is read.
        let sum = Factor::in_matrix(memory, JitterPolicy::default(), |mut out| {
            out.copy_from(&total)
        })?;
        Ok(Self {
            roots,
            factors,
            sum,
        })
    }

    /// `(W^-1 + K)^-1 stack`.
    pub fn solve(&self, stack: &Stack) -> Stack {
        let mut own: Stack = (0..stack.len())
            .map(|c| scaled_solve(&self.roots[c], &self.factors[c], &stack[c]))
            .collect();
        let rows = stack[0].len();
        let mut shared = Matrix::from_fn(rows, 1, |i, _| own.iter().map(|class| class[i]).sum());
        self.sum.solve(shared.as_mut());
        for (c, class) in own.iter_mut().enumerate() {
            let back = scaled_solve(&self.roots[c], &self.factors[c], shared.col_as_slice(0));
            for (value, correction) in class.iter_mut().zip(&back) {
                *value -= correction;
            }
        }
        own
    }

    /// `log |I + K W| = sum_c log |B_c| + log |sum_c E_c| - sum_i log w_i`.
    ///
    /// The printed algorithm 3.3 of Rasmussen and Williams leaves the last two terms out.
    pub fn log_determinant(&self, classes: &Classes) -> f64 {
        let own: f64 = self.factors.iter().map(Factor::log_determinant).sum();
        let totals: f64 = (0..classes.rows()).map(|i| classes.total(i).ln()).sum();
        own + self.sum.log_determinant() - totals
    }
}

/// `L^-1 D`, whose Gram matrix is `E = D B^-1 D`, in the memory of a matrix that is not needed any more.
pub(crate) fn scaled_inverse(factor: &Factor, root: &[f64], memory: Matrix) -> Matrix {
    let mut inverse = factor.inverse_lower_in(memory);
    for (column, scale) in root.iter().enumerate() {
        for entry in inverse.col_as_slice_mut(column) {
            *entry *= scale;
        }
    }
    inverse
}

/// The mode of all classes and what was computed there.
#[derive(Clone, Debug)]
pub(crate) struct CoupledMode {
    pub latent: Stack,
    /// `K_c^-1 f_c`, the slope of the log likelihood at the mode.
    pub weights: Stack,
    pub probabilities: Stack,
    pub coupling: Coupling,
    pub log_evidence: f64,
    pub steps: usize,
}

struct Point {
    latent: Stack,
    weights: Stack,
    probabilities: Stack,
    objective: f64,
}

impl Point {
    fn at(classes: &Classes, weights: Stack, latent: Stack) -> Self {
        let (count, rows) = (classes.count(), classes.rows());
        let mut probabilities = vec![vec![0.0; rows]; count];
        let mut objective = 0.0;
        let (mut f, mut pi) = (vec![0.0; count], vec![0.0; count]);
        for i in 0..rows {
            for c in 0..count {
                f[c] = latent[c][i];
            }
            let normaliser = softmax(&f, &mut pi);
            objective += dot(classes.row(i), &f) - classes.total(i) * normaliser;
            for c in 0..count {
                probabilities[c][i] = pi[c];
            }
        }
        for c in 0..count {
            objective -= 0.5 * dot(&weights[c], &latent[c]);
        }
        Self {
            latent,
            weights,
            probabilities,
            objective,
        }
    }

    /// Slope of the log likelihood.
    fn slope(&self, classes: &Classes) -> Stack {
        (0..classes.count())
            .map(|c| {
                (0..classes.rows())
                    .map(|i| classes.row(i)[c] - classes.total(i) * self.probabilities[c][i])
                    .collect()
            })
            .collect()
    }
}

/// Every class of a stack times its covariance; one covariance may serve all.
pub(crate) fn spread(covariances: &[Matrix], stack: &Stack) -> Stack {
    stack
        .iter()
        .enumerate()
        .map(|(c, own)| symmetric_times(covariances[c % covariances.len()].as_ref(), own))
        .collect()
}

/// Finds the mode (Williams and Barber 1998, App. C; Rasmussen and Williams 2006, alg. 3.3) with halved steps, from
/// `start` (the weights of an earlier mode) or zero.
pub(crate) fn find_coupled_mode(
    covariances: &[Matrix],
    classes: &Classes,
    start: Option<&Stack>,
) -> Result<CoupledMode> {
    let (count, rows) = (classes.count(), classes.rows());
    let zero = || vec![vec![0.0; rows]; count];
    let mut here = Point::at(classes, zero(), zero());
    if let Some(weights) = start {
        let fits = weights.len() == count && weights.iter().all(|own| own.len() == rows);
        if fits {
            let warm = Point::at(classes, weights.clone(), spread(covariances, weights));
            if warm.objective > here.objective {
                here = warm;
            }
        }
    }
    let mut last_promised = f64::INFINITY;
    for step in 1..=MOST_STEPS {
        let coupling = Coupling::new(covariances, &here.probabilities, classes)?;
        // (I + W K)^-1 (g - a), as for one latent function.
        let slope = here.slope(classes);
        let residual = combine(&slope, -1.0, &here.weights);
        let change = combine(
            &residual,
            -1.0,
            &coupling.solve(&spread(covariances, &residual)),
        );
        let move_by = spread(covariances, &change);
        let promised = 0.5 * inner(&move_by, &residual);
        let scale = 1.0 + here.objective.abs();
        if !promised.is_finite() {
            return Err(Error::NotFinite {
                what: "a Newton step towards the mode",
            });
        }
        let floor = promised <= ROUNDING * scale && promised >= 0.9 * last_promised;
        let settled = promised <= SETTLED * scale || floor;
        last_promised = promised;
        let next = advance(classes, &here, &change, &move_by, promised);
        if settled || (next.is_none() && promised <= 100.0 * ROUNDING * scale) {
            let end = next.unwrap_or(here);
            return Ok(CoupledMode {
                log_evidence: end.objective - 0.5 * coupling.log_determinant(classes),
                latent: end.latent,
                weights: end.weights,
                probabilities: end.probabilities,
                coupling,
                steps: step,
            });
        }
        match next {
            Some(next) => here = next,
            None => {
                return Err(Error::NotConverged {
                    what: "the mode of the classes' latent functions",
                    steps: step,
                });
            }
        }
    }
    Err(Error::NotConverged {
        what: "the mode of the classes' latent functions",
        steps: MOST_STEPS,
    })
}

fn advance(
    classes: &Classes,
    here: &Point,
    change: &Stack,
    move_by: &Stack,
    promised: f64,
) -> Option<Point> {
    let mut share = 1.0;
    for _ in 0..MOST_HALVINGS {
        let weights = combine(&here.weights, share, change);
        let latent = combine(&here.latent, share, move_by);
        let next = Point::at(classes, weights, latent);
        let allowance = ROUNDING * (1.0 + here.objective.abs());
        if next.objective >= here.objective + 1e-4 * share * promised - allowance {
            return Some(next);
        }
        share *= 0.5;
    }
    None
}

/// `left + scale * right`.
pub(crate) fn combine(left: &Stack, scale: f64, right: &Stack) -> Stack {
    left.iter()
        .zip(right)
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + scale * b).collect())
        .collect()
}

fn inner(left: &Stack, right: &Stack) -> f64 {
    left.iter().zip(right).map(|(a, b)| dot(a, b)).sum()
}
