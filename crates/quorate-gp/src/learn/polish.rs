//! The last steps of a search, with a curvature that fewer rows have told: a step or two reach the top where a search
//! that has to find out the curvature takes ten.

use crate::Result;
use crate::learn::{Evaluation, Objective, Optimum, SearchLimits, Stop, remembered};
use crate::linalg::{Matrix, dot, eigen};
use crate::watch::Watch;

/// Steps before the search is left to others.
const MOST_STEPS: u64 = 12;
/// Curvatures below this share of the greatest are taken for this share.
const LEAST_CURVATURE: f64 = 1e-4;
/// The longest step of a coordinate.
const REACH: f64 = 1.0;

/// Climbs from `start` by quasi-Newton steps (Broyden, Fletcher, Goldfarb and Shanno; Nocedal and Wright 2006, eq. 6.17) that begin
/// with a curvature, `hessian`, of the objective. Ends as [`Stop::Stalled`] or [`Stop::Steps`] where it does not get to the top.
pub(crate) fn polish(
    objective: &dyn Objective,
    start: &[f64],
    hessian: &Matrix,
    bounds: &[(f64, f64)],
    free: &[bool],
    limits: SearchLimits,
    watch: &dyn Watch,
) -> Result<Optimum> {
    let evaluate = |at: &[f64]| remembered(at, watch, || objective.evaluate(at));
    let mut here = start.to_vec();
    let mut found = evaluate(&here)?;
    let mut inverse = inverse_curvature(hessian, free)?;
    let (mut evaluations, mut failures, mut share) = (1, 0, 1.0);
    let optimum = |here: Vec<f64>, value: f64, steps, evaluations, failures, stop| Optimum {
        coordinates: here,
        value,
        steps,
        evaluations,
        failures,
        stop,
    };
    for step in 0..MOST_STEPS {
        watch.check()?;
        let slopes: Vec<f64> = (found.gradient.iter().zip(free))
            .map(|(slope, free)| if *free { *slope } else { 0.0 })
            .collect();
        let moved: Vec<f64> = (0..here.len())
            .map(|i| {
                let by: f64 = (0..here.len()).map(|j| inverse[(i, j)] * slopes[j]).sum();
                let to = here[i] + share * by.clamp(-REACH, REACH);
                to.clamp(bounds[i].0, bounds[i].1) - here[i]
            })
            .collect();
        let promised = dot(&slopes, &moved);
        if promised <= 2.0 * limits.relative_gain * (1.0 + found.value.abs()) {
            let stop = if promised >= 0.0 {
                Stop::Converged
            } else {
                Stop::Stalled
            };
            return Ok(optimum(
                here,
                found.value,
                step,
                evaluations,
                failures,
                stop,
            ));
        }
        let there: Vec<f64> = here.iter().zip(&moved).map(|(x, d)| x + d).collect();
        evaluations += 1;
        let next = match evaluate(&there) {
            Ok(next) if next.value >= found.value + 1e-4 * promised => Some(next),
            Ok(_) => None,
            Err(error) if error.is_recoverable() => None,
            Err(error) => return Err(error),
        };
        match next {
            Some(next) => {
                update(&mut inverse, &moved, &found, &next, free);
                (here, found, share) = (there, next, 1.0);
            }
            None if share < 0.1 => {
                let stop = Stop::Stalled;
                return Ok(optimum(
                    here,
                    found.value,
                    step,
                    evaluations,
                    failures + 1,
                    stop,
                ));
            }
            None => {
                failures += 1;
                share *= 0.25;
            }
        }
    }
    Ok(optimum(
        here,
        found.value,
        MOST_STEPS,
        evaluations,
        failures,
        Stop::Steps,
    ))
}

/// The inverse of minus a Hessian, made positive: what falls steeply is believed, what is flat or bent upwards is not.
fn inverse_curvature(hessian: &Matrix, free: &[bool]) -> Result<Matrix> {
    let size = hessian.nrows();
    let minus = Matrix::from_fn(size, size, |i, j| -hessian[(i, j)]);
    let (values, vectors) = eigen(&minus)?;
    let most = values.iter().fold(0.0_f64, |most, value| most.max(*value));
    let least = (LEAST_CURVATURE * most).max(1e-12);
    Ok(Matrix::from_fn(size, size, |i, j| {
        if !(free[i] && free[j]) {
            return 0.0;
        }
        let terms = values.iter().enumerate();
        terms
            .map(|(k, value)| vectors[(i, k)] * vectors[(j, k)] / value.abs().max(least))
            .sum()
    }))
}

/// `H := (I - r s y') H (I - r y s') + r s s'` with the step s, the fall y of the slopes along it, and `r = 1 / y's`.
fn update(
    inverse: &mut Matrix,
    step: &[f64],
    before: &Evaluation,
    after: &Evaluation,
    free: &[bool],
) {
    let size = step.len();
    let fall: Vec<f64> = (0..size)
        .map(|i| match free[i] {
            true => before.gradient[i] - after.gradient[i],
            false => 0.0,
        })
        .collect();
    let along = dot(&fall, step);
    if along <= 1e-12 * dot(&fall, &fall).sqrt() * dot(step, step).sqrt() {
        return;
    }
    let image: Vec<f64> = (0..size)
        .map(|i| (0..size).map(|j| inverse[(i, j)] * fall[j]).sum())
        .collect();
    let factor = (1.0 + dot(&fall, &image) / along) / along;
    for i in 0..size {
        for j in 0..size {
            inverse[(i, j)] +=
                factor * step[i] * step[j] - (image[i] * step[j] + step[i] * image[j]) / along;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    /// A hill that is nearly a quadratic around (1, -2); the third coordinate does not move.
    struct Hill;

    impl Objective for Hill {
        fn evaluate(&self, x: &[f64]) -> Result<Evaluation> {
            let (a, b) = (x[0] - 1.0, x[1] + 2.0);
            Ok(Evaluation {
                value: 50.0 - 3.0 * a * a - a * b - 20.0 * b * b - 0.3 * a.powi(4),
                gradient: vec![-6.0 * a - b - 1.2 * a.powi(3), -a - 40.0 * b, 7.0],
            })
        }
    }

    #[test]
    fn a_rough_curvature_leads_to_the_top_in_a_few_steps() {
        let rough = [[-4.0, 0.0, 0.0], [0.0, -30.0, 0.0], [0.0, 0.0, 0.0]];
        let hessian = Matrix::from_fn(3, 3, |i, j| rough[i][j]);
        let found = polish(
            &Hill,
            &[0.4, -1.8, 5.0],
            &hessian,
            &[(-10.0, 10.0); 3],
            &[true, true, false],
            SearchLimits::default(),
            &Unwatched,
        )
        .unwrap();
        assert_eq!(found.stop, Stop::Converged);
        assert!(found.evaluations <= 8, "{}", found.evaluations);
        assert!((found.coordinates[0] - 1.0).abs() < 1e-3);
        assert!((found.coordinates[1] + 2.0).abs() < 1e-3);
        assert_eq!(found.coordinates[2], 5.0);
    }
}
