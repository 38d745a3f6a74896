//! Rows as nothing but landmarks see them, and the most probable function among those landmarks can tell apart.

use quorate_gp::data::Inputs;
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::{Derivatives, Likelihood, Observations};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot};
use quorate_gp::{Error, Result};
use rayon::prelude::*;

use super::CHUNK;
use crate::landmarks::Landmarks;

/// Newton steps before a point of the search is given up.
const MOST_STEPS: usize = 60;
/// Halvings of one step.
const MOST_HALVINGS: usize = 40;
/// A step that promises less than this for each row is not taken. The determinant feels the mode to first order, so that
/// the evidence is right to the square root of it.
const SETTLED: f64 = 1e-13;

/// Rows as the landmarks see them: `V`, some columns at a time.
pub(super) struct Projection<'a> {
    pub landmarks: Landmarks,
    pub pieces: Vec<Piece<'a>>,
}

pub(super) struct Piece<'a> {
    pub inputs: Inputs<'a>,
    first: usize,
    /// `V` of these rows: landmarks x rows.
    pub whitened: Matrix,
}

impl Piece<'_> {
    pub fn of<'b, T>(&self, all: &'b [T]) -> &'b [T] {
        &all[self.first..self.first + self.inputs.rows()]
    }
}

/// The most probable weights, and what the evidence needs there.
pub(super) struct Mode {
    /// `a`.
    pub weights: Vec<f64>,
    /// `f = V'a`.
    pub latent: Vec<f64>,
    pub terms: Vec<Derivatives>,
    /// `sum log p(y | f) - 1/2 a'a`.
    pub objective: f64,
    /// Of `B`.
    pub factor: Factor,
}

impl<'a> Projection<'a> {
    pub fn new(kernel: &BoundKernel, places: Inputs<'_>, inputs: Inputs<'a>) -> Result<Self> {
        let landmarks = Landmarks::new(kernel.clone(), places)?;
        let starts: Vec<usize> = (0..inputs.rows()).step_by(CHUNK).collect();
        let pieces = starts
            .into_par_iter()
            .map(|first| {
                let inputs = inputs.slice(first, (first + CHUNK).min(inputs.rows()));
                let whitened = landmarks.whitened(inputs);
                Piece {
                    inputs,
                    first,
                    whitened,
                }
            })
            .collect();
        Ok(Self { landmarks, pieces })
    }

    /// `V'w` of all rows.
    pub fn along(&self, weights: &[f64]) -> Vec<f64> {
        let of = |piece: &Piece<'_>| -> Vec<f64> {
            let rows = 0..piece.inputs.rows();
            rows.map(|row| dot(piece.whitened.col_as_slice(row), weights))
                .collect()
        };
        let all: Vec<Vec<f64>> = self.pieces.par_iter().map(of).collect();
        all.concat()
    }

    /// `V x` of something for each row.
    pub fn gathered(&self, each: &[f64]) -> Vec<f64> {
        let of = |piece: &Piece<'_>| {
            let mut sum = vec![0.0; self.landmarks.count()];
            for (row, value) in piece.of(each).iter().enumerate() {
                let column = piece.whitened.col_as_slice(row);
                let both = sum.iter_mut().zip(column);
                both.for_each(|(sum, v)| *sum += value * v);
            }
            sum
        };
        let all: Vec<Vec<f64>> = self.pieces.par_iter().map(of).collect();
        let mut total = vec![0.0; self.landmarks.count()];
        for own in &all {
            total.iter_mut().zip(own).for_each(|(sum, v)| *sum += v);
        }
        total
    }

    /// Factor of `I + V w V'`, for weights of rows that are not negative.
    fn factor(&self, weights: &[f64]) -> Result<Factor> {
        let count = self.landmarks.count();
        let of = |piece: &Piece<'_>| {
            // Rows of w^1/2 V', whose inner products are V w V'.
            let own = piece.of(weights);
            let scaled = Matrix::from_fn(own.len(), count, |row, landmark| {
                own[row].sqrt() * piece.whitened[(landmark, row)]
            });
            let mut information = Matrix::zeros(count, count);
            add_gram_lower(information.as_mut(), 1.0, scaled.as_ref());
            information
        };
        let all: Vec<Matrix> = self.pieces.par_iter().map(of).collect();
        Factor::new(count, JitterPolicy::default(), |mut out| {
            out.fill(0.0);
            for own in &all {
                out += own;
            }
            for i in 0..count {
                out[(i, i)] += 1.0;
            }
        })
    }

    /// Newton's method, steps halved until the objective grows. Steps take the curvature itself where it is positive: with its
    /// expectation a heavy tail is approached slowly. The factor is that of `B` at the last point.
    pub fn mode(
        &self,
        likelihood: &Likelihood,
        seen: &Observations,
        start: Vec<f64>,
    ) -> Result<Mode> {
        let at = |weights: &[f64]| {
            let latent = self.along(weights);
            let terms = likelihood.derivatives_of(seen, &latent);
            let fit: f64 = terms.iter().map(|term| term.log_density).sum();
            (latent, terms, fit - 0.5 * dot(weights, weights))
        };
        let (mut weights, mut here) = (start.clone(), at(&start));
        let nothing = vec![0.0; start.len()];
        let from_nothing = at(&nothing);
        if !here.2.is_finite() || from_nothing.2 > here.2 {
            (weights, here) = (nothing, from_nothing);
        }
        for _ in 0..MOST_STEPS {
            let own = |term: &Derivatives| term.observed_curvature.max(0.0);
            let factor = self.factor(&here.1.iter().map(own).collect::<Vec<f64>>())?;
            let slopes: Vec<f64> = here.1.iter().map(|term| term.slope).collect();
            let mut slope = self.gathered(&slopes);
            let prior = slope.iter_mut().zip(&weights);
            prior.for_each(|(slope, weight)| *slope -= weight);
            let mut change = Matrix::from_fn(slope.len(), 1, |row, _| slope[row]);
            factor.solve(change.as_mut());
            let change = change.col_as_slice(0);
            let promised = 0.5 * dot(change, &slope);
            let mut share = 1.0;
            let mut next = None;
            if promised > (SETTLED * here.0.len() as f64).max(1e-14 * here.2.abs()) {
                for _ in 0..MOST_HALVINGS {
                    let moved = weights.iter().zip(change);
                    let moved: Vec<f64> = moved.map(|(a, d)| a + share * d).collect();
                    let there = at(&moved);
                    if there.2 >= here.2 + 1e-4 * share * promised {
                        next = Some((moved, there));
                        break;
                    }
                    share *= 0.5;
                }
            }
            match next {
                Some((moved, there)) => (weights, here) = (moved, there),
                None => break,
            }
        }
        let (latent, terms, objective) = here;
        if !objective.is_finite() {
            return Err(Error::NotFinite {
                what: "the log likelihood at the mode through landmarks",
            });
        }
        let curvature: Vec<f64> = terms.iter().map(|term| term.curvature.max(0.0)).collect();
        Ok(Mode {
            factor: self.factor(&curvature)?,
            weights,
            latent,
            terms,
            objective,
        })
    }
}
