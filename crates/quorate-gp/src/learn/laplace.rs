//! Approximate evidence of rows under any likelihood, and its maximum.
//!
//! A point of the search is the kernel's coordinates, then the likelihood's.

use std::cell::RefCell;
use std::sync::OnceLock;

use crate::data::{Dataset, random_rows};
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::learn::polish::polish;
use crate::learn::starts::{Rows, climb};
use crate::learn::{
    Evaluation, Hyperprior, Objective, Optimum, Plausible, Search, SearchRecord, Stop, WithPrior,
    affordable_restarts, differenced, maximise, starting_points,
};
use crate::likelihood::{Likelihood, Observations};
use crate::linalg::{Matrix, Spares};
use crate::parameters::{Parameter, Role};
use crate::posterior::laplace::{NEARLY_SETTLED, Sensitivity, check_groups, find_mode};
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
}

impl Objective for LaplaceEvidence<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, likelihood) = latent_at(self.kernel, self.likelihood, coordinates)?;
        let rows = BlockRows {
            data: self.data,
            seen: self.seen,
            spares: &self.spares,
        };
        let anchor = self
            .anchor
            .get_or_init(|| rows.anchor(self.kernel, &self.likelihood, None));
        rows.evaluate(&kernel, &likelihood, anchor.as_deref())
    }
}

/// Rows whose evidence is asked for, and matrices for it.
pub(crate) struct BlockRows<'a> {
    pub data: &'a Dataset,
    pub seen: &'a Observations,
    pub spares: &'a Spares,
}

impl BlockRows<'_> {
    /// Weights of the mode, from which other searches set out; none where it cannot be found. The search for it starts
    /// from `start`, or from nothing.
    pub fn anchor(
        &self,
        kernel: &BoundKernel,
        likelihood: &Likelihood,
        start: Option<&[f64]>,
    ) -> Option<Vec<f64>> {
        let mut covariance = self.spares.take();
        let inputs = self.data.inputs();
        tiles::fill(kernel, inputs, inputs, covariance.as_mut());
        let memory = self.spares.take();
        let k = covariance.as_ref();
        let mode = find_mode(k, likelihood, self.seen, start, memory, NEARLY_SETTLED);
        self.spares.give_back(covariance);
        let mode = mode.ok()?;
        self.spares.give_back(mode.factor.into_matrix());
        Some(mode.weights)
    }

    /// Evidence and gradient. Three n x n matrices live at a time: K, the factor of B, and its inverse.
    pub fn evaluate(
        &self,
        kernel: &BoundKernel,
        likelihood: &Likelihood,
        start: Option<&[f64]>,
    ) -> Result<Evaluation> {
        let inputs = self.data.inputs();
        let mut covariance = self.spares.take();
        tiles::fill(kernel, inputs, inputs, covariance.as_mut());
        let k = covariance.as_ref();
        let memory = self.spares.take();
        let mode = find_mode(k, likelihood, self.seen, start, memory, NEARLY_SETTLED)?;
        let sensitivity = Sensitivity::new(k, &mode, self.spares.take());
        let value = mode.log_evidence() + sensitivity.last_step(&mode);
        let own = kernel.parameters().len();
        let mut gradient = vec![0.0; own + likelihood.parameters().len()];
        let (kernel_slopes, own_slopes) = gradient.split_at_mut(own);
        sensitivity.pull_back(kernel, inputs, &mode, kernel_slopes);
        sensitivity.dispersions(k, likelihood, self.seen, &mode, own_slopes);
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

/// Hyperpriors for latent processes, by parameter.
///
/// Classes that can be separated want a latent function without bound, and the evidence is nearly flat there: the
/// variance of a term is held within a narrower band than that of a regression, in units of the latent value itself. Of few rows
/// of classes evidence says little of length scales either: who doubts it keeps both near what most functions have.
pub fn latent_priors(hyperprior: Hyperprior, parameters: &[Parameter]) -> Vec<Plausible> {
    let between = |low: f64, high: f64| Plausible::new(low.ln(), high.ln(), 1.0);
    let prior = |parameter: &Parameter| match (hyperprior, parameter.role) {
        (Hyperprior::Weak, Role::Variance) => between(1e-3, 1e2),
        (Hyperprior::Doubtful, Role::Variance) => between(0.1, 30.0),
        (Hyperprior::Doubtful, Role::LengthScale) => between(1.0, 10.0),
        _ => hyperprior.of(parameter),
    };
    parameters.iter().map(prior).collect()
}

/// Maximises the approximate evidence of the rows (with weak priors) over kernel and likelihood, by Laplace's method.
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
    learn_with(
        kernel,
        likelihood,
        data,
        seen,
        search,
        watch,
        &|kernel, likelihood, data, seen, climb| {
            climb(&LaplaceEvidence::new(kernel, likelihood, data, seen)?)
        },
    )
}

