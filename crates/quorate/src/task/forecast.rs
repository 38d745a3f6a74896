//! What is believed about new rows, whatever the task.

use quorate_gp::data::Classes;

use super::quantity::QuantityPrediction;
use crate::prediction::Prediction;

/// What is believed about new rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Forecast {
    /// A number for each row.
    Number(Prediction),
    /// Several numbers for each row, each with the name of its column.
    Numbers(Vec<(String, Prediction)>),
    /// A class for each row.
    Classes(ClassPrediction),
    /// A count, an amount or a lifetime for each row.
    Quantity(QuantityPrediction),
}

impl Forecast {
    /// Sentences for people: missing cells, levels never seen.
    pub fn notes(&self) -> &[String] {
        match self {
            Forecast::Number(prediction) => &prediction.notes,
            Forecast::Numbers(each) => each.first().map_or(&[], |(_, first)| &first.notes),
            Forecast::Classes(prediction) => &prediction.notes,
            Forecast::Quantity(prediction) => &prediction.notes,
        }
    }

    /// Adds sentences for people that are not there yet.
    pub(crate) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        let own = match self {
            Forecast::Number(prediction) => &mut prediction.notes,
            Forecast::Classes(prediction) => &mut prediction.notes,
            Forecast::Quantity(prediction) => &mut prediction.notes,
            Forecast::Numbers(each) => match each.first_mut() {
                Some((_, first)) => &mut first.notes,
                None => return,
            },
        };
        for note in notes {
            if !own.contains(&note) {
                own.push(note);
            }
        }
    }

    /// Puts a forecast of further rows by the same model behind this one.
    pub(crate) fn append(&mut self, other: Forecast) {
        let notes = other.notes().to_vec();
        match (&mut *self, other) {
            (Forecast::Number(ours), Forecast::Number(theirs)) => ours.append(theirs),
            (Forecast::Numbers(ours), Forecast::Numbers(theirs)) => {
                for ((_, ours), (_, theirs)) in ours.iter_mut().zip(theirs) {
                    ours.append(theirs);
                }
            }
            (Forecast::Classes(ours), Forecast::Classes(theirs)) => {
                ours.probabilities.extend(theirs.probabilities);
            }
            (Forecast::Quantity(ours), Forecast::Quantity(theirs)) => ours.append(theirs),
            // One model gives one kind of forecast.
            _ => {}
        }
        self.note(notes);
    }
}

/// Probabilities of classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassPrediction {
    /// The classes.
    pub classes: Classes,
    /// Probability of each class, row after row.
    pub probabilities: Vec<f64>,
    /// Sentences for people: missing cells, levels never seen.
    pub notes: Vec<String>,
}

impl ClassPrediction {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.probabilities.len() / self.classes.count()
    }

    /// Probabilities of the classes of one row.
    pub fn row(&self, row: usize) -> &[f64] {
        let count = self.classes.count();
        &self.probabilities[row * count..(row + 1) * count]
    }

    /// The likeliest class of each row; the first of several.
    pub fn decisions(&self) -> Vec<usize> {
        (0..self.rows())
            .map(|row| likeliest(self.row(row)))
            .collect()
    }
}

/// Position of the greatest probability; the first of several.
pub(crate) fn likeliest(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (class, probability) in probabilities.iter().enumerate() {
        if *probability > probabilities[best] {
            best = class;
        }
    }
    best
}
