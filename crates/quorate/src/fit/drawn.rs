//! Hyperparameters as draws from their posterior.

use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::learn::sample::{Diagnosis, HmcSettings, Sampler, Sampling, diagnose, sample};
use quorate_gp::learn::{
    BlockEvidence, Hyperprior, LaplaceEvidence, Objective, Plausible, PropagationEvidence,
    SearchLimits, SearchRecord, WithPrior, at, maximise,
};
use quorate_gp::likelihood::{GaussianNoise, Observations};
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::parameters::{Parameter, Transform};
use quorate_gp::watch::Watch;

use crate::error::Result;
use crate::hyper::{ChainReport, Hyperposterior, ParameterBelief};
use crate::landmarks::{CommitteeEvidence, choose};
use crate::latent::Approximation;
use crate::spec::{LearnChoice, ModelSpec};
use crate::task::Through;

/// Up to so many rows the evidence is that of one process; beyond, that of parts that speak through landmarks.
const ONE_PROCESS: usize = 1000;
/// Rows and landmarks of the committee whose evidence is drawn from, at most.
const COMMITTEE: (usize, usize) = (4000, 200);
/// Rows of its parts.
const PART_SIZE: usize = 500;
/// Draws that predictions average over, at most.
const AVERAGED: usize = 64;
/// The same where the model keeps a sum for each: landmarks.
pub const AVERAGED_SUMS: usize = 16;

/// What was drawn around a maximum.
pub struct Around {
    /// Coordinates of the maximum.
    pub maximum: Vec<f64>,
    pub hyperposterior: Hyperposterior,
    pub record: SearchRecord,
    pub outcome: String,
    /// Sentences about chains that should not be trusted.
    pub notes: Vec<String>,
}

/// The same with kernel and noise at the maximum.
pub struct Drawn {
    pub kernel: BoundKernel,
    pub noise: GaussianNoise,
    pub around: Around,
}

impl Drawn {
    fn new(kernel: &BoundKernel, around: Around) -> Result<Self> {
        let (kernel, noise) = at(kernel, &around.maximum)?;
        Ok(Self {
            kernel,
            noise,
            around,
        })
    }
}

