//! Scores of rows that come one after the other: sums of fixed size, whatever the number of rows.

use std::f64::consts::PI;

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use super::{Scores, Yardstick};
use crate::error::{Error, Result};
use crate::hyper::Mixture;
use crate::prediction::standard_quantile;

/// Probabilities of the central intervals that are scored.
const LEVELS: [f64; 3] = [0.5, 0.9, 0.95];

/// The sums behind [`Scores`]. Rows are added in their order, so any cut of a table into batches gives the same bits.
#[derive(Clone, Debug)]
pub struct ScoreSum {
    yardstick: Yardstick,
    /// Half widths of the intervals, in deviations.
    reach: [f64; 3],
    rows: usize,
    weight: f64,
    squared_error: f64,
    absolute_error: f64,
    crps: f64,
    nlpd: f64,
    /// Of a Gaussian with the training targets' mean and variance.
    trivial: f64,
    inside: [f64; 3],
    widths: [f64; 3],
    /// Mean of the targets so far, and their sum of squares about it (Welford 1962): sums of squares about any other
    /// point would cancel where the targets are far from it.
    centre: f64,
    scatter: f64,
}

impl ScoreSum {
    /// Nothing scored yet.
    pub fn new(yardstick: Yardstick) -> Self {
        Self {
            yardstick,
            reach: LEVELS.map(|level| standard_quantile(0.5 + level / 2.0)),
            rows: 0,
            weight: 0.0,
            squared_error: 0.0,
            absolute_error: 0.0,
            crps: 0.0,
            nlpd: 0.0,
            trivial: 0.0,
            inside: [0.0; 3],
            widths: [0.0; 3],
            centre: 0.0,
            scatter: 0.0,
        }
    }

    /// Adds one row with a Gaussian prediction of its target; `weight` counts it that often.
    pub fn add(&mut self, target: f64, mean: f64, variance: f64, weight: f64) {
        self.rows += 1;
        if weight == 0.0 {
            return;
        }
        let error = target - mean;
        let deviation = variance.sqrt();
        self.weight += weight;
        self.squared_error += weight * error.powi(2);
        self.absolute_error += weight * error.abs();
        self.crps += weight * crps(error, deviation);
        self.nlpd += weight * negative_log_density(error, variance);
        let Yardstick {
            mean: plain,
            deviation: spread,
        } = self.yardstick;
        self.trivial += weight * negative_log_density(target - plain, spread.powi(2));
        let intervals = self.inside.iter_mut().zip(&mut self.widths);
        for ((inside, width), reach) in intervals.zip(self.reach) {
            if error.abs() <= reach * deviation {
                *inside += weight;
            }
            *width += weight * 2.0 * reach * deviation;
        }
        let before = target - self.centre;
        self.centre += before * (weight / self.weight);
        self.scatter += weight * before * (target - self.centre);
    }

    /// Replaces the density, the ranked probability score and the intervals of the row just added with this weight, which
    /// were those of a Gaussian, by those of the mixture with the same mean and variance.
    pub fn correct(&mut self, target: f64, mixture: &Mixture, row: usize, weight: f64) {
        if weight == 0.0 {
            return;
        }
        let (mean, variance) = mixture.moments(row);
        let (error, deviation) = (target - mean, variance.sqrt());
        self.nlpd -=
            weight * (mixture.log_density(row, target) + negative_log_density(error, variance));
        self.crps += weight * (mixture.crps(row, target) - crps(error, deviation));
        let off = (mixture.below(row, target, false) - 0.5).abs();
        let intervals = self.inside.iter_mut().zip(&mut self.widths);
        for (((inside, width), reach), level) in intervals.zip(self.reach).zip(LEVELS) {
            let gaussian = error.abs() <= reach * deviation;
            let mixed = off <= 0.5 * level;
            *inside += weight * (f64::from(u8::from(mixed)) - f64::from(u8::from(gaussian)));
            let [low, high] =
                [0.5 - 0.5 * level, 0.5 + 0.5 * level].map(|p| mixture.quantile(row, p, false));
            *width += weight * (high - low - 2.0 * reach * deviation);
        }
    }

