//! Hyperparameters from parts: shared, by local Laplace approximations, by Laplace propagation.

use quorate_gp::data::Dataset;
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::learn::{
    Hyperprior, LocalSite, Objective, Plausible, Propagation, Quadratic, Round, SearchLimits,
    Shared, Site, Stop, WithPrior, at, local_approximations, maximise, propagate,
};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::parameters::Parameter;
use quorate_gp::watch::Watch;

use crate::error::{Error, Result};

/// How parts learn together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FromPartsWay {
    /// The sum of their log evidences is maximised (thesis, sec. 4.3.1).
    Shared,
    /// Each part's hyperposterior is approximated at its own maximum (sec. 4.3.2).
    LocalLaplace,
    /// The same until all parts agree (sec. 4.4).
    Propagation(Propagation),
}

/// Hyperparameters that parts found together.
#[derive(Clone, Debug)]
pub struct FromParts {
    /// Kernel with the values found.
    pub kernel: BoundKernel,
    /// Noise found.
    pub noise: GaussianNoise,
    /// Where that is.
    pub coordinates: Vec<f64>,
    /// Standard deviation of each coordinate, where the way gives one.
    pub deviations: Option<Vec<f64>>,
    /// Sum of the parts' log evidences, and the log prior, there.
    pub value: f64,
    /// Evaluations of all parts: each part counts as its share of one.
    pub evaluations: f64,
    /// Rounds of messages.
    pub rounds: Vec<Round>,
    /// True when the search converged, or all parts agreed.
    pub settled: bool,
    /// True when the sum of the expansions had no maximum and parts were heard only where they curve downwards.
    pub damped: bool,
}

/// Learns from parts, from the current values of kernel and noise on; `noise_is_fixed` keeps the latter.
pub fn from_parts(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    noise_is_fixed: bool,
    parts: &[Dataset],
    way: FromPartsWay,
    prior: Hyperprior,
    watch: &dyn Watch,
) -> Result<FromParts> {
    let policy = JitterPolicy::default();
    let local: Vec<LocalSite> = parts
        .iter()
        .map(|data| LocalSite {
            kernel,
            data,
            policy,
        })
        .collect();
    let sites: Vec<&dyn Site> = local.iter().map(|site| site as &dyn Site).collect();
    let mut parameters = kernel.parameters();
    parameters.push(Parameter {
        fixed: noise_is_fixed,
        ..noise.parameter()
    });
    from_sites(kernel, &parameters, &sites, way, prior, watch)
}

/// The same from parts wherever they are.
fn from_sites(
    kernel: &BoundKernel,
    parameters: &[Parameter],
    sites: &[&dyn Site],
    way: FromPartsWay,
    prior: Hyperprior,
    watch: &dyn Watch,
) -> Result<FromParts> {
    let priors = prior.all(parameters);
    let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
    let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
    let inside = |(parameter, (low, high)): (&Parameter, &(f64, f64))| {
        parameter.coordinate().clamp(*low, *high)
    };
    let start: Vec<f64> = parameters.iter().zip(&bounds).map(inside).collect();
    let shared = Shared { sites, watch };
    let objective = WithPrior {
        objective: &shared,
        priors: &priors,
    };
    let needs_normal = || -> Result<Quadratic> {
        prior.quadratic(parameters).ok_or_else(|| {
            Error::Spec(
                "expansions of parts are fused with a normal hyperprior: use `--hyperprior broad` or `normal:MEAN,DEVIATION`"
                    .into(),
            )
        })
    };
    let finish = |coordinates: Vec<f64>| -> Result<FromParts> {
        let (kernel, noise) = at(kernel, &coordinates)?;
        Ok(FromParts {
            kernel,
            noise,
            coordinates,
            deviations: None,
            value: 0.0,
            evaluations: 0.0,
            rounds: Vec::new(),
            settled: true,
            damped: false,
        })
    };
    let agreement = match way {
        FromPartsWay::Shared => {
            watch.progress("learning from parts", 0, 1);
            let limits = SearchLimits {
                steps: 100,
                relative_gain: 1e-7,
                ..SearchLimits::default()
            };
            let found = maximise(&objective, &start, &bounds, &free, limits, watch)?;
            watch.progress("learning from parts", 1, 1);
            return Ok(FromParts {
                value: found.value,
                evaluations: found.evaluations as f64,
                settled: found.stop == Stop::Converged,
                ..finish(found.coordinates)?
            });
        }
        FromPartsWay::LocalLaplace => {
            local_approximations(sites, &needs_normal()?, &start, &bounds, &free, watch)?
        }
        FromPartsWay::Propagation(how) => {
            propagate(sites, &needs_normal()?, &start, &bounds, &free, &how, watch)?
        }
    };
    let asked: usize = agreement.rounds.iter().map(|round| round.evaluations).sum();
    Ok(FromParts {
        deviations: Some(agreement.deviations),
        value: objective.evaluate(&agreement.coordinates)?.value,
        evaluations: asked as f64 / sites.len().max(1) as f64,
        settled: agreement.agreed,
        rounds: agreement.rounds,
        damped: agreement.damped,
        ..finish(agreement.coordinates)?
    })
}