/// Finds the maximum of the hyperposterior, then draws around it.
pub fn draw(
    spec: &ModelSpec,
    exact: bool,
    sums: bool,
    kernel: &BoundKernel,
    parameters: &[Parameter],
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Drawn> {
    if exact || data.rows() <= ONE_PROCESS {
        let evidence = BlockEvidence::new(kernel, data, JitterPolicy::default());
        let found = around(spec, sums, parameters, &evidence, data.rows(), watch)?;
        return Drawn::new(kernel, found);
    }
    let (rows, most) = COMMITTEE;
    let sample = data.select(&random_rows(data.rows(), rows, spec.seed ^ 2));
    let asked = spec.landmark_count().unwrap_or(most);
    let count = most.min(sample.rows().div_ceil(4)).min(asked).max(1);
    let choice = spec.landmark_choice.unwrap_or_default();
    let values = choose(choice, kernel, sample.inputs(), count, spec.seed, watch)?;
    let width = sample.inputs().width();
    let landmarks = Inputs::new(&values, values.len() / width, width)?;
    let count = sample.rows().div_ceil(PART_SIZE);
    let spread = |first: usize| (first..sample.rows()).step_by(count).collect();
    let parts = sample.split(&(0..count).map(spread).collect::<Vec<_>>());
    let evidence = CommitteeEvidence::new(kernel, &parts, landmarks);
    let rows = sample.rows();
    let found = around(spec, sums, parameters, &evidence, rows, watch)?;
    Drawn::new(kernel, found)
}

/// The same behind a likelihood, from the approximate evidence of all rows (Williams and Barber 1998, sec. 3.2); the maximum
/// and the draws, in coordinates of the kernel and the likelihood.
pub fn draw_latent(
    how: Approximation,
    spec: &ModelSpec,
    kernel: &BoundKernel,
    through: Through,
    data: &Dataset,
    seen: &Observations,
    watch: &dyn Watch,
) -> Result<Around> {
    let mut parameters = kernel.parameters();
    parameters.extend(through.likelihood.parameters());
    let likelihood = through.likelihood;
    let evidence: Box<dyn Objective> = match how {
        Approximation::Laplace => Box::new(LaplaceEvidence::new(kernel, likelihood, data, seen)?),
        Approximation::Propagation => {
            Box::new(PropagationEvidence::new(kernel, likelihood, data, seen)?)
        }
    };
    around(spec, false, &parameters, &*evidence, data.rows(), watch)
}

fn around(
    spec: &ModelSpec,
    sums: bool,
    parameters: &[Parameter],
    evidence: &dyn Objective,
    rows: usize,
    watch: &dyn Watch,
) -> Result<Around> {
    let prior = spec.hyperprior.unwrap_or(Hyperprior::Broad);
    let priors = prior.all(parameters);
    let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
    let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
    let start: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
    let objective = WithPrior {
        objective: evidence,
        priors: &priors,
    };
    let limits = SearchLimits {
        steps: 100,
        relative_gain: 1e-7,
        ..SearchLimits::default()
    };
    let top = maximise(&objective, &start, &bounds, &free, limits, watch)?;
    let how = sampling(spec);
    let chains = sample(&objective, &top.coordinates, &bounds, &free, &how, watch)?;
    let evaluations = chains.iter().map(|chain| chain.evaluations).sum();
    let divergences = chains.iter().map(|chain| chain.divergences).sum();
    let seen: Vec<Option<Diagnosis>> = (0..parameters.len())
        .map(|i| {
            let each = |chain: &quorate_gp::learn::sample::Chain| {
                chain.draws.iter().map(|draw| draw[i]).collect()
            };
            free[i].then(|| diagnose(&chains.iter().map(each).collect::<Vec<Vec<f64>>>()))
        })
        .collect();
    let beliefs = parameters.iter().zip(&seen).zip(&top.coordinates);
    let beliefs: Vec<ParameterBelief> = beliefs
        .map(|((parameter, seen), maximum)| ParameterBelief {
            name: parameter.name.clone(),
            logarithm: parameter.transform == Transform::Log,
            mean: seen.map_or(*maximum, |seen| seen.mean),
            deviation: seen.map_or(0.0, |seen| seen.deviation),
            maximum: *maximum,
            r_hat: seen.map(|seen| seen.r_hat.min(1e6)),
            effective_draws: seen.map(|seen| seen.effective_draws),
        })
        .collect();
    let report = ChainReport {
        chains: chains.len(),
        draws: how.draws,
        warmup: how.warmup,
        divergences,
        evaluations,
        rows,
    };
    let source = match how.sampler {
        Sampler::Nuts => "NUTS",
        Sampler::Hmc(_) => "HMC",
    };
    let draws: Vec<Vec<f64>> = chains.into_iter().flat_map(|chain| chain.draws).collect();
    let most = if sums { AVERAGED_SUMS } else { AVERAGED };
    let averaged = spread_over(draws.len(), most);
    let outcome = format!(
        "{source} drew {} times in {} chains from the hyperposterior of {rows} rows; predictions average over {} of the draws.",
        draws.len(),
        report.chains,
        averaged.len()
    );
    let notes = warnings(&beliefs, &report);
    Ok(Around {
        maximum: top.coordinates,
        hyperposterior: Hyperposterior {
            prior,
            source: source.to_owned(),
            parameters: beliefs,
            chains: Some(report),
            draws,
            averaged,
        },
        record: SearchRecord {
            start: 0,
            rows,
            steps: top.steps,
            evaluations: top.evaluations,
            failures: top.failures,
            value: top.value,
            stop: top.stop,
        },
        outcome,
        notes,
    })
}

fn sampling(spec: &ModelSpec) -> Sampling {
    let usual = Sampling::default();
    let draws = spec.draws.unwrap_or(usual.draws).max(1);
    Sampling {
        sampler: match spec.learn {
            LearnChoice::Hmc => Sampler::Hmc(HmcSettings::default()),
            _ => Sampler::Nuts,
        },
        chains: spec.chains.unwrap_or(usual.chains).max(1),
        warmup: spec.warmup.unwrap_or(usual.warmup),
        draws,
        seed: spec.seed,
    }
}

/// Evenly spaced draws, from all chains.
fn spread_over(draws: usize, most: usize) -> Vec<usize> {
    let count = draws.min(most);
    (0..count)
        .map(|place| (2 * place + 1) * draws / (2 * count))
        .collect()
}

/// Above this, chains tell different things (Vehtari and others 2021 ask for less than 1.01 of long chains).
const R_HAT: f64 = 1.05;
/// Below this for each chain, means are not to be trusted.
const EFFECTIVE_DRAWS: f64 = 25.0;

/// What a person should know before trusting the draws.
pub(crate) fn warnings(beliefs: &[ParameterBelief], report: &ChainReport) -> Vec<String> {
    let mut notes = Vec::new();
    let named = |beliefs: &[&ParameterBelief]| -> String {
        let names: Vec<&str> = beliefs.iter().take(3).map(|b| b.name.as_str()).collect();
        let more = if beliefs.len() > 3 { ", ..." } else { "" };
        format!("{}{more}", names.join(", "))
    };
    let apart: Vec<&ParameterBelief> = (beliefs.iter())
        .filter(|belief| belief.r_hat.is_some_and(|r_hat| r_hat > R_HAT))
        .collect();
    if !apart.is_empty() {
        let worst = apart.iter().filter_map(|b| b.r_hat).fold(0.0, f64::max);
        notes.push(format!(
            "the chains do not agree (R-hat up to {worst:.2}: {}): the draws are not from one posterior; try more `--warmup` and `--draws`, a narrower `--hyperprior`, or fewer hyperparameters",
            named(&apart)
        ));
    }
    let least = EFFECTIVE_DRAWS * report.chains as f64;
    let few: Vec<&ParameterBelief> = (beliefs.iter())
        .filter(|belief| belief.effective_draws.is_some_and(|draws| draws < least))
        .collect();
    if !few.is_empty() {
        notes.push(format!(
            "few effective draws (less than {least:.0}: {}): ask for more `--draws`",
            named(&few)
        ));
    }
    if report.divergences > 0 {
        notes.push(format!(
            "{} of {} trajectories diverged: the posterior has corners that the draws miss; a narrower `--hyperprior` may help",
            report.divergences,
            report.chains * report.draws
        ));
    }
    notes
}