    /// Rows added so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The scores of all rows added; an error when there are none.
    pub fn scores(&self) -> Result<Scores> {
        if self.rows == 0 {
            return Err(Error::Spec("there are no rows to score".into()));
        }
        let average = |sum: f64| sum / self.weight;
        let [coverage_50, coverage_90, coverage_95] = self.inside.map(average);
        let [width_50, width_90, width_95] = self.widths.map(average);
        let mse = average(self.squared_error);
        let spread = average(self.scatter);
        let nlpd = average(self.nlpd);
        Ok(Scores {
            n: self.rows,
            rmse: mse.sqrt(),
            mae: average(self.absolute_error),
            crps: average(self.crps),
            nlpd,
            coverage_50,
            coverage_90,
            coverage_95,
            width_50,
            width_90,
            width_95,
            smse: (spread > 0.0).then(|| mse / spread),
            msll: nlpd - average(self.trivial),
            rmse_standardised: mse.sqrt() / self.yardstick.deviation,
            nlpd_standardised: nlpd - self.yardstick.deviation.ln(),
        })
    }
}

fn negative_log_density(error: f64, variance: f64) -> f64 {
    0.5 * (2.0 * PI * variance).ln() + 0.5 * error * error / variance
}

/// CRPS of a Gaussian (Gneiting and Raftery 2007, eq. 21, with the sign that makes it a loss).
fn crps(error: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return error.abs();
    }
    let standard = Normal::standard();
    let z = error / deviation;
    deviation * (z * (2.0 * standard.cdf(z) - 1.0) + 2.0 * standard.pdf(z) - 1.0 / PI.sqrt())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The formulas of the glossary as sums over vectors, two passes where they say so.
    fn plainly(rows: &[(f64, f64, f64, f64)], yardstick: Yardstick) -> Vec<f64> {
        let total: f64 = rows.iter().map(|row| row.3).sum();
        let average = |term: &dyn Fn(f64, f64, f64) -> f64| {
            rows.iter()
                .map(|&(y, m, v, w)| w * term(y, m, v.sqrt()))
                .sum::<f64>()
                / total
        };
        let density = |e: f64, s: f64| 0.5 * (2.0 * PI * s * s).ln() + e * e / (2.0 * s * s);
        let centre = average(&|y, _, _| y);
        let mse = average(&|y, m, _| (y - m).powi(2));
        let nlpd = average(&|y, m, s| density(y - m, s));
        let trivial = average(&|y, _, _| density(y - yardstick.mean, yardstick.deviation));
        vec![
            mse.sqrt(),
            nlpd,
            average(&|y, m, s| f64::from(u8::from((y - m).abs() <= 1.959_963_984_540_054 * s))),
            mse / average(&|y, _, _| (y - centre).powi(2)),
            nlpd - trivial,
        ]
    }

    #[test]
    fn sums_equal_the_formulas_over_vectors_even_far_from_zero() {
        let yardstick = Yardstick {
            mean: 3.0,
            deviation: 2.0,
        };
        for offset in [0.0, 1e8] {
            let rows: Vec<(f64, f64, f64, f64)> = (0..500)
                .map(|row| {
                    let x = f64::from(row);
                    let y = offset + (x * 0.7).sin() * 2.0;
                    let m = y + (x * 1.3).cos() * 0.3;
                    (y, m, 0.02 + (x * 0.11).sin().powi(2) * 0.1, 1.0 + x % 3.0)
                })
                .collect();
            let mut sum = ScoreSum::new(yardstick);
            for &(y, m, v, w) in &rows {
                sum.add(y, m, v, w);
            }
            let found = sum.scores().unwrap();
            let ours = [
                found.rmse,
                found.nlpd,
                found.coverage_95,
                found.smse.unwrap(),
                found.msll,
            ];
            for (ours, plain) in ours.iter().zip(plainly(&rows, yardstick)) {
                assert!((ours - plain).abs() <= 1e-9 * plain.abs(), "{ours} {plain}");
            }
            assert_eq!(found.n, 500);
        }
    }

    #[test]
    fn equal_targets_have_no_share_of_variance_and_no_rows_no_scores() {
        let yardstick = Yardstick {
            mean: 0.0,
            deviation: 1.0,
        };
        let mut sum = ScoreSum::new(yardstick);
        assert!(sum.scores().is_err());
        for _ in 0..7 {
            sum.add(0.1, 0.0, 1.0, 0.3);
        }
        assert_eq!(sum.scores().unwrap().smse, None);
    }
}
