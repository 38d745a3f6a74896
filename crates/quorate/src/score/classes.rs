//! Scores of class probabilities: errors, log loss, calibration, ranking.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Steps of the confidence in the calibration table (Guo, Pleiss, Sun and Weinberger 2017).
const STEPS: usize = 15;

/// How good probabilities of classes are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassScores {
    /// Rows scored.
    pub n: usize,
    /// Share of rows whose likeliest class was theirs.
    pub accuracy: f64,
    /// Share of the others.
    pub error_rate: f64,
    /// Number of the others, counting weights.
    pub errors: f64,
    /// Mean negative log probability of the row's class.
    pub log_loss: f64,
    /// Mean squared distance of the probabilities from the truth: summed over the classes (Brier 1950), or for two
    /// classes that of the second's probability.
    pub brier: f64,
    /// Expected calibration error: mean distance between confidence and accuracy over the steps of the calibration
    /// table, weighted with their rows.
    pub ece: f64,
    /// Area under the ROC curve of the second of two classes; of more, the mean over each class against the others.
    /// Absent when no class has rows of both kinds.
    pub auc: Option<f64>,
    /// Rows by the probability of their likeliest class.
    pub calibration: Vec<Confidence>,
}

/// Rows whose likeliest class had a probability in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Least probability of the step.
    pub from: f64,
    /// Greatest.
    pub to: f64,
    /// Weight of its rows.
    pub rows: f64,
    /// Mean probability of their likeliest class.
    pub confidence: f64,
    /// Share of them whose class that was.
    pub accuracy: f64,
}

/// The sums behind [`ClassScores`]. Rows are added in their order.
#[derive(Clone, Debug)]
pub struct ClassSum {
    count: usize,
    rows: usize,
    weight: f64,
    errors: f64,
    log_loss: f64,
    squares: f64,
    /// Weight, summed confidence and weight of right decisions, by step of the confidence.
    steps: [(f64, f64, f64); STEPS],
    ranks: Vec<Ranks>,
}

impl ClassSum {
    /// Nothing scored yet, for so many classes.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            rows: 0,
            weight: 0.0,
            errors: 0.0,
            log_loss: 0.0,
            squares: 0.0,
            steps: [(0.0, 0.0, 0.0); STEPS],
            ranks: vec![Ranks::default(); if count == 2 { 1 } else { count }],
        }
    }

    /// Adds one row of a class with the probabilities it was given; `weight` counts it that often.
    pub fn add(&mut self, class: usize, probabilities: &[f64], weight: f64) {
        self.rows += 1;
        if weight == 0.0 {
            return;
        }
        let decision = crate::task::likeliest(probabilities);
        let right = decision == class;
        self.weight += weight;
        self.errors += if right { 0.0 } else { weight };
        // A probability of zero that comes true would make every other row worthless.
        self.log_loss -= weight * probabilities[class].max(f64::MIN_POSITIVE).ln();
        let distance = |(other, p): (usize, &f64)| {
            let truth = if other == class { 1.0 } else { 0.0 };
            (p - truth) * (p - truth)
        };
        let squares: f64 = probabilities.iter().enumerate().map(distance).sum();
        self.squares += weight
            * if self.count == 2 {
                squares / 2.0
            } else {
                squares
            };
        let confidence = probabilities[decision];
        let step = ((confidence * STEPS as f64).max(0.0) as usize).min(STEPS - 1);
        self.steps[step].0 += weight;
        self.steps[step].1 += weight * confidence;
        self.steps[step].2 += if right { weight } else { 0.0 };
        let first = self.count - self.ranks.len();
        for (place, ranks) in self.ranks.iter_mut().enumerate() {
            let own = first + place;
            ranks.add(probabilities[own], own == class, weight);
        }
    }

    /// The scores of all rows added; an error when there are none.
    pub fn scores(&self) -> Result<ClassScores> {
        if self.rows == 0 || self.weight == 0.0 {
            return Err(Error::Spec("there are no rows to score".into()));
        }
        let average = |sum: f64| sum / self.weight;
        let steps = self.steps.iter().enumerate();
        let calibration: Vec<Confidence> = steps
            .filter(|(_, (rows, _, _))| *rows > 0.0)
            .map(|(step, (rows, confidence, right))| Confidence {
                from: step as f64 / STEPS as f64,
                to: (step + 1) as f64 / STEPS as f64,
                rows: *rows,
                confidence: confidence / rows,
                accuracy: right / rows,
            })
            .collect();
        let gaps = calibration
            .iter()
            .map(|step| step.rows * (step.confidence - step.accuracy).abs());
        let areas: Vec<f64> = self.ranks.iter().filter_map(Ranks::area).collect();
        Ok(ClassScores {
            n: self.rows,
            accuracy: 1.0 - average(self.errors),
            error_rate: average(self.errors),
            errors: self.errors,
            log_loss: average(self.log_loss),
            brier: average(self.squares),
            ece: average(gaps.sum()),
            auc: (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64),
            calibration,
        })
    }
}

