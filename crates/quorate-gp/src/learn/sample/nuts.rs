//! The No-U-Turn sampler with adaptation, by the crate `nuts-rs` (the sampler behind nutpie).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};
use rand_chacha::ChaCha12Rng;

use super::{Chain, Sampling, Target};
use crate::{Error, Result};

/// The slope along a coordinate that the density does not depend on, as a length scale beside a variance of nearly zero: the crate starts no
/// chain where a slope is zero. Trajectories stay reversible under any slope, and what is kept of them is decided by the density.
const FLAT: f64 = 1e-3;
/// Doublings of a trajectory: at most 2^8 steps for a draw.
const DEPTH: u64 = 8;

pub(super) fn chain(
    target: &Target<'_>,
    first: &[f64],
    how: &Sampling,
    random: &mut ChaCha12Rng,
) -> Result<Chain> {
    let settings = DiagNutsSettings {
        num_tune: how.warmup as u64,
        num_draws: how.draws as u64,
        maxdepth: DEPTH,
        ..DiagNutsSettings::default()
    };
    let failure = Mutex::new(None);
    let density = Density {
        target,
        failure: &failure,
    };
    let told = |error: &dyn fmt::Display| {
        let own = failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // Below its first line the crate may print a backtrace.
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default().to_owned();
        own.unwrap_or_else(|| Error::Invalid(format!("the sampler stopped: {why}")))
    };
    let mut sampler = settings
        .new_chain(0, CpuMath::new(density), random)
        .map_err(|error| told(&error))?;
    sampler.set_position(first).map_err(|error| told(&error))?;
    let mut chain = Chain {
        draws: Vec::with_capacity(how.draws),
        divergences: 0,
        evaluations: 0,
        step: 0.0,
    };
    for draw in 0..how.warmup + how.draws {
        let (place, progress) = sampler.draw().map_err(|error| told(&error))?;
        chain.evaluations += progress.num_gradients as usize;
        chain.step = progress.step_size;
        if draw >= how.warmup {
            chain.divergences += usize::from(progress.diverging);
            chain.draws.push(target.whole(&place));
        }
    }
    Ok(chain)
}

/// The density as the sampler asks for it.
struct Density<'a> {
    target: &'a Target<'a>,
    /// An error that ends everything, for the caller: the sampler's own has lost its kind.
    failure: &'a Mutex<Option<Error>>,
}

#[derive(Debug)]
struct Unknown(Error);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Unknown {}

impl LogpError for Unknown {
    fn is_recoverable(&self) -> bool {
        self.0.is_recoverable()
    }
}

impl HasDims for Density<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let size = self.target.dimension() as u64;
        HashMap::from([("unconstrained_parameter".to_owned(), size)])
    }
}

impl CpuLogpFunc for Density<'_> {
    type LogpError = Unknown;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.target.dimension()
    }

    fn logp(&mut self, place: &[f64], gradient: &mut [f64]) -> std::result::Result<f64, Unknown> {
        match self.target.evaluate(place) {
            Ok(found) => {
                for (slope, own) in gradient.iter_mut().zip(found.gradient) {
                    *slope = if own == 0.0 { FLAT } else { own };
                }
                Ok(found.value)
            }
            Err(error) => {
                if !error.is_recoverable() {
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some(error.clone());
                }
                Err(Unknown(error))
            }
        }
    }

    fn expand_vector<R: nuts_rs::rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        place: &[f64],
    ) -> std::result::Result<Vec<f64>, CpuMathError> {
        Ok(place.to_vec())
    }
}
