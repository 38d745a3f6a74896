//! The most probable latent values, by Newton's method in a form that never inverts the covariance.

use std::cmp::Ordering;

use super::damping::Damping;
use super::peaks::weights_from_peaks;
use crate::likelihood::{Derivatives, Likelihood, Observations};
use crate::linalg::{
    Factor, JitterPolicy, Matrix, MatrixRef, dot, fill_scaled_lower, symmetric_times,
};
use crate::{Error, Result};

/// Newton steps before giving up; a dozen is usual, Fisher scoring of outliers may take a hundred.
const MOST_STEPS: usize = 400;
/// Halvings of one step before giving up.
const MOST_HALVINGS: usize = 50;
/// The longest damped step, as a multiple of what was computed.
const LONGEST: f64 = 1e9;
/// A mode is found when the next step promises less than this share of the objective.
pub(crate) const SETTLED: f64 = 1e-18;
/// The same for learning, which corrects the determinant for the last step and saves a factorisation by it.
pub(crate) const NEARLY_SETTLED: f64 = 1e-12;
/// The same for a mode that is only a start.
const COARSELY_SETTLED: f64 = 1e-6;
/// With at least so many rows, a search that starts from nothing begins with a part of them.
const COARSE_ROWS: usize = 400;
/// One row of so many.
const COARSENESS: usize = 4;
/// Differences of the objective below this share of it are its rounding.
const ROUNDING: f64 = 1e-13;
/// A negative norm of more than this share of its terms is no rounding of a norm.
const PARTED: f64 = 1e-9;

/// The mode and everything that was computed there.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    /// f.
    pub latent: Vec<f64>,
    /// `a = K^-1 f`, which is the slope of the log likelihood at the mode.
    pub weights: Vec<f64>,
    /// Derivatives of the log likelihood at the mode, by latent value.
    pub terms: Vec<Derivatives>,
    /// `D = W^1/2`.
    pub root: Vec<f64>,
    /// Factor of `B = I + D K D`.
    pub factor: Factor,
    /// `log p(y | f) - 1/2 f' K^-1 f`.
    pub objective: f64,
    /// Newton steps.
    pub steps: usize,
}

impl Mode {
    /// Approximate log evidence `log p(y | f) - 1/2 f' K^-1 f - 1/2 log |B|` (Rasmussen and Williams 2006, eq. 3.32).
    pub fn log_evidence(&self) -> f64 {
        self.objective - 0.5 * self.factor.log_determinant()
    }
}

/// A point of the iteration.
struct Point {
    weights: Vec<f64>,
    latent: Vec<f64>,
    terms: Vec<Derivatives>,
    objective: f64,
}

impl Point {
    fn at(
        likelihood: &Likelihood,
        seen: &Observations,
        weights: Vec<f64>,
        latent: Vec<f64>,
    ) -> Self {
        let terms = likelihood.derivatives_of(seen, &latent);
        let fit: f64 = terms.iter().map(|term| term.log_density).sum();
        let penalty = dot(&weights, &latent);
        let size: f64 = weights
            .iter()
            .zip(&latent)
            .map(|(a, f)| (a * f).abs())
            .sum();
        // No function has a negative norm: rounding has parted the weights from their function, and nothing is gained.
        let objective = if penalty < -PARTED * size {
            f64::NEG_INFINITY
        } else {
            fit - 0.5 * penalty
        };
        Self {
            weights,
            latent,
            terms,
            objective,
        }
    }

    /// `g - a`, which vanishes at the mode.
    fn residual(&self) -> Vec<f64> {
        let each = self.terms.iter().zip(&self.weights);
        each.map(|(term, a)| term.slope - a).collect()
    }
}

/// Finds the mode under the covariance K (both halves written), from `start` (the weights of an earlier mode) or zero.
///
/// Rasmussen and Williams 2006, alg. 3.1, with three changes: steps are halved until the objective grows (the plain
/// iteration overflows for counts and oscillates for outliers), they are damped where they lead nowhere ([`Damping`]), and
/// the iteration ends at the point whose own factor it has just computed, so that evidence and gradient need no further
/// factorisation. Where that fails, it is tried once more from near the mode ([`weights_from_peaks`]). `memory` is a matrix
/// of the size of K whose values are not needed any more, `settled_at` [`SETTLED`] or [`NEARLY_SETTLED`].
pub(crate) fn find_mode(
    covariance: MatrixRef<'_>,
    likelihood: &Likelihood,
    seen: &Observations,
    start: Option<&[f64]>,
    memory: Matrix,
    settled_at: f64,
) -> Result<Mode> {
    match search(covariance, likelihood, seen, start, memory, settled_at) {
        Err(error) if error.is_recoverable() => {
            let near = weights_from_peaks(covariance, likelihood, seen)?;
            let memory = Matrix::zeros(near.len(), near.len());
            let found = search(
                covariance,
                likelihood,
                seen,
                Some(&near),
                memory,
                settled_at,
            );
            // What went wrong at first says more than what went wrong afterwards.
            found.map_err(|_| error)
        }
        found => found,
    }
}

