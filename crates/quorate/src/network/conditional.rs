//! One column given its parents.

use std::sync::Arc;

use quorate_gp::data::{Column, ColumnType};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use super::counts::{self, Tally};
use super::sample::{Drawn, uniform};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::prediction::{Prediction, standard_quantile};
use crate::task::Forecast;

/// What a column is without knowing any other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marginal {
    /// Labels with their frequencies.
    Labels(Vec<(String, f64)>),
    /// A Gaussian.
    Number {
        /// Its mean.
        mean: f64,
        /// Its deviation.
        deviation: f64,
    },
    /// A count.
    Count(Tally),
}

/// One column given its parents.
#[derive(Debug)]
pub struct Conditional {
    /// The column.
    pub name: String,
    /// What its cells are.
    pub kind: ColumnType,
    /// The column alone.
    pub marginal: Marginal,
    /// The column given its parents; none without parents.
    pub model: Option<Model>,
    /// Names of the parents.
    pub parents: Vec<String>,
    /// Log evidence, or what stands for it, in nats.
    pub score: f64,
}

impl Conditional {
    /// Its labels; none for a number.
    pub fn labels(&self) -> Option<Vec<String>> {
        match (&self.model, &self.marginal) {
            (Some(model), _) => {
                let classes = model.schema().target().classes()?;
                Some(classes.labels().to_vec())
            }
            (None, Marginal::Labels(shares)) => {
                Some(shares.iter().map(|(label, _)| label.clone()).collect())
            }
            (None, Marginal::Number { .. } | Marginal::Count(_)) => None,
        }
    }

    fn forecast(&self, drawn: &Drawn) -> Result<Option<Forecast>> {
        match &self.model {
            Some(model) => Ok(Some(model.forecast(&drawn.frame(&self.parents)?)?)),
            None => Ok(None),
        }
    }

    /// Cells of a column of this kind from labels.
    fn labelled<'a>(&self, labels: impl Iterator<Item = &'a String>) -> Column {
        match self.kind {
            ColumnType::Text => Column::Text(
                labels
                    .map(|label| Some(Arc::from(label.as_str())))
                    .collect(),
            ),
            _ => Column::Number(labels.map(|label| number(label)).collect()),
        }
    }

    /// The column alone, drawn.
    pub(super) fn draw_marginal(&self, rows: usize, random: &mut ChaCha12Rng) -> Column {
        match &self.marginal {
            Marginal::Labels(shares) => {
                let labels = (0..rows).map(|_| {
                    let place = pick(shares.iter().map(|(_, share)| *share), random);
                    &shares[place].0
                });
                let chosen: Vec<&String> = labels.collect();
                self.labelled(chosen.into_iter())
            }
            Marginal::Number { mean, deviation } => {
                let cells = (0..rows).map(|_| mean + deviation * normal(random));
                Column::Number(cells.collect())
            }
            Marginal::Count(tally) => {
                Column::Number((0..rows).map(|_| tally.draw(random)).collect())
            }
        }
    }

    /// The column given its parents, drawn.
    pub(super) fn draw(&self, drawn: &Drawn, random: &mut ChaCha12Rng) -> Result<Column> {
        let Some(forecast) = self.forecast(drawn)? else {
            return Ok(self.draw_marginal(drawn.rows, random));
        };
        match forecast {
            Forecast::Classes(told) => {
                let labels = told.classes.labels();
                let chosen: Vec<&String> = (0..drawn.rows)
                    .map(|row| &labels[pick(told.row(row).iter().copied(), random)])
                    .collect();
                Ok(self.labelled(chosen.into_iter()))
            }
            Forecast::Number(told) => {
                let rows = 0..drawn.rows;
                Ok(Column::Number(
                    rows.map(|row| draw_number(&told, row, random)).collect(),
                ))
            }
            Forecast::Quantity(told) => Ok(counts::draw(&told, random)),
            Forecast::Numbers(_) => Err(several()),
        }
    }

    /// Log density of the cells, given the parents.
    pub(super) fn log_densities(&self, drawn: &Drawn) -> Result<Vec<f64>> {
        let column = (drawn.column(&self.name))
            .ok_or_else(|| Error::Spec(format!("`{}` must be given", self.name)))?;
        let forecast = self.forecast(drawn)?;
        let rows = 0..drawn.rows;
        match (&forecast, &self.marginal) {
            (Some(Forecast::Number(told)), _) => {
                let cells = numbers(column)?;
                Ok(rows.map(|row| log_density(told, row, cells[row])).collect())
            }
            (Some(Forecast::Classes(told)), _) => {
                let labels = told.classes.labels();
                let places = self.places(column, labels)?;
                Ok(rows.map(|row| told.row(row)[places[row]].ln()).collect())
            }
            (Some(Forecast::Quantity(told)), _) => counts::log_densities(&self.name, told, column),
            (Some(Forecast::Numbers(_)), _) => Err(several()),
            (None, Marginal::Count(tally)) => {
                let cells = counts::whole(&self.name, column)?.iter();
                Ok(cells.map(|cell| tally.log_probability(*cell)).collect())
            }
            (None, Marginal::Number { mean, deviation }) => {
                let cells = numbers(column)?;
                let each = cells.iter().map(|cell| {
                    let z = (cell - mean) / deviation;
                    -0.5 * ((2.0 * std::f64::consts::PI).ln() + z * z) - deviation.ln()
                });
                Ok(each.collect())
            }
            (None, Marginal::Labels(shares)) => {
                let labels: Vec<String> = shares.iter().map(|(label, _)| label.clone()).collect();
                let places = self.places(column, &labels)?;
                Ok(places.iter().map(|&place| shares[place].1.ln()).collect())
            }
        }
    }

    /// Which label each cell is.
    pub(super) fn places(&self, column: &Column, labels: &[String]) -> Result<Vec<usize>> {
        let find = |same: &dyn Fn(&String) -> bool, shown: String| {
            let place = labels.iter().position(same);
            place.ok_or_else(|| {
                Error::Spec(format!(
                    "`{}` is never `{shown}`: it is one of {}",
                    self.name,
                    labels.join(", ")
                ))
            })
        };
        match column {
            Column::Text(cells) => (cells.iter())
                .map(|cell| {
                    let cell = cell.as_deref().unwrap_or("");
                    find(&|label| label == cell, cell.to_owned())
                })
                .collect(),
            Column::Number(cells) => (cells.iter())
                .map(|cell| find(&|label| number(label) == *cell, cell.to_string()))
                .collect(),
        }
    }
}

