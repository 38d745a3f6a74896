//! What is known of some columns, given others: weighted rows, with standard errors.

use quorate_gp::data::Column;
use serde::Serialize;

use super::Network;
use super::sample::Value;
use crate::error::{Error, Result};

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Columns to tell about.
    pub about: Vec<String>,
    /// What is known.
    pub given: Vec<(String, Value)>,
    /// Rows to draw.
    pub rows: usize,
    /// Rounds over all columns, for a dependency network.
    pub rounds: usize,
    /// Seed of the rows.
    pub seed: u64,
}

/// What is told about one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Answer {
    /// Probability of each label, with its standard error.
    Labels {
        /// The column.
        name: String,
        /// Label, probability, standard error.
        shares: Vec<(String, f64, f64)>,
    },
    /// A number.
    Number {
        /// The column.
        name: String,
        /// Its mean.
        mean: f64,
        /// Standard error of the mean.
        standard_error: f64,
        /// Its deviation.
        deviation: f64,
        /// Values below which it lies with probability 0.025, 0.5 and 0.975.
        quantiles: [f64; 3],
    },
}

/// All that is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Rows drawn.
    pub rows: usize,
    /// How many equally weighted rows they are worth.
    pub effective_rows: f64,
    /// One answer for each column asked about.
    pub answers: Vec<Answer>,
}

/// Mean of weighted numbers and its standard error: with normalised weights, `(sum w^2 (f - mean)^2)^1/2`.
fn weighted(values: impl Iterator<Item = f64> + Clone, weights: &[f64]) -> (f64, f64) {
    let pairs = values.zip(weights);
    let mean: f64 = pairs.clone().map(|(value, weight)| value * weight).sum();
    let squares = pairs.map(|(value, weight)| (weight * (value - mean)).powi(2));
    (mean, squares.sum::<f64>().sqrt())
}

impl Network {
    /// Answers a question by rows drawn from the network.
    pub fn query(&self, ask: &Ask) -> Result<Answers> {
        if ask.rows < 2 {
            return Err(Error::Spec("a question needs at least two rows".into()));
        }
        for name in &ask.about {
            if !self.conditionals.iter().any(|own| own.name == *name) {
                return Err(Error::Spec(format!(
                    "the network says nothing of `{name}`: it speaks of {}",
                    self.graph.variables().collect::<Vec<_>>().join(", ")
                )));
            }
            if ask.given.iter().any(|(given, _)| given == name) {
                return Err(Error::Spec(format!("`{name}` is given and asked for")));
            }
        }
        let (frame, logs) = self.draw(ask.rows, &ask.given, ask.rounds, ask.seed)?;
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return Err(Error::Spec(
                "what is given is impossible under the network: no row drawn could have had it"
                    .into(),
            ));
        }
        let raised: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let sum: f64 = raised.iter().sum();
        let weights: Vec<f64> = raised.iter().map(|weight| weight / sum).collect();
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        let mut answers = Vec::new();
        for own in &self.conditionals {
            if !ask.about.contains(&own.name) {
                continue;
            }
            let column = (frame.column(&own.name))
                .ok_or_else(|| Error::Spec(format!("`{}` was not drawn", own.name)))?;
            let name = own.name.clone();
            answers.push(match own.labels() {
                Some(labels) => {
                    let places = own.places(column, &labels)?;
                    let share = |(place, label): (usize, &String)| {
                        let hits = places.iter().map(|own| f64::from(u8::from(*own == place)));
                        let (mean, error) = weighted(hits, &weights);
                        (label.clone(), mean, error)
                    };
                    Answer::Labels {
                        name,
                        shares: labels.iter().enumerate().map(share).collect(),
                    }
                }
                None => number(name, column, &weights),
            });
        }
        Ok(Answers {
            rows: ask.rows,
            effective_rows: 1.0 / squares,
            answers,
        })
    }
}

fn number(name: String, column: &Column, weights: &[f64]) -> Answer {
    let cells: &[f64] = match column {
        Column::Number(cells) => cells,
        Column::Text(_) => &[],
    };
    let (mean, standard_error) = weighted(cells.iter().copied(), weights);
    let (spread, _) = weighted(cells.iter().map(|cell| (cell - mean).powi(2)), weights);
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|a, b| cells[*a].total_cmp(&cells[*b]));
    let quantile = |p: f64| {
        let mut sum = 0.0;
        let found = order.iter().find(|&&place| {
            sum += weights[place];
            sum >= p
        });
        found
            .or(order.last())
            .map_or(f64::NAN, |&place| cells[place])
    };
    Answer::Number {
        name,
        mean,
        standard_error,
        deviation: spread.max(0.0).sqrt(),
        quantiles: [0.025, 0.5, 0.975].map(quantile),
    }
}
