//! Probabilities of classes from many members in, one row of probabilities out. A new rule is a line of [`CLASS_RULES`] and an
//! arm of [`ClassFusion::combine`].

use quorate_gp::linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::vote::largest;
use super::weights::softmax;
use crate::error::{Error, Result};

/// How probabilities of members become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassFusion {
    /// `p_c ~ prod_i p_ic`.
    Product,
    /// `p_c ~ prod_i p_ic^(1/M)`.
    GeometricMean,
    /// `p_c ~ prod_i p_ic / pi_c^(M-1)`, with `pi` the shares of the classes in the training rows.
    Machine,
    /// `p_c = 1/M sum_i p_ic`.
    Mean,
    /// Share of the members that decide for the class, as if one more member had voted for every class alike.
    Majority,
    /// The same with each vote weighted by the log odds that the member is right about rows it has not seen.
    Votes,
    /// `p_c = sum_i g_i p_ic` with the g under which rows not seen are likeliest.
    Stacked,
}

/// A fusion with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassRule {
    /// What people type.
    pub name: &'static str,
    /// One sentence about it.
    pub sentence: &'static str,
    /// True where it asks for predictions of rows that the members have not seen.
    pub needs_record: bool,
    /// How it fuses.
    pub fusion: ClassFusion,
}

const fn line(
    name: &'static str,
    sentence: &'static str,
    needs_record: bool,
    fusion: ClassFusion,
) -> ClassRule {
    ClassRule {
        name,
        sentence,
        needs_record,
        fusion,
    }
}

/// Every rule for classes.
#[rustfmt::skip]
pub const CLASS_RULES: [ClassRule; 7] = [
    line("product", "probabilities multiplied", false, ClassFusion::Product),
    line("generalised-product", "their geometric mean", false, ClassFusion::GeometricMean),
    line("bcm", "Bayesian committee machine: the product, with the classes' shares counted once", false, ClassFusion::Machine),
    line("mixture", "mean of the probabilities", false, ClassFusion::Mean),
    line("majority", "every member has one vote", false, ClassFusion::Majority),
    line("weighted-vote", "votes weighted by how often the member is right about rows not seen", true, ClassFusion::Votes),
    line("density-stacking", "the mixture under which rows not seen are likeliest", true, ClassFusion::Stacked),
];

/// The rule of that name.
pub fn class_rule(name: &str) -> Option<&'static ClassRule> {
    CLASS_RULES.iter().find(|rule| rule.name == name)
}

/// Probabilities that members gave to rows they had not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRecord {
    /// Share of each class in each row.
    pub shares: Matrix,
    /// How many copies each row stands for.
    pub weights: Vec<f64>,
    /// What each member said.
    pub said: Vec<Matrix>,
}

/// A probability of nothing would silence all other members.
const LEAST: f64 = 1e-12;

impl ClassFusion {
    /// Finds the weights of the members, for rules that have them.
    pub fn learn(self, record: &ClassRecord) -> Result<Option<Vec<f64>>> {
        if record.said.is_empty() || record.weights.is_empty() {
            return Err(Error::Spec(
                "weights need members and rows they have not seen".into(),
            ));
        }
        Ok(match self {
            ClassFusion::Votes => Some(record.log_odds()),
            ClassFusion::Stacked => Some(record.likeliest()),
            _ => None,
        })
    }

