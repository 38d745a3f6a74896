//! The search: bounded quasi-Newton steps that survive points where the objective cannot be computed.

use std::cell::RefCell;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, ConstraintSolveError, Constraints,
    CostFunction, Executor, FirstOrderState, Gradient, Lbfgs, Termination,
};

use crate::learn::{Evaluation, Objective, remembered};
use crate::watch::Watch;
use crate::{Error, Result};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchLimits {
    /// At most this many steps.
    pub steps: u64,
    /// Stop when a step gains less than this fraction of the objective.
    pub relative_gain: f64,
    /// Stop when no slope exceeds this.
    pub slope: f64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            steps: 200,
            relative_gain: 1e-9,
            slope: 1e-4,
        }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Steps no longer gain anything, or the slope is flat.
    Converged,
    /// The number of steps ran out.
    Steps,
    /// No better point was found along the last direction.
    Stalled,
}

/// The best point a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// Where.
    pub coordinates: Vec<f64>,
    /// The objective there.
    pub value: f64,
    /// Steps taken.
    pub steps: u64,
    /// Evaluations of value and gradient.
    pub evaluations: usize,
    /// Points from which the search had to step back.
    pub failures: usize,
    /// Why it ended.
    pub stop: Stop,
}

impl Optimum {
    /// A point that was only looked at.
    pub(crate) fn unmoved(coordinates: &[f64], value: f64) -> Self {
        Self {
            coordinates: coordinates.to_vec(),
            value,
            steps: 0,
            evaluations: 1,
            failures: 0,
            stop: Stop::Converged,
        }
    }
}

/// Maximises an objective over the coordinates with `free[i]`, within bounds.
pub fn maximise(
    objective: &dyn Objective,
    start: &[f64],
    bounds: &[(f64, f64)],
    free: &[bool],
    limits: SearchLimits,
    watch: &dyn Watch,
) -> Result<Optimum> {
    let moving: Vec<usize> = (0..start.len()).filter(|&i| free[i]).collect();
    let first = remembered(start, watch, || objective.evaluate(start))?;
    let point: Vec<f64> = moving
        .iter()
        .map(|&i| start[i].clamp(bounds[i].0, bounds[i].1))
        .collect();
    if moving.is_empty() {
        return Ok(Optimum::unmoved(start, first.value));
    }
    let problem = Problem {
        objective,
        start,
        low: moving.iter().map(|&i| bounds[i].0).collect(),
        high: moving.iter().map(|&i| bounds[i].1).collect(),
        moving,
        watch,
        seen: RefCell::new(Seen {
            best: start.to_vec(),
            value: first.value,
            evaluations: 1,
            failures: 0,
        }),
    };
    let solver = Lbfgs::new()
        .with_absolute_projected_gradient_tolerance(limits.slope)
        .with_relative_cost_reduction_tolerance(limits.relative_gain);
    let result = Executor::new(&problem, solver, FirstOrderState::new(point))
        .max_iter(limits.steps)
        .run()
        .map_err(|error| match error {
            ConstraintSolveError::Evaluation(error) => error,
            other => Error::Invalid(format!("the search could not start: {other}")),
        })?;
    let stop = match result.report.termination {
        Termination::Converged(_) => Stop::Converged,
        Termination::Limit(_) => Stop::Steps,
        _ => Stop::Stalled,
    };
    let steps = result.iter();
    let seen = problem.seen.into_inner();
    Ok(Optimum {
        coordinates: seen.best,
        value: seen.value,
        steps,
        evaluations: seen.evaluations,
        failures: seen.failures,
        stop,
    })
}

/// What the search has seen so far.
struct Seen {
    best: Vec<f64>,
    value: f64,
    evaluations: usize,
    failures: usize,
}

/// The objective as the optimiser sees it: free coordinates only, sign turned, failures made finite.
struct Problem<'a> {
    objective: &'a dyn Objective,
    start: &'a [f64],
    moving: Vec<usize>,
    low: Vec<f64>,
    high: Vec<f64>,
    watch: &'a dyn Watch,
    seen: RefCell<Seen>,
}

