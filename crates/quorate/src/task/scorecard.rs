//! Scores of forecasts, whatever the task.

use quorate_gp::data::{Observed, Schema, TargetCode};
use serde::{Deserialize, Serialize};

use super::forecast::Forecast;
use crate::error::{Error, Result};
use crate::score::{
    ClassScores, ClassSum, QuantityScores, QuantitySum, ScoreSum, Scores, Yardstick,
};

/// How good forecasts are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scorecard {
    /// Of a number.
    Number(Scores),
    /// Of classes.
    Classes(ClassScores),
    /// Of several numbers.
    Numbers(SeveralScores),
    /// Of counts, amounts or lifetimes.
    Quantity(QuantityScores),
}

/// Scores of several targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeveralScores {
    /// Rows scored.
    pub n: usize,
    /// Scores of each target.
    pub targets: Vec<TargetScores>,
}

/// Scores of one of several targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetScores {
    /// Name of its column.
    pub target: String,
    /// How good its predictions are.
    #[serde(flatten)]
    pub scores: Scores,
}

impl Scorecard {
    /// The scores of several targets.
    pub(crate) fn of_targets(targets: Vec<TargetScores>) -> Self {
        Scorecard::Numbers(SeveralScores {
            n: targets.first().map_or(0, |first| first.scores.n),
            targets,
        })
    }

    /// Rows scored.
    pub fn rows(&self) -> usize {
        match self {
            Scorecard::Number(scores) => scores.n,
            Scorecard::Classes(scores) => scores.n,
            Scorecard::Numbers(several) => several.n,
            Scorecard::Quantity(scores) => scores.n,
        }
    }

    /// What kernels and noise are compared by, less is better: NLPD in the target's units, its mean over several targets
    /// in their deviations, or log loss.
    pub fn loss(&self) -> f64 {
        match self {
            Scorecard::Number(scores) => scores.nlpd,
            Scorecard::Classes(scores) => scores.log_loss,
            Scorecard::Quantity(scores) => scores.nlpd,
            Scorecard::Numbers(several) => {
                let each = several.targets.iter();
                let sum: f64 = each.map(|own| own.scores.nlpd_standardised).sum();
                sum / several.targets.len().max(1) as f64
            }
        }
    }

    /// Its name.
    pub fn name_of_loss(&self) -> &'static str {
        match self {
            Scorecard::Number(_) | Scorecard::Numbers(_) | Scorecard::Quantity(_) => "NLPD",
            Scorecard::Classes(_) => "log loss",
        }
    }

    /// The scores of a model that predicts one number.
    pub fn number(&self) -> Option<&Scores> {
        match self {
            Scorecard::Number(scores) => Some(scores),
            _ => None,
        }
    }

    /// The scores of a model that predicts classes.
    pub fn classes(&self) -> Option<&ClassScores> {
        match self {
            Scorecard::Classes(scores) => Some(scores),
            _ => None,
        }
    }

    /// The scores of a model that predicts counts, amounts or lifetimes.
    pub fn quantity(&self) -> Option<&QuantityScores> {
        match self {
            Scorecard::Quantity(scores) => Some(scores),
            _ => None,
        }
    }
}

/// The sums behind a [`Scorecard`]: rows are added as they pass by.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one sum for each pass over a table"
)]
#[derive(Clone, Debug)]
pub enum CardSum {
    /// Of one or several numbers.
    Numbers(Vec<(String, ScoreSum)>),
    /// Of classes.
    Classes(ClassSum),
    /// Of counts, amounts or lifetimes.
    Quantity(QuantitySum),
}

impl CardSum {
    /// Nothing scored yet, for the targets of a schema.
    pub fn new(schema: &Schema) -> Self {
        Self::at(schema, &[])
    }

    /// The same, with the times at which survival is scored; at the quartiles of the lifetimes when there are none.
    pub fn at(schema: &Schema, horizons: &[f64]) -> Self {
        match schema.target() {
            TargetCode::Quantity(_) => CardSum::Quantity(QuantitySum::new(horizons)),
            TargetCode::Classes(classes) => CardSum::Classes(ClassSum::new(classes.count())),
            TargetCode::Number(_) | TargetCode::Numbers(_) => {
                let targets = schema.roles().targets().zip(schema.target_scales());
                let each = targets
                    .map(|(name, scale)| (name.to_owned(), ScoreSum::new(Yardstick::from(scale))));
                CardSum::Numbers(each.collect())
            }
        }
    }

    /// Adds rows with their forecast.
    pub fn add(&mut self, observed: &Observed, forecast: &Forecast) -> Result<()> {
        match (self, observed, forecast) {
            (CardSum::Numbers(sums), Observed::Numbers(columns), Forecast::Number(prediction)) => {
                let predictions = [prediction];
                add_numbers(sums, columns, predictions.into_iter());
            }
            (CardSum::Numbers(sums), Observed::Numbers(columns), Forecast::Numbers(each)) => {
                add_numbers(sums, columns, each.iter().map(|(_, prediction)| prediction));
            }
            (CardSum::Classes(sum), Observed::Classes(codes), Forecast::Classes(prediction)) => {
                for (row, code) in codes.iter().enumerate() {
                    sum.add(*code, prediction.row(row), 1.0);
                }
            }
            (CardSum::Quantity(sum), Observed::Quantities(seen), Forecast::Quantity(told)) => {
                sum.add(seen, told, None);
            }
            _ => {
                return Err(Error::Spec(
                    "what was observed and what was predicted are of different kinds".into(),
                ));
            }
        }
        Ok(())
    }

    /// The scores of all rows added; an error when there are none.
    pub fn card(&self) -> Result<Scorecard> {
        Ok(match self {
            CardSum::Classes(sum) => Scorecard::Classes(sum.scores()?),
            CardSum::Quantity(sum) => Scorecard::Quantity(sum.scores()?),
            CardSum::Numbers(sums) => match &sums[..] {
                [(_, sum)] => Scorecard::Number(sum.scores()?),
                _ => {
                    let each = sums.iter().map(|(target, sum)| {
                        Ok(TargetScores {
                            target: target.clone(),
                            scores: sum.scores()?,
                        })
                    });
                    Scorecard::of_targets(each.collect::<Result<_>>()?)
                }
            },
        })
    }
}

fn add_numbers<'p>(
    sums: &mut [(String, ScoreSum)],
    columns: &[Vec<f64>],
    predictions: impl Iterator<Item = &'p crate::prediction::Prediction>,
) {
    for (((_, sum), targets), prediction) in sums.iter_mut().zip(columns).zip(predictions) {
        let variance = prediction.variance(false);
        for (row, target) in targets.iter().enumerate() {
            sum.add(*target, prediction.mean[row], variance[row], 1.0);
            if let Some(mixture) = &prediction.mixture {
                sum.correct(*target, mixture, row, 1.0);
            }
        }
    }
}
