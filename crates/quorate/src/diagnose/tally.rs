//! Counts over predicted rows.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::reservoir::Reservoir;
use super::widths::{WidthClass, Widths};
use crate::error::Result;
use crate::hyper::Mixture;
use crate::prediction::{Prediction, standard_quantile};
use crate::score::{ScoreSum, Scores, Yardstick};

/// Bars of the histogram of probability integral transforms.
pub(super) const PIT_BARS: usize = 20;
/// Steps of the probabilities of central intervals: 5 %, 10 %, .. 95 %.
const LEVELS: usize = 19;

/// Counts over rows that were predicted without having been seen.
#[derive(Clone, Debug)]
pub struct Tally {
    scores: ScoreSum,
    weight: f64,
    pit: [f64; PIT_BARS],
    reach: [f64; LEVELS],
    inside: [f64; LEVELS],
    widths: Widths,
    sample: Reservoir<SampledRow>,
    /// Encoded columns that a sampled row keeps.
    columns: Vec<usize>,
}

/// One row of the sample that is kept for drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRow {
    /// Its place in the order of the rows, from 0.
    pub index: usize,
    /// Its target.
    pub target: f64,
    /// Predicted mean.
    pub mean: f64,
    /// Predicted standard deviation, noise included.
    pub deviation: f64,
    /// Encoded values of the columns that a map needs.
    pub place: Vec<f64>,
    /// All encoded inputs.
    pub inputs: Vec<f64>,
}

/// What the counts say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The scores, as `evaluate` gives them.
    pub scores: Scores,
    /// Share of the targets in each of twenty equal steps of their predicted distribution function; 0.05 each when
    /// calibrated (Dawid 1984; Gneiting, Balabdaoui and Raftery 2007, sec. 3.1).
    pub pit: Vec<f64>,
    /// Probability of a central interval, and the share of targets inside it.
    pub reliability: Vec<(f64, f64)>,
    /// Rows from the surest to the least sure: predicted deviation and error seen.
    pub widths: Vec<WidthClass>,
    /// Rows for drawing, in their order.
    #[serde(skip)]
    pub sample: Vec<SampledRow>,
}

impl Tally {
    /// Nothing counted yet; at most `sampled` rows will be kept, with the encoded `columns`.
    pub fn new(yardstick: Yardstick, columns: Vec<usize>, sampled: usize, seed: u64) -> Self {
        Self {
            scores: ScoreSum::new(yardstick),
            weight: 0.0,
            pit: [0.0; PIT_BARS],
            reach: std::array::from_fn(|step| standard_quantile(0.5 + level(step) / 2.0)),
            inside: [0.0; LEVELS],
            widths: Widths::default(),
            sample: Reservoir::new(sampled, seed),
            columns,
        }
    }

    /// Adds the rows that a prediction tells of, each with its target, its weight, which counts it that often, and its inputs.
    pub fn add_all<'r>(
        &mut self,
        told: &Prediction,
        rows: impl Iterator<Item = (f64, f64, &'r [f64])>,
    ) {
        let variance = told.variance(false);
        for (row, (target, weight, inputs)) in rows.enumerate() {
            let mixture = told.mixture.as_ref().map(|own| (own, row));
            self.add(
                target,
                (told.mean[row], variance[row]),
                mixture,
                weight,
                inputs,
            );
        }
    }

