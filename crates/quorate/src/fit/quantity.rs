//! Counts, amounts and lifetimes through a likelihood, over all rows at once.

use quorate_gp::data::{Dataset, Quantity, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::learn::{Search, SearchRecord, learn_latent};
use quorate_gp::likelihood::{GaussianNoise, Likelihood, Observations};
use quorate_gp::linalg::Jitter;
use quorate_gp::posterior::LaplacePosterior;
use quorate_gp::watch::Watch;

use super::Found;
use super::auto::{self, Best, Candidate};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::latent::{Approximation, LatentAnswers, observations};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::{LikelihoodChoice, Through, judge_latents, quantity};

/// Rows on which likelihoods of counts are compared.
const COMPARED_ROWS: usize = 400;
/// Nats that the negative binomial must gain over Poisson among them.
const WORTH: f64 = 2.0;

/// One process over all rows; with `given`, under a likelihood whose dispersions are known.
pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    given: Option<Through>,
    watch: &dyn Watch,
) -> Result<(Found, Answers)> {
    let Learned {
        kernel: bound,
        through,
        candidates,
        history,
        remark,
    } = learn(spec, schema, data, given, watch)?;
    // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
    let kernel = bound.kernel();
    let bound = kernel.bind(schema.columns())?;
    watch.progress("conditioning on all rows", 0, 1);
    let seen = observations(schema, data, through)?;
    let likelihood = through.likelihood;
    let posterior = LaplacePosterior::fit(bound, likelihood, data.clone(), seen, None)?;
    watch.check()?;
    let scores = judge_latents(schema, data, through, &posterior.leave_one_out()?)?;
    watch.progress("conditioning on all rows", 1, 1);
    let evaluations: usize = history.iter().map(|record| record.evaluations).sum();
    let learned = match spec.learn {
        LearnChoice::None => "Hyperparameters were kept as given.".to_owned(),
        _ => format!("Learning took {evaluations} evaluations of the approximate evidence."),
    };
    let found = Found {
        method: Method::Latent(Approximation::Laplace),
        kernel,
        noise: GaussianNoise { variance: 0.0 },
        jitter: Jitter::default(),
        log_evidence: Some(posterior.log_evidence()),
        effective_parameters: Some(posterior.effective_parameters()),
        leave_one_out: scores,
        link: None,
        spread: None,
        through: Some(through),
        candidates,
        history,
        conditional: None,
        hyperposterior: None,
        mixture: None,
        outcome: format!(
            "{remark}{learned} Scores are of all rows, each predicted from the others."
        ),
    };
    let answers = LatentAnswers::Laplace(posterior);
    Ok((found, Answers::Latent(Box::new(answers))))
}

/// Kernel, likelihood and how they were found.
pub(super) struct Learned {
    pub kernel: BoundKernel,
    pub through: Through,
    pub candidates: Vec<Candidate>,
    history: Vec<SearchRecord>,
    /// A sentence about the likelihood, ending in a space.
    remark: String,
}

/// The maximum of the approximate evidence, or the values of the kernel's text where nothing is to be learned.
pub(super) fn learn(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    given: Option<Through>,
    watch: &dyn Watch,
) -> Result<Learned> {
    let search = Search {
        restarts: spec.restarts,
        seed: spec.seed,
        ..Search::default()
    };
    let (kernel, candidates) = kernel(spec, schema, data, &search, watch)?;
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(data.inputs(), rough(schema, data)?.targets());
    let (mut through, remark) = match given {
        Some(through) => (through, String::new()),
        None => choose(spec, schema, data, &bound, &search, watch)?,
    };
    let mut history: Vec<SearchRecord> = Vec::new();
    if spec.learn != LearnChoice::None {
        let seen = observations(schema, data, through)?;
        (bound, through.likelihood, history) =
            learn_latent(&bound, through.likelihood, data, &seen, &search, watch)?;
    }
    Ok(Learned {
        kernel: bound,
        through,
        candidates,
        history,
        remark,
    })
}

/// The likelihood with dispersions that suit the targets, and the level of the latent function.
pub(crate) fn started(schema: &Schema, data: &Dataset, likelihood: Likelihood) -> Result<Through> {
    let plain = Through {
        likelihood,
        level: 0.0,
    };
    let seen: Observations = observations(schema, data, plain)?;
    likelihood.check(&seen)?;
    let likelihood = likelihood.started(&seen)?;
    let level = likelihood.level(&seen)?;
    Ok(Through { likelihood, level })
}

