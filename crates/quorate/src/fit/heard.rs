//! Long tables for mixtures: a sample finds kernels, gates and noises; then all rows speak, through landmarks.

use std::sync::Arc;

use quorate_gp::data::{Dataset, Schema};

use super::landmarks::landmark_inputs;
use super::trials::{Maker, Trial};
use crate::error::Result;
use crate::mixture::{Heard, MixtureRows, Settings, climb_through, density};
use crate::spec::ModelSpec;

/// Landmarks unless told otherwise.
pub const LANDMARKS: usize = 400;
/// Rounds at most, and the gain for each row below which they end: a round costs more than with a sample, and rows are many.
const ROUNDS: usize = 30;
const GAIN: f64 = 5e-4;

/// What came of letting all rows speak.
pub(super) struct AllRows {
    pub trial: Trial,
    pub heard: Heard,
    /// Number of rows.
    pub rows: usize,
}

/// Climbs the prior of a trial on all rows; none where a row left out is then less likely than the rows of the sample were to
/// the trial: landmarks are few where length scales are short.
pub(super) fn hear(
    spec: &ModelSpec,
    schema: &Schema,
    sample: &Maker<'_>,
    trial: &Trial,
    data: &Dataset,
) -> Result<Option<AllRows>> {
    let prior = &trial.prior;
    let middle = &prior.experts[prior.count() / 2];
    let count = spec.landmarks.unwrap_or(LANDMARKS);
    let landmarks = landmark_inputs(spec, schema, middle, data.inputs(), count, sample.watch)?;
    let rows = Arc::new(MixtureRows::of(data)?);
    let settings = Settings {
        rounds: ROUNDS,
        gain: GAIN,
        ..Settings::default()
    };
    let (mixture, record) = climb_through(prior, &rows, &landmarks, settings, sample.watch)?;
    let all = Maker {
        rows: mixture.rows().clone(),
        ..*sample
    };
    let told = density(&mixture.left_out(), 0.0, 1.0);
    let heard = Trial {
        prior: prior.clone(),
        density: all.density(&told),
        mixture,
        record,
    };
    let heard = match prior.count() {
        1 => heard,
        _ => all.levelled(heard),
    };
    let each = |maker: &Maker<'_>, trial: &Trial| {
        trial.density / maker.rows.weights().iter().sum::<f64>().max(1.0)
    };
    let asked = spec.landmark_count().is_some();
    let Some(summaries) = heard.mixture.summaries() else {
        return Ok(None);
    };
    if !asked && each(&all, &heard) <= each(sample, trial) {
        return Ok(None);
    }
    Ok(Some(AllRows {
        trial: heard,
        heard: Heard {
            landmarks,
            summaries,
        },
        rows: rows.count(),
    }))
}
