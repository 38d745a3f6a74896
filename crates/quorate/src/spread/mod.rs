//! How wide answers are, as a function of what they say and of where they were asked.
//!
//! A Gaussian process with one noise says the same deviation wherever rows are equally dense. In tables of the world the
//! spread of the target depends on its size and on the inputs: delays vary more on days when all are late. Rows that were
//! left out show it. Their squared errors, in units of the variance they were foretold with, are regressed on the answer
//! and the inputs (a log-linear variance function, Carroll and Ruppert 1988, ch. 3), and the variances of new answers are
//! multiplied by what is found. What is left of the errors in these units says how heavy their tails are. The means stay.

mod learn;
mod search;
mod tails;

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::Joint;
use serde::{Deserialize, Serialize};

pub(crate) use learn::{Lesson, Unseen, learn, learn_level};
pub use tails::Tails;

use crate::prediction::Prediction;

/// Standardised inputs count up to this far from their mean: the squares of a few far rows would outweigh all others.
const REACH: f64 = 1.5;

/// The logarithm of the factor of an answer's variance: a curve in the answer, and a parabola in each input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Answers, standardised and increasing, between which the curve is straight; it is level beyond the outer ones.
    pub answers: Vec<f64>,
    /// The curve at these answers.
    pub curve: Vec<f64>,
    /// What each input adds, in the order of their columns.
    pub inputs: Vec<Parabola>,
    /// The least and the greatest logarithm that rows left out have shown.
    pub range: (f64, f64),
    /// What errors beyond the usual ones are like; models of earlier builds have none.
    #[serde(default)]
    pub tails: Option<Tails>,
}

/// What one input adds to the logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parabola {
    /// Number of the encoded column.
    pub column: usize,
    /// Times the standardised input.
    pub slope: f64,
    /// Times its square less one.
    pub bend: f64,
}

impl Spread {
    /// The factor of the variance of an answer about a row of encoded inputs.
    pub fn factor(&self, answer: f64, row: &[f64]) -> f64 {
        let mut terms = vec![0.0; self.terms()];
        self.basis().fill(answer, row, &mut terms);
        let bends = self.inputs.iter().flat_map(|own| [own.slope, own.bend]);
        let weights = self.curve.iter().copied().chain(bends);
        let logarithm: f64 = terms.iter().zip(weights).map(|(t, w)| t * w).sum();
        logarithm.clamp(self.range.0, self.range.1).exp()
    }

    /// The factors of answers about encoded rows.
    fn factors<'a>(
        &'a self,
        answers: impl Iterator<Item = f64> + 'a,
        query: Inputs<'a>,
    ) -> impl Iterator<Item = f64> + 'a {
        answers
            .enumerate()
            .map(move |(row, answer)| self.factor(answer, query.row(row)))
    }

    /// Gives a prediction its spread; `answers` are its means, standardised, and `unit` is the variance of the targets.
    pub(crate) fn widen(
        &self,
        prediction: &mut Prediction,
        answers: impl Iterator<Item = f64>,
        query: Inputs<'_>,
        unit: f64,
    ) {
        self.widen_by(prediction, self.factors(answers, query), unit);
    }

    /// Gives a prediction these factors, and the tails.
    pub(crate) fn widen_by(
        &self,
        prediction: &mut Prediction,
        factors: impl Iterator<Item = f64>,
        unit: f64,
    ) {
        let Prediction {
            latent_variance,
            noise_variance,
            ..
        } = prediction;
        let each = latent_variance.iter_mut().zip(noise_variance);
        for ((latent, noise), factor) in each.zip(factors) {
            *latent *= factor;
            *noise *= factor;
        }
        if let Some(tails) = &self.tails {
            tails.add(prediction, unit);
        }
    }

    /// Gives answers about rows together their spread, correlations unchanged; returns the variance of each row's noise,
    /// where that of all was `noise`.
    pub(crate) fn widen_joint(&self, joint: &mut Joint, query: Inputs<'_>, noise: f64) -> Vec<f64> {
        let answers = (0..query.rows()).map(|row| joint.mean[(row, 0)]);
        let factors: Vec<f64> = self.factors(answers, query).collect();
        for (column, own) in factors.iter().enumerate() {
            for (row, other) in factors.iter().enumerate() {
                joint.covariance[(row, column)] *= (own * other).sqrt();
            }
        }
        let noises = factors.iter().enumerate().map(|(row, factor)| {
            let (latent, noise) = (joint.covariance[(row, row)], factor * noise);
            self.tails.map_or(noise, |own| own.noise(latent, noise))
        });
        noises.collect()
    }

    /// The least and the greatest factor of a deviation.
    pub fn extremes(&self) -> (f64, f64) {
        ((0.5 * self.range.0).exp(), (0.5 * self.range.1).exp())
    }

    /// True when it can be used with rows of so many encoded columns, which that of a damaged file need not.
    pub(crate) fn is_sound(&self, width: usize) -> bool {
        let parabolas = self.inputs.iter().flat_map(|own| [own.slope, own.bend]);
        let numbers = self.answers.iter().chain(&self.curve).copied();
        let ends = [self.range.0, self.range.1];
        !self.answers.is_empty()
            && self.answers.len() == self.curve.len()
            && self.answers.is_sorted_by(|a, b| a < b)
            && self.inputs.iter().all(|own| own.column < width)
            && numbers.chain(parabolas).all(f64::is_finite)
            && ends.iter().all(|end| end.abs() <= learn::WIDEST)
            && self.range.0 <= self.range.1
            && self.tails.is_none_or(|tails| tails.is_sound())
    }

    fn basis(&self) -> Basis<'_, impl Iterator<Item = usize> + Clone> {
        Basis {
            answers: &self.answers,
            columns: self.inputs.iter().map(|own| own.column),
        }
    }

    fn terms(&self) -> usize {
        self.curve.len() + 2 * self.inputs.len()
    }
}

