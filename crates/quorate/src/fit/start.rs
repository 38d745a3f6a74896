//! Where learning on large tables starts: the evidence of a random part.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::learn::{Search, SearchLimits, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::watch::Watch;

use crate::error::Result;
use crate::spec::{LearnChoice, ModelSpec};

/// Rows of the random part.
pub const PART_ROWS: usize = 1000;
/// A random part is sparse: it may see no noise where neighbours do, and the reverse. The climb starts in between.
const FIRST_NOISE: (f64, f64) = (0.003, 0.5);

/// A kernel with the values that a random part of the rows finds likely; its own where nothing is to be learned.
pub fn from_random_part(
    spec: &ModelSpec,
    schema: &Schema,
    kernel: &Kernel,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(BoundKernel, GaussianNoise)> {
    let part = data.select(&random_rows(data.rows(), PART_ROWS, spec.seed));
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(part.inputs(), part.targets());
    let noise = GaussianNoise { variance: 0.1 };
    if spec.learn == LearnChoice::None {
        return Ok((bound, noise));
    }
    let search = Search {
        restarts: Some(spec.restarts.unwrap_or(1)),
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
