//! Dispersions of a likelihood around the belief of landmarks.

use quorate_gp::data::{Dataset, Schema};
use quorate_gp::parameters::Parameter;
use quorate_gp::posterior::Predict;

use crate::error::Result;
use crate::expand::Expansion;
use crate::landmarks::LandmarkBelief;
use crate::latent::observations;
use crate::task::Through;

/// Dispersions that suit the rows around the committee's belief, one after the other: those at which
/// `sum log p(y | f) - 1/2 s W` is greatest, the expected log density to second order in the latent values.
pub(super) fn dispersed(
    schema: &Schema,
    belief: &LandmarkBelief,
    expansion: &Expansion,
    sample: &Dataset,
) -> Result<Through> {
    let mut through = expansion.through();
    let parameters = through.likelihood.parameters();
    if !parameters.iter().any(|own| !own.fixed) {
        return Ok(through);
    }
    let told = belief.marginals(sample.inputs())?;
    let rows = sample.rows();
    let latent: Vec<f64> = (0..rows).map(|row| told.mean[(row, 0)]).collect();
    let seen = observations(schema, sample, through)?;
    let mut coordinates: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
    for (which, parameter) in parameters.iter().enumerate() {
        if parameter.fixed {
            continue;
        }
        let (before, mut likelihood) = (coordinates[which], through.likelihood);
        let mut value = |coordinate: f64| -> f64 {
            coordinates[which] = coordinate;
            if likelihood.set_coordinates(&coordinates).is_err() {
                return f64::NEG_INFINITY;
            }
            let terms = likelihood.derivatives_of(&seen, &latent);
            let each = terms.iter().enumerate();
            each.map(|(row, term)| {
                term.log_density - 0.5 * told.variance[(row, 0)] * term.curvature
            })
            .sum()
        };
        let best = greatest((before - REACH, before + REACH), &mut value);
        coordinates[which] = best;
        likelihood.set_coordinates(&coordinates)?;
        through.likelihood = likelihood;
    }
    Ok(through)
}

/// How far the logarithm of a dispersion may move in one round.
const REACH: f64 = 1.5;

/// Where a function of one number with one hill is greatest, by golden sections.
fn greatest((mut low, mut high): (f64, f64), value: &mut dyn FnMut(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (value(a), value(b));
    for _ in 0..25 {
        if at_a >= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = value(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = value(b);
        }
    }
    0.5 * (low + high)
}