    /// One row of probabilities for each query; `shares` are those of the classes in the training rows.
    pub fn combine(
        self,
        said: &[Matrix],
        shares: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<Matrix> {
        let Some(first) = said.first() else {
            return Err(Error::Spec("a committee needs at least one member".into()));
        };
        let (rows, classes, members) = (first.nrows(), first.ncols(), said.len());
        let equal = vec![1.0 / members as f64; members];
        let weights = weights.unwrap_or(&equal);
        if weights.len() != members || shares.len() != classes {
            return Err(Error::Spec(
                "every member needs a weight and every class a share".into(),
            ));
        }
        let mut fused = Matrix::zeros(rows, classes);
        for row in 0..rows {
            let own = |member: usize, class: usize| said[member][(row, class)];
            let logarithms = |power: f64, prior: f64| -> Vec<f64> {
                let sum = |class: usize| -> f64 {
                    (0..members).map(|i| own(i, class).max(LEAST).ln()).sum()
                };
                let each = (0..classes)
                    .map(|class| power * sum(class) - prior * shares[class].max(LEAST).ln());
                softmax(&each.collect::<Vec<f64>>())
            };
            let votes = |class: usize| -> f64 {
                let each = (0..members).map(|member| {
                    let row: Vec<f64> = (0..classes).map(|class| own(member, class)).collect();
                    match largest(&row) == Some(class) {
                        true => weights[member],
                        false => 0.0,
                    }
                });
                each.sum()
            };
            let found: Vec<f64> = match self {
                ClassFusion::Product => logarithms(1.0, 0.0),
                ClassFusion::GeometricMean => logarithms(1.0 / members as f64, 0.0),
                ClassFusion::Machine => logarithms(1.0, members as f64 - 1.0),
                ClassFusion::Mean | ClassFusion::Stacked => {
                    let mean = |class: usize| -> f64 {
                        (0..members).map(|i| weights[i] * own(i, class)).sum()
                    };
                    (0..classes).map(mean).collect()
                }
                ClassFusion::Majority | ClassFusion::Votes => {
                    let total: f64 = weights.iter().sum();
                    let one = if total > 0.0 {
                        total / members as f64
                    } else {
                        1.0
                    };
                    let each = (0..classes).map(votes);
                    each.map(|vote| (vote + one / classes as f64) / (total + one))
                        .collect()
                }
            };
            for (class, share) in found.into_iter().enumerate() {
                fused[(row, class)] = share;
            }
        }
        Ok(fused)
    }
}

impl ClassRecord {
    /// Log odds that each member is right, beyond those of guessing (Zhu, Zou, Rosset and Hastie 2009, eq. 1), never below 0;
    /// as if one more row had been right and one wrong.
    fn log_odds(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        let classes = self.shares.ncols();
        let odds = |said: &Matrix| {
            let right = (0..said.nrows()).map(|row| {
                let own: Vec<f64> = (0..classes).map(|class| said[(row, class)]).collect();
                let decision = largest(&own).unwrap_or(0);
                self.weights[row] * self.shares[(row, decision)]
            });
            let right: f64 = right.sum();
            let guess = (classes as f64 - 1.0).ln();
            (((right + 1.0) / (total - right + 1.0)).ln() + guess).max(0.0)
        };
        self.said.iter().map(odds).collect()
    }

    /// Weights of the mixture under which the rows are likeliest, by expectation and maximisation.
    fn likeliest(&self) -> Vec<f64> {
        let members = self.said.len();
        let mut weights = vec![1.0 / members as f64; members];
        for _ in 0..1000 {
            let mut sums = vec![0.0; members];
            for (row, copies) in self.weights.iter().enumerate() {
                for class in 0..self.shares.ncols() {
                    let seen = copies * self.shares[(row, class)];
                    if seen <= 0.0 {
                        continue;
                    }
                    let terms: Vec<f64> = (0..members)
                        .map(|i| weights[i] * self.said[i][(row, class)].max(LEAST))
                        .collect();
                    let total: f64 = terms.iter().sum();
                    for (sum, term) in sums.iter_mut().zip(&terms) {
                        *sum += seen * term / total;
                    }
                }
            }
            let total: f64 = sums.iter().sum();
            let next: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
            let moves = next.iter().zip(&weights).map(|(a, b)| (a - b).abs());
            let moved = moves.fold(0.0, f64::max);
            weights = next;
            if moved < 1e-9 {
                break;
            }
        }
        weights
    }
}