/// A label as the number its column holds.
pub(super) fn number(label: &str) -> f64 {
    match label {
        "true" => 1.0,
        "false" => 0.0,
        other => other.parse().unwrap_or(f64::NAN),
    }
}

fn several() -> Error {
    Error::Spec("a conditional is about one column".into())
}

pub(super) fn numbers(column: &Column) -> Result<&[f64]> {
    match column {
        Column::Number(cells) => Ok(cells),
        Column::Text(_) => Err(Error::Spec("a number was expected, not text".into())),
    }
}

fn log_density(told: &Prediction, row: usize, cell: f64) -> f64 {
    if let Some(mixture) = &told.mixture {
        return mixture.log_density(row, cell);
    }
    let variance = told.latent_variance[row] + told.noise_variance[row];
    let error = cell - told.mean[row];
    -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
}

fn draw_number(told: &Prediction, row: usize, random: &mut ChaCha12Rng) -> f64 {
    if let Some(mixture) = &told.mixture {
        let parts = &mixture.components;
        let part = &parts[pick(parts.iter().map(|part| part.share[row]), random)];
        let deviation = (part.variance[row] + part.noise[row]).sqrt();
        return part.mean[row] + deviation * normal(random);
    }
    let variance = told.latent_variance[row] + told.noise_variance[row];
    told.mean[row] + variance.sqrt() * normal(random)
}

pub(super) fn normal(random: &mut ChaCha12Rng) -> f64 {
    standard_quantile(uniform(random))
}

/// One of several by their shares; the last where rounding leaves nobody.
fn pick(shares: impl Iterator<Item = f64>, random: &mut ChaCha12Rng) -> usize {
    let mut rest = uniform(random);
    let mut last = 0;
    for (place, share) in shares.enumerate() {
        if rest < share {
            return place;
        }
        rest -= share;
        last = place;
    }
    last
}
