//! Two classes through a likelihood, over all rows at once.

use quorate_gp::data::{Dataset, Schema};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::learn::{Search, SearchRecord, learn_latent, learn_propagation};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;

use super::Found;
use super::auto::{self, Best, Candidate};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::latent::{Approximation, LatentAnswers, class_of, observations, two_classes};
use crate::score::{ClassScores, ClassSum};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::{Scorecard, Through};

/// Parts of the rows that are predicted from the others, for the scores.
pub(super) const FOLDS: usize = 5;

pub fn fit(
    how: Approximation,
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Answers)> {
    let Learned {
        kernel: bound,
        through,
        candidates,
        history,
    } = learn(how, spec, schema, data, watch)?;
    // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
    let kernel = bound.kernel();
    let bound = kernel.bind(schema.columns())?;
    let scores = folds(how, schema, data, &bound, through, watch)?;
    let answers = LatentAnswers::condition(how, bound, schema, data, through)?;
    let evaluations: usize = history.iter().map(|record| record.evaluations).sum();
    let learned = match spec.learn {
        LearnChoice::None => "Hyperparameters were kept as given.".to_owned(),
        _ => format!("Learning took {evaluations} evaluations of the approximate evidence."),
    };
    let found = Found {
        method: Method::Latent(how),
        kernel,
        noise: GaussianNoise { variance: 0.0 },
        jitter: Jitter::default(),
        log_evidence: Some(answers.log_evidence()),
        effective_parameters: None,
        leave_one_out: Scorecard::Classes(scores),
        link: None,
        spread: None,
        through: Some(through),
        candidates,
        history,
        conditional: None,
        hyperposterior: None,
        mixture: None,
        outcome: format!("{learned} Scores are of all rows, each fifth predicted from the others."),
    };
    Ok((found, Answers::Latent(Box::new(answers))))
}

/// Hyperparameters and how they were found.
pub(super) struct Learned {
    pub kernel: BoundKernel,
    pub through: Through,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
}

/// The maximum of the approximate evidence, or the values of the kernel's text where nothing is to be learned.
pub(super) fn learn(
    how: Approximation,
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Learned> {
    let mut through = Through {
        likelihood: spec.likelihood.of_classes()?,
        level: 0.0,
    };
    let plain = observations(schema, data, through)?;
    through.level = through.likelihood.level(&plain)?;
    let seen = observations(schema, data, through)?;
    let search = Search {
        restarts: spec.restarts,
        seed: spec.seed,
        hyperprior: spec.hyperprior.unwrap_or_default(),
        ..Search::default()
    };
    let (kernel, candidates) = kernel(spec, schema, data, &search, watch)?;
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(data.inputs(), data.targets());
    let mut history = Vec::new();
    if spec.learn != LearnChoice::None {
        let likelihood = through.likelihood;
        (bound, through.likelihood, history) = match how {
            Approximation::Laplace => {
                learn_latent(&bound, likelihood, data, &seen, &search, watch)?
            }
            Approximation::Propagation => {
                let (bound, history) =
                    learn_propagation(&bound, likelihood, data, &seen, &search, watch)?;
                (bound, likelihood, history)
            }
        };
    }
    Ok(Learned {
        kernel: bound,
        through,
        candidates,
        history,
    })
}

pub(super) fn kernel(
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
        // Shapes are compared by the fast version, whose evidence is exact; values are found by the likelihood.
        KernelChoice::Auto => {
            let classes = schema.target().classes().map(|own| own.count());
            let Best { kernel, tried, .. } =
                auto::choose(schema.columns(), data, classes, search, watch)?;
            Ok((kernel.structure().parse()?, tried))
        }
    }
}

/// Scores of all rows, a fifth at a time predicted from the others with the same hyperparameters.
fn folds(
    how: Approximation,
    schema: &Schema,
    data: &Dataset,
    kernel: &BoundKernel,
    through: Through,
    watch: &dyn Watch,
) -> Result<ClassScores> {
    let classes = two_classes(schema)?;
    let mut sum = ClassSum::new(2);
    let count = FOLDS.min(data.rows());
    for fold in 0..count {
        watch.check()?;
        watch.progress("scoring rows left out", fold, count);
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..data.rows()).partition(|row| row % count == fold);
        let held = data.select(&held);
        // A single row can only be asked of itself.
        let others = if others.is_empty() {
            data.clone()
        } else {
            data.select(&others)
        };
        let answers = LatentAnswers::condition(how, kernel.clone(), schema, &others, through)?;
        let latents = answers.latents(held.inputs())?;
        for (index, member) in held.members().iter().enumerate() {
            let latent = latents[member.group];
            let class = class_of(classes, schema, &held, index);
            let told = through.probabilities(latent.mean, latent.variance);
            sum.add(class, &told, member.weight);
        }
    }
    watch.progress("scoring rows left out", count, count);
    sum.scores()
}
