//! Approximate evidence of rows under any likelihood, and its maximum.
//!
//! A point of the search is the kernel's coordinates, then the likelihood's.

use std::sync::OnceLock;

use crate::data::{Dataset, random_rows};
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::learn::restarts::CLOSE;
use crate::learn::{
    Evaluation, Objective, Optimum, Plausible, Search, SearchLimits, SearchRecord, WithPrior,
    affordable_restarts, maximise, starting_points,
};
use crate::likelihood::{Likelihood, Observations};
use crate::linalg::Spares;
use crate::parameters::{Parameter, Role};
use crate::posterior::laplace::{Sensitivity, check_groups, find_mode};
use crate::watch::Watch;
use crate::{Error, Result};

/// The approximate log evidence of one block of rows (Rasmussen and Williams 2006, sec. 5.5.1).
#[derive(Debug)]
pub struct LaplaceEvidence<'a> {
    kernel: &'a BoundKernel,
    likelihood: Likelihood,
    data: &'a Dataset,
    seen: &'a Observations,
    spares: Spares,
    /// Weights of the mode at the values that kernel and likelihood came with.
    anchor: OnceLock<Option<Vec<f64>>>,
}

impl<'a> LaplaceEvidence<'a> {
    /// The evidence of the rows under kernels and likelihoods of these shapes.
    ///
    /// Every search for a mode sets out from the mode at the values that kernel and likelihood have now: near enough to
    /// save steps, and an evaluation still depends on its coordinates alone, whichever came before.
    pub fn new(
        kernel: &'a BoundKernel,
        likelihood: Likelihood,
        data: &'a Dataset,
        seen: &'a Observations,
    ) -> Result<Self> {
        likelihood.check(seen)?;
        check_groups(data, seen)?;
        Ok(Self {
            kernel,
            likelihood,
            data,
            seen,
            spares: Spares::new(data.rows()),
            anchor: OnceLock::new(),
        })
    }

    fn anchor(&self) -> Option<&[f64]> {
        let find = || {
            let mut covariance = self.spares.take();
            let inputs = self.data.inputs();
            tiles::fill(self.kernel, inputs, inputs, covariance.as_mut());
            let mode = find_mode(
                covariance.as_ref(),
                &self.likelihood,
                self.seen,
                None,
                self.spares.take(),
            );
            self.spares.give_back(covariance);
            let mode = mode.ok()?;
            self.spares.give_back(mode.factor.into_matrix());
            Some(mode.weights)
        };
        self.anchor.get_or_init(find).as_deref()
    }
}

impl Objective for LaplaceEvidence<'_> {
    /// Three n x n matrices live at a time: K, the factor of B, and its inverse.
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, likelihood) = latent_at(self.kernel, self.likelihood, coordinates)?;
        let inputs = self.data.inputs();
        let start = self.anchor();
        let mut covariance = self.spares.take();
        tiles::fill(&kernel, inputs, inputs, covariance.as_mut());
        let mode = find_mode(
            covariance.as_ref(),
            &likelihood,
            self.seen,
            start,
            self.spares.take(),
        )?;
        let value = mode.log_evidence();
        let sensitivity = Sensitivity::new(covariance.as_ref(), &mode, self.spares.take());
        let mut gradient = vec![0.0; coordinates.len()];
        let (kernel_slopes, own_slopes) = gradient.split_at_mut(kernel.parameters().len());
        sensitivity.pull_back(&kernel, inputs, &mode, kernel_slopes);
        sensitivity.dispersions(
            covariance.as_ref(),
            &likelihood,
            self.seen,
            &mode,
            own_slopes,
        );
        self.spares.give_back(covariance);
        self.spares.give_back(sensitivity.into_matrix());
        self.spares.give_back(mode.factor.into_matrix());
        if value.is_finite() && gradient.iter().all(|slope| slope.is_finite()) {
            Ok(Evaluation { value, gradient })
        } else {
            Err(Error::NotFinite {
                what: "the approximate log evidence or its gradient",
            })
        }
    }
}

