//! What is maximised: a value and a gradient at a vector of coordinates. Objectives add, and so do their evaluations.

use serde::{Deserialize, Serialize};

use crate::watch::Watch;
use crate::{Error, Result};

/// Value and gradient of an objective at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The objective, to be maximised.
    pub value: f64,
    /// Its derivative with respect to each coordinate.
    pub gradient: Vec<f64>,
}

impl Evaluation {
    /// The evaluation of a sum of two objectives at the same point.
    pub fn merge(mut self, other: &Evaluation) -> Evaluation {
        self.value += other.value;
        for (mine, theirs) in self.gradient.iter_mut().zip(&other.gradient) {
            *mine += theirs;
        }
        self
    }
}

/// Something to be maximised over coordinates.
pub trait Objective: Sync {
    /// Value and gradient; a recoverable error tells the search to step back.
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation>;
}

/// The evaluation at a point: recalled where an earlier run had it, or computed and written down.
pub fn remembered(
    coordinates: &[f64],
    watch: &dyn Watch,
    evaluate: impl FnOnce() -> Result<Evaluation>,
) -> Result<Evaluation> {
    let Some(journal) = watch.journal() else {
        return evaluate();
    };
    let size = coordinates.len();
    if let Some(step) = journal.recall() {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let place = step.get(..size);
        if !place.is_some_and(|place| place.iter().zip(coordinates).all(same)) {
            return Err(Error::Invalid(
                "the checkpoint does not go with this fit: remove it, or name another".into(),
            ));
        }
        return match step[size..].split_first() {
            Some((&value, gradient)) if gradient.len() == size => Ok(Evaluation {
                value,
                gradient: gradient.to_vec(),
            }),
            // Nothing but the place was written: it was one to step back from.
            _ => Err(Error::NotFinite {
                what: "the objective",
            }),
        };
    }
    let outcome = evaluate();
    let mut step = coordinates.to_vec();
    match &outcome {
        Ok(found) => {
            step.push(found.value);
            step.extend_from_slice(&found.gradient);
        }
        Err(error) if error.is_recoverable() => {}
        Err(_) => return outcome,
    }
    journal.record(&step)?;
    outcome
}
