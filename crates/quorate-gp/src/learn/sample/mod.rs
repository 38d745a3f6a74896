//! Draws from the posterior of hyperparameters: Hamiltonian Monte Carlo with fixed steps, and NUTS.
//!
//! A chain follows from its number and the seed alone, so chains may run side by side on any number of threads.

mod diagnose;
mod hmc;
mod nuts;

pub use diagnose::{Diagnosis, diagnose};
pub use hmc::HmcSettings;

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::learn::{Evaluation, Objective};
use crate::posterior::standard_normal;
use crate::watch::Watch;
use crate::{Error, Result};

/// Which sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    /// The No-U-Turn sampler with adapted step and metric (Hoffman and Gelman 2014), by the crate `nuts-rs`.
    Nuts,
    /// Trajectories of a fixed number of leapfrog steps (Williams and Barber 1998, App. D).
    Hmc(HmcSettings),
}

/// How much to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Which sampler.
    pub sampler: Sampler,
    /// Chains, started apart.
    pub chains: usize,
    /// Draws of each chain that are thrown away while the sampler adapts.
    pub warmup: usize,
    /// Draws of each chain that are kept.
    pub draws: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            sampler: Sampler::Nuts,
            chains: 4,
            warmup: 300,
            draws: 250,
            seed: 0,
        }
    }
}

/// What one chain drew.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// All coordinates of each draw; those that are not free are as at the start.
    pub draws: Vec<Vec<f64>>,
    /// Trajectories, among those of the draws kept, that could not be followed.
    pub divergences: usize,
    /// Evaluations of the objective.
    pub evaluations: usize,
    /// Length of a step after warming up.
    pub step: f64,
}

/// Draws from the density whose logarithm is the objective, over the coordinates with `free[i]`, in chains that start
/// around `start`; nothing is drawn outside the bounds.
pub fn sample(
    objective: &dyn Objective,
    start: &[f64],
    bounds: &[(f64, f64)],
    free: &[bool],
    how: &Sampling,
    watch: &dyn Watch,
) -> Result<Vec<Chain>> {
    let moving: Vec<usize> = (0..start.len()).filter(|&i| free[i]).collect();
    let target = Target {
        objective,
        start,
        bounds,
        moving: &moving,
        watch,
    };
    if moving.is_empty() || how.draws == 0 {
        return Err(Error::Invalid(
            "there is nothing to draw: every hyperparameter is fixed".into(),
        ));
    }
    watch.progress("drawing hyperparameters", 0, how.chains);
    let chains = (0..how.chains.max(1))
        .into_par_iter()
        .map(|number| {
            let seed = how.seed ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut random = ChaCha12Rng::seed_from_u64(seed);
            let first = target.first(&mut random)?;
            match how.sampler {
                Sampler::Nuts => nuts::chain(&target, &first, how, &mut random),
                Sampler::Hmc(settings) => hmc::chain(&target, &first, settings, how, &mut random),
            }
        })
        .collect::<Result<Vec<Chain>>>()?;
    watch.progress("drawing hyperparameters", how.chains, how.chains);
    Ok(chains)
}

/// The log density over the free coordinates.
struct Target<'a> {
    objective: &'a dyn Objective,
    start: &'a [f64],
    bounds: &'a [(f64, f64)],
    moving: &'a [usize],
    watch: &'a dyn Watch,
}

impl Target<'_> {
    fn dimension(&self) -> usize {
        self.moving.len()
    }

    /// All coordinates at a place.
    fn whole(&self, place: &[f64]) -> Vec<f64> {
        let mut coordinates = self.start.to_vec();
        for (&i, &value) in self.moving.iter().zip(place) {
            coordinates[i] = value;
        }
        coordinates
    }

    /// Log density and slope; a recoverable error where there is none.
    fn evaluate(&self, place: &[f64]) -> Result<Evaluation> {
        self.watch.check()?;
        let outside = |(&i, &value): (&usize, &f64)| {
            !(value >= self.bounds[i].0 && value <= self.bounds[i].1)
        };
        if self.moving.iter().zip(place).any(outside) {
            return Err(Error::NotFinite {
                what: "the hyperposterior so far out",
            });
        }
        let found = self.objective.evaluate(&self.whole(place))?;
        Ok(Evaluation {
            value: found.value,
            gradient: self.moving.iter().map(|&i| found.gradient[i]).collect(),
        })
    }

    /// A random place around the start where the density can be computed: chains that start apart and end together
    /// have something to say.
    fn first(&self, random: &mut ChaCha12Rng) -> Result<Vec<f64>> {
        let mut reach = 0.5;
        loop {
            let place: Vec<f64> = self
                .moving
                .iter()
                .map(|&i| {
                    let (low, high) = self.bounds[i];
                    (self.start[i] + reach * standard_normal(random)).clamp(low, high)
                })
                .collect();
            match self.evaluate(&place) {
                Ok(found) if found.value.is_finite() => return Ok(place),
                Err(error) if !error.is_recoverable() || reach < 1e-3 => return Err(error),
                _ => reach *= 0.5,
            }
        }
    }
}