    /// Adds one row by its mean and variance; where the prediction is a mixture, by its row there.
    fn add(
        &mut self,
        target: f64,
        (mean, variance): (f64, f64),
        mixture: Option<(&Mixture, usize)>,
        weight: f64,
        inputs: &[f64],
    ) {
        let index = self.scores.rows();
        self.scores.add(target, mean, variance, weight);
        self.weight += weight;
        let deviation = variance.sqrt();
        let error = target - mean;
        let pit = if let Some((mixture, row)) = mixture {
            self.scores.correct(target, mixture, row, weight);
            mixture.below(row, target, false)
        } else if deviation > 0.0 {
            Normal::standard().cdf(error / deviation)
        } else {
            // A sure prediction puts all its mass on one point.
            0.5 + 0.5 * if error == 0.0 { 0.0 } else { error.signum() }
        };
        let bar = ((pit * PIT_BARS as f64).max(0.0) as usize).min(PIT_BARS - 1);
        self.pit[bar] += weight;
        for (step, (inside, reach)) in self.inside.iter_mut().zip(self.reach).enumerate() {
            let held = match mixture {
                Some(_) => (pit - 0.5).abs() <= 0.5 * level(step),
                None => error.abs() <= reach * deviation,
            };
            if held {
                *inside += weight;
            }
        }
        self.widths.add(deviation, error, weight);
        let columns = &self.columns;
        self.sample.offer(|| SampledRow {
            index,
            target,
            mean,
            deviation,
            place: columns.iter().map(|&column| inputs[column]).collect(),
            inputs: inputs.to_vec(),
        });
    }

    /// What was counted; an error when there were no rows.
    pub fn finish(self) -> Result<Diagnosis> {
        let scores = self.scores.scores()?;
        let share = |count: &f64| count / self.weight;
        let mut sample = self.sample.into_items();
        sample.sort_by_key(|row| row.index);
        Ok(Diagnosis {
            scores,
            pit: self.pit.iter().map(share).collect(),
            reliability: (0..LEVELS)
                .map(|step| (level(step), share(&self.inside[step])))
                .collect(),
            widths: self.widths.classes(),
            sample,
        })
    }
}

/// The probability of a central interval.
fn level(step: usize) -> f64 {
    (step + 1) as f64 / (LEVELS + 1) as f64
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PLAIN: Yardstick = Yardstick {
        mean: 0.0,
        deviation: 1.0,
    };

    #[test]
    fn targets_at_the_quantiles_of_their_prediction_are_calibrated() {
        let mut tally = Tally::new(PLAIN, vec![0], 50, 7);
        let rows = 2000;
        for row in 0..rows {
            let p = (f64::from(row) + 0.5) / f64::from(rows);
            let deviation = 0.5 + f64::from(row % 7);
            let target = 3.0 + deviation * standard_quantile(p);
            tally.add(
                target,
                (3.0, deviation * deviation),
                None,
                1.0,
                &[f64::from(row)],
            );
        }
        let found = tally.finish().unwrap();
        assert!(found.pit.iter().all(|share| (share - 0.05).abs() < 1e-3));
        assert!((found.pit.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (level, share) in &found.reliability {
            assert!((level - share).abs() < 2e-3, "{level} {share}");
        }
        let at = |wanted: f64| {
            let found = found.reliability.iter();
            found
                .filter(|(level, _)| (level - wanted).abs() < 1e-9)
                .map(|(_, share)| *share)
                .next()
                .unwrap()
        };
        assert_eq!(at(0.5), found.scores.coverage_50);
        assert_eq!(at(0.9), found.scores.coverage_90);
        assert_eq!(at(0.95), found.scores.coverage_95);
        assert_eq!(found.sample.len(), 50);
        let sampled = &found.sample[10];
        assert_eq!(sampled.place, [sampled.index as f64]);
        for class in &found.widths {
            assert!(
                (class.seen / class.predicted - 1.0).abs() < 0.1,
                "{class:?}"
            );
        }
    }

    #[test]
    fn sure_predictions_are_counted_at_the_ends() {
        let mut tally = Tally::new(PLAIN, vec![], 5, 0);
        for target in [1.0, 0.0, -1.0] {
            tally.add(target, (0.0, 0.0), None, 1.0, &[]);
        }
        let found = tally.finish().unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(
            (found.pit[0], found.pit[10], found.pit[19]),
            (third, third, third)
        );
        assert_eq!(found.sample.len(), 3);
        assert!(Tally::new(PLAIN, vec![], 5, 0).finish().is_err());
    }
}
