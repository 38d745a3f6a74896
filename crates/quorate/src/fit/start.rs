//! Where learning on large tables starts: the evidence of a random part.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::learn::{Search, SearchLimits, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::watch::Watch;

use crate::error::Result;
use crate::spec::{LearnChoice, ModelSpec};

/// How closely a random part is looked at.
#[derive(Clone, Copy)]
pub struct FirstLook {
    /// Rows of the part.
    pub rows: usize,
    /// Searches beyond the data-driven one, unless told otherwise.
    pub restarts: usize,
}

/// A look that has the last word, or nearly so.
pub const CAREFUL: FirstLook = FirstLook {
    rows: 1000,
    restarts: 1,
};
/// A look from where a long climb starts: what it leaves undone the climb does better.
pub const BRIEF: FirstLook = FirstLook {
    rows: 500,
    restarts: 0,
};
/// A random part is sparse: it may see no noise where neighbours do, and the reverse. The climb starts in between.
const FIRST_NOISE: (f64, f64) = (0.003, 0.5);

/// A kernel with the values that a random part of the rows finds likely; its own where nothing is to be learned.
pub fn from_random_part(
    spec: &ModelSpec,
    schema: &Schema,
    kernel: &Kernel,
    data: &Dataset,
    look: FirstLook,
    watch: &dyn Watch,
) -> Result<(BoundKernel, GaussianNoise)> {
    let part = data.select(&random_rows(data.rows(), look.rows, spec.seed));
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(part.inputs(), part.targets());
    let kept = spec.noise_variance.map(|variance| GaussianNoise {
        variance: variance / schema.target_deviation().powi(2),
    });
    let noise = kept.unwrap_or(GaussianNoise { variance: 0.1 });
    if spec.learn == LearnChoice::None {
        return Ok((bound, noise));
    }
    let search = Search {
        restarts: Some(spec.restarts.unwrap_or(look.restarts)),
        seed: spec.seed,
        limits: SearchLimits {
            steps: 40,
            relative_gain: 1e-5,
            ..SearchLimits::default()
        },
        ..Search::default()
    };
    let (bound, noise, _) = learn(&bound, noise, &part, &search, watch)?;
    let variance = noise.variance.clamp(FIRST_NOISE.0, FIRST_NOISE.1);
    Ok((bound, GaussianNoise { variance }))
}