/// The terms that a logarithm is a weighted sum of.
struct Basis<'a, C> {
    answers: &'a [f64],
    columns: C,
}

impl<C: Iterator<Item = usize> + Clone> Basis<'_, C> {
    /// Writes the terms of one row: hats over the answers, then value and square of each input.
    fn fill(&self, answer: f64, row: &[f64], terms: &mut [f64]) {
        let (hats, parabolas) = terms.split_at_mut(self.answers.len());
        hats.fill(0.0);
        let next = self.answers.partition_point(|place| *place <= answer);
        match (next.checked_sub(1), self.answers.get(next)) {
            (Some(before), Some(after)) => {
                let start = self.answers[before];
                let share = (answer - start) / (after - start);
                hats[before] = 1.0 - share;
                hats[next] = share;
            }
            (Some(last), None) => hats[last] = 1.0,
            (None, _) => hats[0] = 1.0,
        }
        for (pair, column) in parabolas.chunks_exact_mut(2).zip(self.columns.clone()) {
            let value = row[column].clamp(-REACH, REACH);
            pair.copy_from_slice(&[value, value * value - 1.0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread() -> Spread {
        Spread {
            answers: vec![-1.0, 0.0, 2.0],
            curve: vec![-0.5, 0.0, 1.0],
            inputs: vec![Parabola {
                column: 1,
                slope: 0.2,
                bend: -0.1,
            }],
            range: (-3.0, 3.0),
            tails: Some(Tails {
                wide: 0.1,
                factor: 5.0,
                stray: 0.001,
            }),
        }
    }

    #[test]
    fn the_factor_is_the_curve_and_the_parabolas() {
        let spread = spread();
        for (answer, input, logarithm) in [
            (-5.0, 1.0, -0.5 + 0.2),
            (-1.0, 0.0, -0.5 + 0.1),
            (-0.5, 1.0, -0.25 + 0.2),
            (1.0, -0.5, 0.5 - 0.1 + 0.075),
            (7.0, 9.0, 1.0 + 0.3 - 0.125),
        ] {
            let found = spread.factor(answer, &[99.0, input]).ln();
            assert!((found - logarithm).abs() < 1e-14, "{answer} {input}");
        }
    }

    #[test]
    fn a_damaged_spread_is_noticed() {
        assert!(spread().is_sound(2));
        assert!(!spread().is_sound(1));
        let damages: [fn(&mut Spread); 6] = [
            |own| own.tails = own.tails.map(|tails| Tails { wide: 2.0, ..tails }),
            |own| own.answers[1] = 3.0,
            |own| own.curve[0] = f64::NAN,
            |own| own.range = (1.0, -1.0),
            |own| own.range.1 = f64::INFINITY,
            |own| {
                own.curve.pop();
            },
        ];
        for damage in damages {
            let mut own = spread();
            damage(&mut own);
            assert!(!own.is_sound(2), "{own:?}");
        }
    }
}
