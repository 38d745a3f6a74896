//! What is maximised: a value and a gradient at a vector of coordinates. Objectives add, and so do their evaluations.

use crate::Result;

/// Value and gradient of an objective at one point.
#[derive(Clone, Debug, PartialEq)]
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