/// One search of [`find_mode`], without another after it.
fn search(
    covariance: MatrixRef<'_>,
    likelihood: &Likelihood,
    seen: &Observations,
    start: Option<&[f64]>,
    memory: Matrix,
    settled_at: f64,
) -> Result<Mode> {
    let size = covariance.nrows();
    let mut here = Point::at(likelihood, seen, vec![0.0; size], vec![0.0; size]);
    let coarse = match start {
        None if size >= COARSE_ROWS => coarse_weights(covariance, likelihood, seen),
        _ => None,
    };
    if let Some(weights) = start
        .or(coarse.as_deref())
        .filter(|weights| weights.len() == size)
    {
        let latent = symmetric_times(covariance, weights);
        let warm = Point::at(likelihood, seen, weights.to_vec(), latent);
        if warm.objective > here.objective || !here.objective.is_finite() {
            here = warm;
        }
    }
    if !here.objective.is_finite() {
        return Err(Error::NotFinite {
            what: "the log likelihood at a latent function of zero",
        });
    }
    let mut memory = Some(memory);
    let mut factored: Option<(Vec<f64>, Factor)> = None;
    let mut last_promised = f64::INFINITY;
    let mut damping = Damping::default();
    for step in 1..=MOST_STEPS {
        // Where the curvature itself is at hand and positive it leads fastest, whatever the evidence uses.
        let step_curvature = |term: &Derivatives| term.observed_curvature.max(0.0);
        let curvatures: Vec<f64> = here.terms.iter().map(step_curvature).collect();
        let residual = here.residual();
        let ease = damping.ease(covariance, &curvatures, &residual);
        let root: Vec<f64> = curvatures.iter().map(|w| (ease * w).sqrt()).collect();
        let factor = match factored.take() {
            // A constant curvature (Gaussian, Student-t) needs one factorisation in all.
            Some((earlier, factor)) if earlier == root => factor,
            earlier => {
                let memory = match earlier {
                    Some((_, factor)) => factor.into_matrix(),
                    None => memory.take().unwrap_or_else(|| Matrix::zeros(size, size)),
                };
                factor_scaled(covariance, &root, memory)?
            }
        };
        let change = newton_change(covariance, residual, ease, &root, &factor);
        let move_by = symmetric_times(covariance, &change);
        // The quadratic model promises 1/2 d' (K^-1 + W) d with d = K change, and more of a damped step.
        let curved: f64 = curvatures
            .iter()
            .zip(&move_by)
            .map(|(w, d)| w * d * d)
            .sum();
        let promised = 0.5 * (dot(&change, &move_by) + curved);
        let scale = 1.0 + here.objective.abs();
        if !promised.is_finite() && !damping.tighten() {
            return Err(Error::NotFinite {
                what: "a Newton step towards the mode",
            });
        }
        // Rounding may keep the last steps from shrinking further: then they are as good as they get.
        let floor = promised <= ROUNDING * scale && promised >= 0.9 * last_promised;
        // Steps by another curvature than the evidence's converge slowly, and leave more behind than they promise.
        let is_newton = here.terms.iter().all(is_concave);
        let enough = if is_newton { settled_at } else { SETTLED };
        // A damped step is short wherever it is taken.
        let is_full = ease == 1.0;
        let settled = is_full && (promised <= enough * scale || floor);
        last_promised = if is_full { promised } else { f64::INFINITY };
        let mut next = advance(likelihood, seen, &here, &change, &move_by, promised, ease);
        if !is_full {
            // Large steps may cancel later: the function is made anew of the weights that are left.
            next = next
                .map(|(point, share)| {
                    let latent = symmetric_times(covariance, &point.weights);
                    (Point::at(likelihood, seen, point.weights, latent), share)
                })
                .filter(|(point, _)| point.objective >= here.objective - ROUNDING * scale);
        }
        match next {
            Some((next, _)) if settled => return finish(covariance, next, root, factor, step),
            None if settled || (is_full && promised <= 100.0 * ROUNDING * scale) => {
                return finish(covariance, here, root, factor, step);
            }
            Some((next, share)) => {
                here = next;
                damping.after(share);
            }
            None if promised.is_finite() && !damping.tighten() => {
                return Err(Error::NotConverged {
                    what: "the mode of the latent function",
                    steps: step,
                });
            }
            None => {}
        }
        factored = Some((root, factor));
    }
    Err(Error::NotConverged {
        what: "the mode of the latent function",
        steps: MOST_STEPS,
    })
}

