//! Weak hyperpriors: flat over every plausible value, falling off gently outside.
//!
//! Inputs and targets are standardised, so plausible ranges are the data's own: a length scale between a thousandth
//! and ten thousand standard deviations of its column, variances within a wide band around the target's. Inside the
//! range the prior says nothing and the evidence decides alone; outside it pulls back like a Gaussian of one e-fold,
//! which keeps the search away from overflow without a wall where gradients would lie.

use crate::Result;
use crate::learn::{Evaluation, Objective};
use crate::parameters::{Parameter, Role};

/// The range of a coordinate over which the prior is flat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plausible {
    /// Lower end of the flat part, as a coordinate.
    pub low: f64,
    /// Upper end of the flat part, as a coordinate.
    pub high: f64,
    /// Standard deviation of the fall outside.
    pub deviation: f64,
    /// The fall is never steeper than this, in nats for each unit: what many rows agree on they may say, however far outside.
    pub steepest: f64,
}

impl Plausible {
    /// A range with the fall of a normal density outside; a normal density where both ends are the same.
    pub fn new(low: f64, high: f64, deviation: f64) -> Self {
        Self {
            low,
            high,
            deviation,
            steepest: f64::INFINITY,
        }
    }

    /// The range for a parameter, by its role.
    pub fn of(parameter: &Parameter) -> Self {
        let (low, high) = match parameter.role {
            Role::Variance => (1e-6, 1e6),
            Role::LengthScale => (1e-3, 1e4),
            Role::Period => (1e-3, 1e3),
            Role::Shape => (1e-3, 1e4),
            Role::Offset => (1e-6, 1e6),
            Role::Noise => (1e-8, 1e2),
            // Lifetimes that follow from their inputs without any noise want an exponent without bound, and every row pulls
            // that way: beyond a scatter of some 3 % of the lifetime the prior falls like a wall.
            Role::Hazard => return Self::new(f64::ln(0.05), f64::ln(40.0), 0.05),
            // Signed: the prior of an embedding is a standard normal around zero, with no flat part.
            Role::Embedding => return Self::new(0.0, 0.0, 1.0),
        };
        Self::new(f64::ln(low), f64::ln(high), 1.0)
    }

    /// Log density (up to a constant) and slope at a coordinate.
    pub fn log_density(&self, coordinate: f64) -> (f64, f64) {
        let outside = coordinate - coordinate.clamp(self.low, self.high);
        let precision = 1.0 / (self.deviation * self.deviation);
        // Huber (1964): a parabola, and beyond the steepest slope its tangent.
        let turn = self.steepest / precision;
        if outside.abs() <= turn {
            (-0.5 * outside * outside * precision, -outside * precision)
        } else {
            let value = -self.steepest * (outside.abs() - 0.5 * turn);
            (value, -self.steepest * outside.signum())
        }
    }

    /// How far the search may go: far outside the plausible range numbers would overflow.
    pub fn bounds(&self) -> (f64, f64) {
        let parabola = 6.0 * self.deviation;
        let turn = self.steepest * self.deviation * self.deviation;
        // A tangent goes on to where a parabola would have ended: 18 nats below the top.
        let reach = if turn < parabola {
            0.5 * turn + 18.0 / self.steepest
        } else {
            parabola
        };
        (self.low - reach, self.high + reach)
    }
}

/// An objective with the log prior of each coordinate added.
pub struct WithPrior<'a> {
    /// The objective, usually a log evidence.
    pub objective: &'a dyn Objective,
    /// One prior per coordinate.
    pub priors: &'a [Plausible],
}

impl Objective for WithPrior<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let mut evaluation = self.objective.evaluate(coordinates)?;
        for (i, prior) in self.priors.iter().enumerate() {
            let (value, slope) = prior.log_density(coordinates[i]);
            evaluation.value += value;
            evaluation.gradient[i] += slope;
        }
        Ok(evaluation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_density_inside_outside_and_along_the_tangent() {
        let prior = Plausible {
            steepest: 1.5,
            ..Plausible::new(-4.0, 2.0, 0.8)
        };
        let step = 1e-5;
        for coordinate in [-9.0, -4.9, -4.3, 0.0, 2.5, 7.0] {
            let value = |at: f64| prior.log_density(at).0;
            let difference = (value(coordinate + step) - value(coordinate - step)) / (2.0 * step);
            let (_, slope) = prior.log_density(coordinate);
            assert!(
                (slope - difference).abs() < 1e-8,
                "{coordinate}: {slope} and {difference}"
            );
            assert!(slope.abs() <= 1.5);
        }
    }

    #[test]
    fn the_search_ends_where_the_density_has_fallen_by_18_nats() {
        let parabola = Plausible::new(0.0, 1.0, 2.0);
        let tangent = Plausible {
            steepest: 1.5,
            ..parabola
        };
        for prior in [parabola, tangent] {
            let (low, high) = prior.bounds();
            for end in [low, high] {
                assert!((prior.log_density(end).0 + 18.0).abs() < 1e-12);
            }
        }
    }
}
