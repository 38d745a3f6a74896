//! Several starts for objectives of any kind, coarse first, the best followed to the top.

use crate::learn::restarts::CLOSE;
use crate::learn::{Optimum, SearchLimits, SearchRecord};
use crate::watch::Watch;
use crate::{Error, Result};

/// Which rows an ascent looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// A sample, where there is one.
    Trial,
    /// All of them.
    All,
}

/// One ascent from a point, and how many rows it looked at.
pub(crate) type Ascend<'a> = dyn Fn(Rows, &[f64], SearchLimits) -> Result<(usize, Optimum)> + 'a;

/// Climbs from every start on the trial rows, then from the best on all rows; `ascend` says how many rows it looked at.
///
/// `finalists` ascents are followed to the top when they end close to each other; `has_trial` says whether the trial rows
/// are fewer than all.
pub(crate) fn climb(
    starts: &[Vec<f64>],
    limits: SearchLimits,
    finalists: usize,
    has_trial: bool,
    watch: &dyn Watch,
    ascend: &Ascend<'_>,
) -> Result<(Optimum, Vec<SearchRecord>)> {
    let coarse = SearchLimits {
        relative_gain: limits.relative_gain.max(1e-5),
        steps: limits.steps.min(40),
        ..limits
    };
    // With one start and nothing smaller to try it on, a first look would be the climb itself.
    if let ([start], false) = (starts, has_trial) {
        watch.progress("learning hyperparameters", 0, 1);
        let (rows, found) = ascend(Rows::All, start, limits)?;
        watch.progress("learning hyperparameters", 1, 1);
        let record = SearchRecord::of(0, rows, &found);
        return Ok((found, vec![record]));
    }
    let total = starts.len() + finalists;
    let mut records = Vec::new();
    let mut failure = None;
    let mut trials: Vec<(usize, Optimum)> = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        watch.progress("learning hyperparameters", index, total);
        match ascend(Rows::Trial, start, coarse) {
            Ok((rows, found)) => {
                records.push(SearchRecord::of(index, rows, &found));
                trials.push((index, found));
            }
            Err(error) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    trials.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    if let Some(best) = trials.first().map(|(_, found)| found.value) {
        trials.retain(|(_, found)| found.value > best - CLOSE);
        trials.truncate(finalists);
    }
    let mut winner: Option<Optimum> = None;
    for (place, (index, found)) in trials.iter().enumerate() {
        watch.progress("learning hyperparameters", starts.len() + place, total);
        match ascend(Rows::All, &found.coordinates, limits) {
            Ok((rows, found)) => {
                records.push(SearchRecord::of(*index, rows, &found));
                if winner.as_ref().is_none_or(|best| found.value > best.value) {
                    winner = Some(found);
                }
            }
            Err(error) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    watch.progress("learning hyperparameters", total, total);
    match winner {
        Some(winner) => Ok((winner, records)),
        None => Err(failure.unwrap_or(Error::NotFinite {
            what: "the approximate log evidence",
        })),
    }
}