/// A climb begins on a quarter of the rows, at least this many: an evaluation there takes a sixty-fourth of the time, and
/// what is left to climb on all rows takes half as many evaluations.
const LEAST_TRIAL_ROWS: usize = 400;

/// Where at most so many coordinates move, the rows of the trial also tell the curvature, by four gradients for each.
const TOLD_COORDINATES: usize = 12;

/// Hands the objective of some rows to a climber.
pub(crate) type WithObjective<'a> = dyn Fn(
        &BoundKernel,
        Likelihood,
        &Dataset,
        &Observations,
        &dyn Fn(&dyn Objective) -> Result<Optimum>,
    ) -> Result<Optimum>
    + 'a;

/// The search behind [`learn_latent`] for any approximation of the evidence.
pub(crate) fn learn_with(
    kernel: &BoundKernel,
    likelihood: Likelihood,
    data: &Dataset,
    seen: &Observations,
    search: &Search,
    watch: &dyn Watch,
    with_objective: &WithObjective<'_>,
) -> Result<(BoundKernel, Likelihood, Vec<SearchRecord>)> {
    likelihood.check(seen)?;
    check_groups(data, seen)?;
    let mut parameters = kernel.parameters();
    parameters.extend(likelihood.parameters());
    let restarts = search
        .restarts
        .unwrap_or_else(|| affordable_restarts(4 * data.rows()));
    let starts = starting_points(&parameters, restarts, search.seed);
    let few = (data.rows() / 4)
        .max(LEAST_TRIAL_ROWS)
        .min(search.trial_rows);
    let trial = (2 * data.rows() > 3 * few).then(|| {
        let rows = random_rows(data.rows(), few, search.seed);
        (data.select(&rows), seen.select(&rows))
    });
    let priors = latent_priors(search.hyperprior, &parameters);
    let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
    let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
    let moving = free.iter().filter(|free| **free).count();
    let finalists = if trial.is_some() { 1 } else { 2 };
    let (winner, records) = climb(
        &starts,
        search.limits,
        finalists,
        trial.is_some(),
        watch,
        &|which, start, limits| {
            let (data, seen) = match (&trial, which) {
                (Some((data, seen)), Rows::Trial) => (data, seen),
                _ => (data, seen),
            };
            let (kernel, likelihood) = latent_at(kernel, likelihood, start)?;
            let told = match (&trial, which) {
                (Some((few, own)), Rows::All) if moving <= TOLD_COORDINATES => {
                    let scale = data.rows() as f64 / few.rows() as f64;
                    let told = RefCell::new(None);
                    with_objective(&kernel, likelihood, few, own, &|objective| {
                        let priors = &priors;
                        let found = differenced(&WithPrior { objective, priors }, start, &free)?;
                        let value = found.evaluation.value;
                        told.replace(Some(Matrix::from_fn(start.len(), start.len(), |i, j| {
                            scale * found.hessian[(i, j)]
                        })));
                        Ok(Optimum::unmoved(start, value))
                    })?;
                    told.into_inner()
                }
                _ => None,
            };
            let found = with_objective(&kernel, likelihood, data, seen, &|objective| {
                let priors = &priors;
                let objective = WithPrior { objective, priors };
                let climb =
                    |start: &[f64]| maximise(&objective, start, &bounds, &free, limits, watch);
                let Some(hessian) = &told else {
                    return climb(start);
                };
                let near = polish(&objective, start, hessian, &bounds, &free, limits, watch)?;
                if near.stop == Stop::Converged {
                    return Ok(near);
                }
                let found = climb(&near.coordinates)?;
                Ok(Optimum {
                    evaluations: found.evaluations + near.evaluations,
                    ..found
                })
            })?;
            Ok((data.rows(), found))
        },
    )?;
    let (kernel, likelihood) = latent_at(kernel, likelihood, &winner.coordinates)?;
    Ok((kernel, likelihood, records))
}
