//! Several starts, coarse first: most starts are only followed until it is clear where they lead.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use crate::data::{Dataset, random_rows};
use crate::kernel::{BoundKernel, Covariance};
use crate::learn::evidence::at;
use crate::learn::{
    BlockEvidence, Hyperprior, Optimum, Plausible, SearchLimits, Stop, WithPrior, maximise,
};
use crate::likelihood::GaussianNoise;
use crate::linalg::JitterPolicy;
use crate::parameters::{Parameter, Role};
use crate::posterior::standard_normal;
use crate::watch::Watch;
use crate::{Error, Result};

/// How hard to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Starts beyond the data-driven one; by the number of rows when absent.
    pub restarts: Option<usize>,
    /// Seed of the random starts and of the rows they are tried on.
    pub seed: u64,
    /// Starts are tried on at most this many rows; the best are then followed on all rows.
    pub trial_rows: usize,
    /// When the final ascent stops.
    pub limits: SearchLimits,
    /// How far covariance matrices may be repaired.
    pub jitter: JitterPolicy,
    /// A noise variance to keep instead of learning one, in units of the (standardised) target's variance.
    pub kept_noise: Option<f64>,
    /// What is believed before any row.
    pub hyperprior: Hyperprior,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            restarts: None,
            seed: 0,
            trial_rows: 1500,
            limits: SearchLimits::default(),
            jitter: JitterPolicy::default(),
            kept_noise: None,
            hyperprior: Hyperprior::default(),
        }
    }
}

/// What one ascent did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// Which start it followed; 0 is the data-driven one.
    pub start: usize,
    /// Distinct rows it looked at.
    pub rows: usize,
    /// Quasi-Newton steps.
    pub steps: u64,
    /// Evaluations of evidence and gradient.
    pub evaluations: usize,
    /// Points it had to step back from.
    pub failures: usize,
    /// Log evidence plus log prior at its end.
    pub value: f64,
    /// Why it ended.
    pub stop: Stop,
}

impl SearchRecord {
    /// What the ascent from `start` over so many distinct rows did.
    pub(crate) fn of(start: usize, rows: usize, found: &Optimum) -> Self {
        Self {
            start,
            rows,
            steps: found.steps,
            evaluations: found.evaluations,
            failures: found.failures,
            value: found.value,
            stop: found.stop,
        }
    }
}

/// Ascents that end within this of the best are followed to the top: their order may still change.
pub(crate) const CLOSE: f64 = 3.0;
/// At most this many ascents are followed to the top.
const FINALISTS: usize = 3;

/// Maximises the evidence of the rows (with weak priors) over the hyperparameters that are not fixed.
pub fn learn(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(BoundKernel, GaussianNoise, Vec<SearchRecord>)> {
    let mut parameters = kernel.parameters();
    parameters.push(match search.kept_noise {
        Some(variance) => Parameter {
            fixed: true,
            ..GaussianNoise { variance }.parameter()
        },
        None => noise.parameter(),
    });
    let restarts = search
        .restarts
        .unwrap_or_else(|| affordable_restarts(data.rows()));
    let starts = starting_points(&parameters, restarts, search.seed);
    let trial = (data.rows() > search.trial_rows)
        .then(|| data.select(&random_rows(data.rows(), search.trial_rows, search.seed)));

    let total = starts.len() + FINALISTS;
    let coarse = SearchLimits {
        relative_gain: search.limits.relative_gain.max(1e-5),
        steps: search.limits.steps.min(60),
        ..search.limits
    };
    let mut records = Vec::new();
    let mut trials = Vec::new();
    let mut failure = None;
    for (index, start) in starts.iter().enumerate() {
        watch.progress("learning hyperparameters", index, total);
        let rows = trial.as_ref().unwrap_or(data);
        match ascend(kernel, &parameters, rows, start, coarse, search, watch) {
            Ok(found) => {
                records.push(SearchRecord::of(index, rows.rows(), &found));
                trials.push((index, found));
            }
            Err(error) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    trials.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let Some(best) = trials.first().map(|(_, found)| found.value) else {
        return Err(failure.unwrap_or(Error::NotFinite {
            what: "the log evidence",
        }));
    };
    trials.retain(|(_, found)| found.value > best - CLOSE);
    trials.truncate(FINALISTS);

    let mut winner: Option<Optimum> = None;
    for (place, (index, found)) in trials.iter().enumerate() {
        watch.progress("learning hyperparameters", starts.len() + place, total);
        let start = &found.coordinates;
        match ascend(
            kernel,
            &parameters,
            data,
            start,
            search.limits,
            search,
            watch,
        ) {
            Ok(found) => {
                records.push(SearchRecord::of(*index, data.rows(), &found));
                if winner.as_ref().is_none_or(|best| found.value > best.value) {
                    winner = Some(found);
                }
            }
            Err(error) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    watch.progress("learning hyperparameters", total, total);
    let Some(winner) = winner else {
        return Err(failure.unwrap_or(Error::NotFinite {
            what: "the log evidence",
        }));
    };
    let (kernel, noise) = at(kernel, &winner.coordinates)?;
    Ok((kernel, noise, records))
}

fn ascend(
    kernel: &BoundKernel,
    parameters: &[Parameter],
    data: &Dataset,
    start: &[f64],
    limits: SearchLimits,
    search: &Search,
    watch: &dyn Watch,
) -> Result<Optimum> {
    let priors = search.hyperprior.all(parameters);
    let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
    let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
    let evidence = BlockEvidence::new(kernel, data, search.jitter);
    let objective = WithPrior {
        objective: &evidence,
        priors: &priors,
    };
    maximise(&objective, start, &bounds, &free, limits, watch)
}

/// Starts beyond the first for a table of so many distinct rows. Small tables have the most local optima and the cheapest
/// evaluations: both ask for more starts.
pub fn affordable_restarts(rows: usize) -> usize {
    match rows {
        0..=400 => 24,
        401..=800 => 12,
        801..=1600 => 8,
        _ => 5,
    }
}

/// The current values, then `restarts` others spread around them.
///
/// Whole regimes differ between starts (smooth or wiggly, noisy or not), coordinates within a start only a little.
pub fn starting_points(parameters: &[Parameter], restarts: usize, seed: u64) -> Vec<Vec<f64>> {
    /// Common change of the length scales, and the noise variance, of each regime.
    const REGIMES: [(f64, f64); 8] = [
        (0.3, 0.05),
        (1.0, 0.5),
        (2.0, 0.1),
        (0.5, 0.3),
        (3.0, 0.01),
        (0.3, 0.3),
        (1.5, 0.05),
        (0.5, 0.1),
    ];
    let current: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut points = vec![current.clone()];
    for restart in 0..restarts {
        let (stretch, noise) = REGIMES[restart % REGIMES.len()];
        let point = parameters.iter().zip(&current).map(|(parameter, &here)| {
            let nudge = standard_normal(&mut random);
            if parameter.fixed {
                return here;
            }
            match parameter.role {
                Role::LengthScale => here + stretch.ln() + 0.8 * nudge,
                Role::Period => here + nudge,
                Role::Noise => noise.ln() + 0.3 * nudge,
                Role::Embedding => here + 0.3 * nudge,
                Role::Variance | Role::Shape | Role::Hazard | Role::Offset => here + 0.5 * nudge,
            }
        });
        points.push(point.collect());
    }
    points
}