/// Kernel and likelihood at a point of the search.
pub fn latent_at(
    kernel: &BoundKernel,
    likelihood: Likelihood,
    coordinates: &[f64],
) -> Result<(BoundKernel, Likelihood)> {
    let own = kernel.parameters().len();
    if coordinates.len() < own {
        return Err(Error::Shape {
            what: "coordinates",
            expected: own + likelihood.parameters().len(),
            found: coordinates.len(),
        });
    }
    let (mut kernel, mut likelihood) = (kernel.clone(), likelihood);
    kernel.set_coordinates(&coordinates[..own])?;
    likelihood.set_coordinates(&coordinates[own..])?;
    Ok((kernel, likelihood))
}

/// Weak hyperpriors for latent processes, by parameter.
///
/// Classes that can be separated want a latent function without bound, and the evidence is nearly flat there: the
/// variance of a term is held within a narrower band than that of a regression, in units of the latent value itself.
pub fn latent_priors(parameters: &[Parameter]) -> Vec<Plausible> {
    let prior = |parameter: &Parameter| match parameter.role {
        Role::Variance => Plausible {
            low: f64::ln(1e-3),
            high: f64::ln(1e2),
            deviation: 1.0,
        },
        _ => Plausible::of(parameter),
    };
    parameters.iter().map(prior).collect()
}

/// Maximises the approximate evidence of the rows (with weak priors) over kernel and likelihood.
///
/// `search.kept_noise` and `search.jitter` do not count here: a likelihood has its own dispersions, and the matrices of
/// Laplace's method need no jitter.
pub fn learn_latent(
    kernel: &BoundKernel,
    likelihood: Likelihood,
    data: &Dataset,
    seen: &Observations,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(BoundKernel, Likelihood, Vec<SearchRecord>)> {
    likelihood.check(seen)?;
    check_groups(data, seen)?;
    let mut parameters = kernel.parameters();
    parameters.extend(likelihood.parameters());
    let restarts = search
        .restarts
        .unwrap_or_else(|| affordable_restarts(4 * data.rows()));
    let starts = starting_points(&parameters, restarts, search.seed);
    let trial = if data.rows() > search.trial_rows {
        let rows = random_rows(data.rows(), search.trial_rows, search.seed);
        Some((data.select(&rows), seen.select(&rows)))
    } else {
        None
    };
    let coarse = SearchLimits {
        relative_gain: search.limits.relative_gain.max(1e-5),
        steps: search.limits.steps.min(40),
        ..search.limits
    };
    let priors = latent_priors(&parameters);
    let ascend = |data: &Dataset,
                  seen: &Observations,
                  start: &[f64],
                  limits: SearchLimits|
     -> Result<Optimum> {
        let (kernel, likelihood) = latent_at(kernel, likelihood, start)?;
        let evidence = LaplaceEvidence::new(&kernel, likelihood, data, seen)?;
        let objective = WithPrior {
            objective: &evidence,
            priors: &priors,
        };
        let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
        let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
        maximise(&objective, start, &bounds, &free, limits, watch)
    };
    let total = starts.len() + 2;
    let mut records = Vec::new();
    let mut failure = None;
    let mut trials: Vec<(usize, Optimum)> = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        watch.progress("learning hyperparameters", index, total);
        let (rows, own) = trial
            .as_ref()
            .map_or((data, seen), |(rows, own)| (rows, own));
        match ascend(rows, own, start, coarse) {
            Ok(found) => {
                records.push(SearchRecord::of(index, rows.rows(), &found));
                trials.push((index, found));
            }
            Err(error) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    trials.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    if let Some(best) = trials.first().map(|(_, found)| found.value) {
        trials.retain(|(_, found)| found.value > best - CLOSE);
        trials.truncate(if trial.is_some() { 1 } else { 2 });
    }
    let mut winner: Option<Optimum> = None;
    for (place, (index, found)) in trials.iter().enumerate() {
        watch.progress("learning hyperparameters", starts.len() + place, total);
        match ascend(data, seen, &found.coordinates, search.limits) {
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
            what: "the approximate log evidence",
        }));
    };
    let (kernel, likelihood) = latent_at(kernel, likelihood, &winner.coordinates)?;
    Ok((kernel, likelihood, records))
}
