//! Long tables for mixtures: a sample finds kernels, gates and noises; then all rows speak, through landmarks.

use std::sync::Arc;

use quorate_gp::data::{Dataset, Schema, random_rows};

use super::landmarks::landmark_inputs;
use super::mixture::MOST_ROWS;
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

/// Log density of a row left out.
fn each(maker: &Maker<'_>, trial: &Trial) -> f64 {
    trial.density / maker.rows.weights().iter().sum::<f64>().max(1.0)
}

/// The prior of a sample climbed on as many rows as a mixture takes, where landmarks are no help and the plan allows it; the sample
/// stays where more rows make a row left out no likelier.
///
/// Landmarks are no help where a length scale is shorter than any distance between them. power_plant is such a table: one of its inputs
/// has few values, each of a few hours, and its kernel connects rows whose values are equal. Only rows themselves can say that.
pub(super) fn widened(
    spec: &ModelSpec,
    sample: &Maker<'_>,
    trial: Trial,
    data: Dataset,
    long: &Dataset,
) -> Result<(Dataset, Trial)> {
    let rows = MOST_ROWS.min(long.rows());
    if rows <= data.rows() {
        return Ok((data, trial));
    }
    let more = long.select(&random_rows(long.rows(), rows, spec.seed));
    let all = Maker {
        rows: MixtureRows::of(&more)?,
        ..*sample
    };
    let again = all.attempt(trial.prior.clone())?;
    let again = match again.prior.count() {
        1 => again,
        _ => all.levelled(again),
    };
    Ok(if each(&all, &again) > each(sample, &trial) {
        (more, again)
    } else {
        (data, trial)
    })
}