/// Rows of a class and of the others, by the probability of the class, on a grid that is fine everywhere: memory is
/// bounded, whatever the number of rows, and rows of one cell count as equal.
#[derive(Clone, Debug, Default)]
struct Ranks {
    cells: BTreeMap<i64, (f64, f64)>,
}

/// Bits of a number that are left out: cells are about 6e-5 wide, relative to the probability or to what it lacks of 1.
const LEFT_OUT: u32 = 38;

impl Ranks {
    fn add(&mut self, probability: f64, is_own: bool, weight: f64) {
        // Positive doubles are ordered as their bits are.
        let place = |p: f64| (p.max(0.0).to_bits() >> LEFT_OUT) as i64;
        let cell = if probability < 0.5 {
            place(probability)
        } else {
            2 * place(0.5) - place(1.0 - probability)
        };
        let seen = self.cells.entry(cell).or_default();
        if is_own {
            seen.0 += weight;
        } else {
            seen.1 += weight;
        }
    }

    /// Probability that a row of the class has a greater probability than another row, ties counted half.
    fn area(&self) -> Option<f64> {
        let (mut below, mut pairs, mut own) = (0.0, 0.0, 0.0);
        for (mine, others) in self.cells.values() {
            pairs += mine * (below + 0.5 * others);
            below += others;
            own += mine;
        }
        (own > 0.0 && below > 0.0).then(|| pairs / (own * below))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_two_classes_known_by_hand() {
        let mut sum = ClassSum::new(2);
        for (class, p) in [(1, 0.9), (0, 0.2), (1, 0.4), (0, 0.4)] {
            sum.add(class, &[1.0 - p, p], 1.0);
        }
        let found = sum.scores().unwrap();
        assert_eq!((found.n, found.errors, found.accuracy), (4, 1.0, 0.75));
        let log_loss = -(0.9f64.ln() + 0.8f64.ln() + 0.4f64.ln() + 0.6f64.ln()) / 4.0;
        assert!((found.log_loss - log_loss).abs() < 1e-15);
        let brier = (0.01 + 0.04 + 0.36 + 0.16) / 4.0;
        assert!((found.brier - brier).abs() < 1e-15);
        // Of four pairs three are in order and one is a tie.
        assert_eq!(found.auc, Some(3.5 / 4.0));
        let rows: f64 = found.calibration.iter().map(|step| step.rows).sum();
        assert_eq!(rows, 4.0);
    }

    #[test]
    fn areas_equal_the_count_of_pairs() {
        let mut ranks = Ranks::default();
        let rows: Vec<(f64, bool)> = (0..300)
            .map(|row| {
                let x = f64::from(row);
                let p = 1.0 / (1.0 + (-6.0 * (x * 0.37).sin()).exp());
                (p, (x * 0.37).sin() + (x * 1.7).cos() > 0.0)
            })
            .collect();
        rows.iter().for_each(|&(p, own)| ranks.add(p, own, 1.0));
        let (mut pairs, mut right) = (0.0, 0.0);
        for (p, _) in rows.iter().filter(|row| row.1) {
            for (q, _) in rows.iter().filter(|row| !row.1) {
                pairs += 1.0;
                right += f64::from(u8::from(p > q));
            }
        }
        assert!((ranks.area().unwrap() - right / pairs).abs() < 1e-4);
        assert_eq!(Ranks::default().area(), None);
    }

    #[test]
    fn a_weight_counts_as_copies_and_no_rows_have_no_scores() {
        let mut weighted = ClassSum::new(3);
        let mut copied = ClassSum::new(3);
        assert!(copied.scores().is_err());
        let rows = [
            (0, [0.5, 0.3, 0.2], 2),
            (2, [0.2, 0.5, 0.3], 3),
            (1, [0.1, 0.8, 0.1], 1),
        ];
        for (class, p, times) in rows {
            weighted.add(class, &p, f64::from(times));
            (0..times).for_each(|_| copied.add(class, &p, 1.0));
        }
        let (weighted, copied) = (weighted.scores().unwrap(), copied.scores().unwrap());
        assert!((weighted.log_loss - copied.log_loss).abs() < 1e-15);
        assert_eq!(weighted.auc, copied.auc);
        assert_eq!(weighted.errors, copied.errors);
        assert!((weighted.ece - copied.ece).abs() < 1e-15);
    }
}