/// Weights that are the mode's of every fourth row, and nothing elsewhere: the function they make of all rows is what those
/// expect. A factorisation of a quarter of the rows takes a sixty-fourth of the time, and saves several of all.
fn coarse_weights(
    covariance: MatrixRef<'_>,
    likelihood: &Likelihood,
    seen: &Observations,
) -> Option<Vec<f64>> {
    let rows: Vec<usize> = (0..covariance.nrows()).step_by(COARSENESS).collect();
    let count = rows.len();
    let few = Matrix::from_fn(count, count, |i, j| covariance[(rows[i], rows[j])]);
    let memory = Matrix::zeros(count, count);
    let own = seen.select(&rows);
    let mode = find_mode(
        few.as_ref(),
        likelihood,
        &own,
        None,
        memory,
        COARSELY_SETTLED,
    )
    .ok()?;
    let mut weights = vec![0.0; covariance.nrows()];
    for (row, weight) in rows.into_iter().zip(mode.weights) {
        weights[row] = weight;
    }
    Some(weights)
}

/// The mode at a point where the iteration settled; `factor` belongs to the curvatures of the last step.
///
/// For concave log densities those are the mode's own, up to a step too small to matter, and are kept. Where the
/// evidence wants the expected curvature, B is factored once more.
fn finish(
    covariance: MatrixRef<'_>,
    point: Point,
    root: Vec<f64>,
    factor: Factor,
    steps: usize,
) -> Result<Mode> {
    let (root, factor) = if point.terms.iter().all(is_concave) {
        (root, factor)
    } else {
        let own: Vec<f64> = point.terms.iter().map(|t| t.curvature.sqrt()).collect();
        let factor = factor_scaled(covariance, &own, factor.into_matrix())?;
        (own, factor)
    };
    Ok(Mode {
        latent: point.latent,
        weights: point.weights,
        terms: point.terms,
        root,
        factor,
        objective: point.objective,
        steps,
    })
}

/// True where the curvature that counts is the curvature itself.
fn is_concave(term: &Derivatives) -> bool {
    term.curvature == term.observed_curvature
}

/// Factors `I + D K D`, whose smallest eigenvalue is at least 1.
pub(crate) fn factor_scaled(
    covariance: MatrixRef<'_>,
    root: &[f64],
    memory: Matrix,
) -> Result<Factor> {
    Factor::in_matrix(memory, JitterPolicy::default(), |out| {
        fill_scaled_lower(out, covariance, root);
    })
}

/// `D B^-1 D vector`.
pub(crate) fn scaled_solve(root: &[f64], factor: &Factor, vector: &[f64]) -> Vec<f64> {
    let mut column = Matrix::from_fn(vector.len(), 1, |row, _| root[row] * vector[row]);
    factor.solve(column.as_mut());
    let entries = column.col_as_slice(0);
    entries.iter().zip(root).map(|(x, d)| x * d).collect()
}

/// The change of the weights in a Newton step, `(I + W K)^-1 (g - a)`; with W and `g - a` times `ease` in a damped one.
///
/// The textbook's `a = b - D B^-1 D K b` with `b = W f + g` is the same in exact arithmetic, but loses the digits that
/// `W f` has more than a: for large counts all that matter.
fn newton_change(
    covariance: MatrixRef<'_>,
    mut residual: Vec<f64>,
    ease: f64,
    root: &[f64],
    factor: &Factor,
) -> Vec<f64> {
    residual.iter_mut().for_each(|own| *own *= ease);
    let correction = scaled_solve(root, factor, &symmetric_times(covariance, &residual));
    residual
        .iter()
        .zip(&correction)
        .map(|(r, c)| r - c)
        .collect()
}

/// The first of the steps 1, 1/2, 1/4, ... that improves the objective, with its share of the full step.
///
/// A damped step may be lengthened instead, 2, 4, ..., while that improves the objective further.
fn advance(
    likelihood: &Likelihood,
    seen: &Observations,
    here: &Point,
    change: &[f64],
    move_by: &[f64],
    promised: f64,
    ease: f64,
) -> Option<(Point, f64)> {
    let after = |share: f64| {
        let along = |from: &[f64], step: &[f64]| -> Vec<f64> {
            from.iter().zip(step).map(|(a, d)| a + share * d).collect()
        };
        let weights = along(&here.weights, change);
        let latent = along(&here.latent, move_by);
        Point::at(likelihood, seen, weights, latent)
    };
    // Near the top rounding hides the gain; the step is right all the same.
    let allowance = ROUNDING * (1.0 + here.objective.abs());
    let mut share = 1.0;
    for _ in 0..MOST_HALVINGS {
        let mut next = after(share);
        if next.objective >= here.objective + 1e-4 * share * promised - allowance {
            while ease < 1.0 && (1.0..LONGEST).contains(&share) {
                let further = after(2.0 * share);
                if further.objective.partial_cmp(&next.objective) != Some(Ordering::Greater) {
                    break;
                }
                (next, share) = (further, 2.0 * share);
            }
            return Some((next, share));
        }
        share *= 0.5;
    }
    None
}
