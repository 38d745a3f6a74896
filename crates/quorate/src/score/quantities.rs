//! Scores of predicted counts, amounts and lifetimes.

use quorate_gp::data::{Quantity, Sighting};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::survival::{Lifetime, brier_at, concordance, quartiles};
use crate::error::{Error, Result};
use crate::task::QuantityPrediction;

/// Probabilities of the central intervals that are scored.
const LEVELS: [f64; 3] = [0.5, 0.9, 0.95];

/// How good predictions of a count, an amount or a lifetime are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantityScores {
    /// Rows scored.
    pub n: usize,
    /// Rows whose target was observed; the others are right-censored and count in the log density and the ranking alone.
    pub observed: usize,
    /// Root mean squared error of the mean.
    pub rmse: f64,
    /// Mean absolute error of the mean.
    pub mae: f64,
    /// Negative log predictive density (or probability, or survival of censored rows), mean per row.
    pub nlpd: f64,
    /// Share of targets inside the central 50 % interval.
    pub coverage_50: f64,
    /// Share of targets inside the central 90 % interval.
    pub coverage_90: f64,
    /// Share of targets inside the central 95 % interval.
    pub coverage_95: f64,
    /// Mean of `2 (y log(y / mean) - y + mean)`; counts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson_deviance: Option<f64>,
    /// Share of pairs of lifetimes whose order was foretold (Harrell and others 1982); lifetimes only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concordance: Option<f64>,
    /// Squared error of the survival probability at given times, censored rows made up for; lifetimes only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brier_at: Vec<BrierAt>,
}

/// The Brier score of the survival probability at one time (Graf and others 1999).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrierAt {
    /// The time.
    pub time: f64,
    /// Mean squared error.
    pub brier: f64,
}

/// The sums behind [`QuantityScores`]; of lifetimes, the rows themselves are kept until the end.
#[derive(Clone, Debug, Default)]
pub struct QuantitySum {
    rows: usize,
    weight: f64,
    observed: usize,
    observed_weight: f64,
    squared_error: f64,
    absolute_error: f64,
    nlpd: f64,
    inside: [f64; 3],
    deviance: Option<f64>,
    horizons: Vec<f64>,
    lifetimes: Option<(QuantityPrediction, Vec<Lifetime>)>,
}

/// What one row adds.
struct Own {
    mean: f64,
    log_density: f64,
    inside: [bool; 3],
}

impl QuantitySum {
    /// Nothing scored yet; Brier scores at these times, or at the quartiles of the lifetimes that were observed.
    pub fn new(horizons: &[f64]) -> Self {
        Self {
            horizons: horizons.to_vec(),
            ..Self::default()
        }
    }

    /// Adds rows with what was predicted of them; weights count each row that often.
    pub fn add(
        &mut self,
        seen: &[Sighting],
        prediction: &QuantityPrediction,
        weights: Option<&[f64]>,
    ) {
        let means = prediction.mean();
        let rows: Vec<Own> = (seen.par_iter().enumerate())
            .map(|(row, own)| Own {
                mean: means[row],
                log_density: prediction.log_density(row, own),
                inside: inside(prediction, row, own),
            })
            .collect();
        let counts = prediction.code.quantity == Quantity::Count;
        for (row, (own, seen)) in rows.iter().zip(seen).enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            self.rows += 1;
            if weight == 0.0 {
                continue;
            }
            self.weight += weight;
            self.nlpd -= weight * own.log_density;
            if !seen.observed {
                continue;
            }
            self.observed += 1;
            self.observed_weight += weight;
            let error = seen.value - own.mean;
            self.squared_error += weight * error * error;
            self.absolute_error += weight * error.abs();
            for (sum, inside) in self.inside.iter_mut().zip(own.inside) {
                *sum += if inside { weight } else { 0.0 };
            }
            if counts {
                *self.deviance.get_or_insert(0.0) += weight * deviance(seen.value, own.mean);
            }
        }
        if prediction.likelihood.takes_censoring() {
            let kept = rows.iter().zip(seen).map(|(own, seen)| Lifetime {
                time: seen.value,
                observed: seen.observed,
                expected: own.mean,
            });
            match &mut self.lifetimes {
                Some((all, lifetimes)) => {
                    lifetimes.extend(kept);
                    all.append(prediction.clone());
                }
                None => self.lifetimes = Some((prediction.clone(), kept.collect())),
            }
        }
    }

    /// The scores of all rows added; an error when there are none.
    pub fn scores(&self) -> Result<QuantityScores> {
        if self.rows == 0 || self.weight == 0.0 {
            return Err(Error::Spec("there are no rows to score".into()));
        }
        if self.observed == 0 {
            return Err(Error::Spec(
                "every row is censored: there is no target to score".into(),
            ));
        }
        let average = |sum: f64| sum / self.observed_weight;
        let [coverage_50, coverage_90, coverage_95] = self.inside.map(average);
        let mut found = QuantityScores {
            n: self.rows,
            observed: self.observed,
            rmse: average(self.squared_error).sqrt(),
            mae: average(self.absolute_error),
            nlpd: self.nlpd / self.weight,
            coverage_50,
            coverage_90,
            coverage_95,
            poisson_deviance: self.deviance.map(average),
            concordance: None,
            brier_at: Vec::new(),
        };
        if let Some((prediction, lifetimes)) = &self.lifetimes {
            found.concordance = concordance(lifetimes);
            let times = match &self.horizons[..] {
                [] => quartiles(lifetimes),
                given => given.to_vec(),
            };
            let scores = times.iter().filter_map(|&time| {
                let survival = prediction.survival(time);
                brier_at(lifetimes, &survival, time).map(|brier| BrierAt { time, brier })
            });
            found.brier_at = scores.collect();
        }
        Ok(found)
    }
}

/// Whether a target lies inside each central interval, its ends included. Told by the distribution alone:
/// `y >= q(p)` says the same as `F(y) >= p`, and `y <= q(p)` that everything below y has less than p.
fn inside(prediction: &QuantityPrediction, row: usize, seen: &Sighting) -> [bool; 3] {
    let at = prediction.distribution(row, seen.value);
    let below = match prediction.code.quantity {
        Quantity::Count => prediction.distribution(row, seen.value - 1.0),
        _ => at,
    };
    LEVELS.map(|level| {
        let tail = 0.5 - 0.5 * level;
        at >= tail && below <= 1.0 - tail
    })
}

/// Poisson deviance of one count.
fn deviance(count: f64, mean: f64) -> f64 {
    let surprise = if count > 0.0 {
        count * (count / mean).ln()
    } else {
        0.0
    };
    2.0 * (surprise - count + mean)
}