/// The likelihood that was asked for, or the one that suits the rows; with a sentence where that was found out.
pub(super) fn choose(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    kernel: &BoundKernel,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(Through, String)> {
    let name = match (spec.likelihood, quantity(spec)?) {
        (LikelihoodChoice::Auto, Some(Quantity::Count)) if spec.learn == LearnChoice::None => {
            "poisson".to_owned()
        }
        (LikelihoodChoice::Auto, Some(Quantity::Count)) => {
            return choose_counts(schema, data, kernel, search, watch);
        }
        (LikelihoodChoice::Auto, _) => "weibull".to_owned(),
        (given, _) => given.to_string(),
    };
    Ok((started(schema, data, name.parse()?)?, String::new()))
}

/// Poisson or negative binomial, by the approximate evidence of a sample of the rows.
fn choose_counts(
    schema: &Schema,
    data: &Dataset,
    kernel: &BoundKernel,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(Through, String)> {
    let sample = data.select(&random_rows(data.rows(), COMPARED_ROWS, search.seed ^ 4));
    let brief = Search {
        restarts: Some(0),
        ..*search
    };
    let evidence = |name: &str| -> Result<f64> {
        let through = started(schema, &sample, name.parse()?)?;
        let seen = observations(schema, &sample, through)?;
        let likelihood = through.likelihood;
        let (kernel, likelihood, _) =
            learn_latent(kernel, likelihood, &sample, &seen, &brief, watch)?;
        let found = LaplacePosterior::fit(kernel, likelihood, sample.clone(), seen, None)?;
        Ok(found.log_evidence())
    };
    let (poisson, negative) = (evidence("poisson")?, evidence("negative-binomial")?);
    let name = if negative > poisson + WORTH {
        "negative-binomial"
    } else {
        "poisson"
    };
    let remark = format!(
        "Chose the likelihood {name}: log evidence of {} rows {poisson:.1} by Poisson, {negative:.1} by negative binomial. ",
        sample.rows()
    );
    Ok((started(schema, data, name.parse()?)?, remark))
}

/// The kernel that was asked for, or a shape found by regression on rough values of the latent function.
fn kernel(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(Kernel, Vec<Candidate>)> {
    match &spec.kernel {
        KernelChoice::Given(kernel) => Ok((kernel.clone(), Vec::new())),
        KernelChoice::Auto if spec.learn == LearnChoice::None => Err(Error::Spec(
            "`auto` compares kernels by learning them: give a kernel, or let it learn".into(),
        )),
        KernelChoice::Auto => {
            let rough = rough(schema, data)?;
            let Best { kernel, tried, .. } =
                auto::choose(schema.columns(), &rough, None, search, watch)?;
            Ok((kernel.structure().parse()?, tried))
        }
    }
}

/// Standardised rough values of the latent function at each distinct row: logarithms of rates and amounts, as they would
/// be without any smoothing. Half a count more keeps them finite.
pub(crate) fn rough(schema: &Schema, data: &Dataset) -> Result<Dataset> {
    let kind = match schema.target().quantity() {
        Some(code) => Some(code.quantity),
        // Classes are regressions already.
        None => return Ok(data.clone()),
    };
    let mut sums = vec![(0.0, 0.0); data.rows()];
    for (index, member) in data.members().iter().enumerate() {
        let mut own = data.own_targets(index);
        let (value, offset) = (own.next().unwrap_or(0.0), own.next().unwrap_or(0.0));
        let sum = &mut sums[member.group];
        sum.0 += member.weight * value;
        sum.1 += member.weight * offset.exp();
    }
    let value = |(sum, exposure): &(f64, f64)| match kind {
        Some(Quantity::Real) => sum / exposure,
        Some(Quantity::Count) => ((sum + 0.5) / exposure).ln(),
        _ => (sum / exposure).ln(),
    };
    let values: Vec<f64> = sums.iter().map(value).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    let deviation = if spread > 0.0 { spread.sqrt() } else { 1.0 };
    let targets = values.iter().map(|v| (v - mean) / deviation).collect();
    let inputs = data.inputs();
    Ok(Dataset::new(
        inputs.values().to_vec(),
        inputs.width(),
        targets,
        Some(data.weights().to_vec()),
        None,
    )?)
}
