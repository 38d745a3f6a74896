//! The most probable function among those the landmarks can tell apart.

use quorate_gp::data::{Dataset, Schema};
use quorate_gp::kernel::tiles;
use quorate_gp::likelihood::{Derivatives, Observations};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot};
use quorate_gp::watch::Watch;

use super::{CHUNK, Expansion, values};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::latent::observations;
use crate::task::Through;

/// Newton steps before it is good enough: any function will do to expand at, and the committee takes one more step.
const MOST_STEPS: usize = 30;
/// Halvings of one step before giving up.
const MOST_HALVINGS: usize = 40;
/// A step that promises less than this for each row is not worth its price.
const WORTH: f64 = 1e-6;

/// A point of the search.
struct Point {
    weights: Vec<f64>,
    terms: Vec<Derivatives>,
    objective: f64,
}

impl Expansion {
    /// Maximises `sum_i log p(y_i | v_i' a) - 1/2 a'a` over the whitened weights a, from `start` or zero: Laplace's method
    /// for the process that is nothing but its landmarks (the projected process of Rasmussen and Williams 2006, sec.
    /// 8.3.4). Newton steps with `B = I + V W V'`, halved until the objective grows.
    pub fn find(
        landmarks: &Landmarks,
        through: Through,
        schema: &Schema,
        data: &Dataset,
        start: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let seen = observations(schema, data, through)?;
        through.likelihood.check(&seen)?;
        let at = |weights: Vec<f64>| Point::at(landmarks, through, data, &seen, weights);
        let mut here = at(vec![0.0; landmarks.count()]);
        if let Some(start) = start.filter(|start| start.len() == landmarks.count()) {
            let warm = at(start.to_vec());
            if warm.objective > here.objective {
                here = warm;
            }
        }
        for step in 0..MOST_STEPS {
            watch.check()?;
            watch.progress("finding the common mode", step, MOST_STEPS);
            let (change, promised) = newton(landmarks, data, &here)?;
            if promised.is_nan() || promised <= WORTH * data.rows() as f64 {
                break;
            }
            let mut share = 1.0;
            let mut next = None;
            for _ in 0..MOST_HALVINGS {
                let moved = here.weights.iter().zip(&change);
                let there = at(moved.map(|(a, d)| a + share * d).collect());
                if there.objective >= here.objective + 1e-4 * share * promised {
                    next = Some(there);
                    break;
                }
                share *= 0.5;
            }
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        watch.progress("finding the common mode", MOST_STEPS, MOST_STEPS);
        if here.objective.is_finite() {
            Expansion::new(landmarks.clone(), through, &here.weights)
        } else {
            Err(Error::Gp(quorate_gp::Error::NotFinite {
                what: "the log likelihood at the function where rows expand",
            }))
        }
    }
}

impl Point {
    fn at(
        landmarks: &Landmarks,
        through: Through,
        data: &Dataset,
        seen: &Observations,
        weights: Vec<f64>,
    ) -> Self {
        let latent = values(landmarks, &weights, data.inputs());
        let terms = through.likelihood.derivatives_of(seen, &latent);
        let fit: f64 = terms.iter().map(|term| term.log_density).sum();
        let objective = fit - 0.5 * dot(&weights, &weights);
        Self {
            weights,
            terms,
            objective: if objective.is_nan() {
                f64::NEG_INFINITY
            } else {
                objective
            },
        }
    }
}

/// The full step `B^-1 (V g - a)`, and what the quadratic model promises of it.
fn newton(landmarks: &Landmarks, data: &Dataset, here: &Point) -> Result<(Vec<f64>, f64)> {
    let (count, inputs) = (landmarks.count(), data.inputs());
    let mut information = Matrix::zeros(count, count);
    let mut slope: Vec<f64> = here.weights.iter().map(|a| -a).collect();
    for first in (0..inputs.rows()).step_by(CHUNK) {
        let last = (first + CHUNK).min(inputs.rows());
        let some = inputs.slice(first, last);
        let mut whitened = tiles::block(landmarks.kernel(), landmarks.inputs(), some);
        landmarks.factor().whiten(whitened.as_mut());
        let terms = &here.terms[first..last];
        // Rows of W^1/2 V', whose inner products are V W V'.
        let mut scaled = Matrix::zeros(some.rows(), count);
        for (row, term) in terms.iter().enumerate() {
            let root = term.curvature.max(0.0).sqrt();
            for (landmark, v) in whitened.col_as_slice(row).iter().enumerate() {
                scaled[(row, landmark)] = root * v;
                slope[landmark] += v * term.slope;
            }
        }
        add_gram_lower(information.as_mut(), 1.0, scaled.as_ref());
    }
    let factor = Factor::new(count, JitterPolicy::default(), |mut out| {
        out.copy_from(&information);
        for i in 0..count {
            out[(i, i)] += 1.0;
        }
    })?;
    let mut change = Matrix::from_fn(count, 1, |row, _| slope[row]);
    factor.solve(change.as_mut());
    let change = change.col_as_slice(0).to_vec();
    let promised = 0.5 * dot(&change, &slope);
    Ok((change, promised))
}