impl Problem<'_> {
    fn descend(&self, point: &[f64]) -> Result<(f64, Vec<f64>)> {
        self.watch.check()?;
        let mut coordinates = self.start.to_vec();
        for (&i, &value) in self.moving.iter().zip(point) {
            coordinates[i] = value;
        }
        let outcome = remembered(&coordinates, self.watch, || {
            self.objective.evaluate(&coordinates)
        });
        let mut seen = self.seen.borrow_mut();
        seen.evaluations += 1;
        match outcome {
            Ok(Evaluation { value, gradient }) => {
                if value > seen.value {
                    seen.value = value;
                    seen.best = coordinates;
                }
                Ok((-value, self.moving.iter().map(|&i| -gradient[i]).collect()))
            }
            Err(error) if error.is_recoverable() => {
                // A bowl around the best point so far: finite, steep, and its slope leads the line search back.
                seen.failures += 1;
                let away: Vec<f64> = self
                    .moving
                    .iter()
                    .zip(point)
                    .map(|(&i, value)| value - seen.best[i])
                    .collect();
                let steepness = 10.0 * (1.0 + seen.value.abs());
                let square: f64 = away.iter().map(|a| a * a).sum();
                let slope = away.iter().map(|a| 2.0 * steepness * a).collect();
                Ok((-seen.value + steepness * (1.0 + square), slope))
            }
            Err(error) => Err(error),
        }
    }
}

impl CostFunction for &Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Error;

    fn cost(&self, point: &Vec<f64>) -> Result<f64> {
        Ok(self.descend(point)?.0)
    }
}

impl Gradient for &Problem<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>> {
        Ok(self.descend(point)?.1)
    }

    fn cost_and_gradient(&self, point: &Vec<f64>) -> Result<(f64, Vec<f64>)> {
        self.descend(point)
    }

    fn cost_and_gradient_into(&self, point: &Vec<f64>, out: &mut Vec<f64>) -> Result<f64> {
        let (cost, gradient) = self.descend(point)?;
        *out = gradient;
        Ok(cost)
    }
}

impl Constraints for &Problem<'_> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.low), Some(&self.high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    /// A concave quadratic that cannot be computed beyond a radius of 3.
    struct Hill;

    impl Objective for Hill {
        fn evaluate(&self, x: &[f64]) -> Result<Evaluation> {
            if x.iter().map(|v| v * v).sum::<f64>() > 9.0 {
                return Err(Error::NotFinite { what: "the hill" });
            }
            let top = [1.0, -2.0];
            Ok(Evaluation {
                value: -(0..2)
                    .map(|i| (i + 1) as f64 * (x[i] - top[i]).powi(2))
                    .sum::<f64>(),
                gradient: (0..2)
                    .map(|i| -2.0 * (i + 1) as f64 * (x[i] - top[i]))
                    .collect(),
            })
        }
    }

    fn climb(start: [f64; 2], bounds: [(f64, f64); 2], free: [bool; 2]) -> Optimum {
        maximise(
            &Hill,
            &start,
            &bounds,
            &free,
            SearchLimits::default(),
            &Unwatched,
        )
        .expect("the start can be computed")
    }

    #[test]
    fn finds_the_top_and_steps_back_from_points_that_fail() {
        let found = climb([-2.9, 0.0], [(-100.0, 100.0); 2], [true; 2]);
        assert!(
            (found.coordinates[0] - 1.0).abs() < 1e-4 && (found.coordinates[1] + 2.0).abs() < 1e-4
        );
        assert_eq!(found.stop, Stop::Converged);
    }

    #[test]
    fn respects_bounds_and_fixed_coordinates() {
        let found = climb([0.0, 0.5], [(-1.0, 0.25), (-1.0, 1.0)], [true, false]);
        assert!((found.coordinates[0] - 0.25).abs() < 1e-6);
        assert_eq!(found.coordinates[1], 0.5);
    }
}
