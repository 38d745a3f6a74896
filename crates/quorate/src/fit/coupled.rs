//! Any number of classes through the softmax, over all rows at once: coupled Laplace.

use quorate_gp::data::{Dataset, Schema};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::learn::{Search, learn_classes};
use quorate_gp::likelihood::{Classes, GaussianNoise};
use quorate_gp::linalg::Jitter;
use quorate_gp::posterior::MulticlassPosterior;
use quorate_gp::watch::Watch;

use super::Found;
use super::latent::{FOLDS, kernel};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::latent::class_of;
use crate::score::{ClassScores, ClassSum};
use crate::spec::{LearnChoice, ModelSpec};
use crate::task::{LikelihoodChoice, Scorecard};

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Answers)> {
    if spec.likelihood != LikelihoodChoice::Auto {
        return Err(Error::Spec(format!(
            "`--likelihood {}` tells two classes apart, and `{}` has more: leave it out for the softmax",
            spec.likelihood,
            schema.roles().target
        )));
    }
    let search = Search {
        restarts: Some(spec.restarts.unwrap_or(0)),
        seed: spec.seed,
        ..Search::default()
    };
    let (kernel, candidates) = kernel(spec, schema, data, &search, watch)?;
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(data.inputs(), data.targets());
    let (coded, classes) = coded(schema, data)?;
    let mut history = Vec::new();
    if spec.learn != LearnChoice::None {
        let (mut kernels, records) = learn_classes(&[bound], &coded, &classes, &search, watch)?;
        history = records;
        bound = kernels.swap_remove(0);
    }
    // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
    let kernel = bound.kernel();
    let bound = kernel.bind(schema.columns())?;
    let scores = folds(schema, data, &bound, watch)?;
    let posterior = condition(bound, schema, data)?;
    let evaluations: usize = history.iter().map(|record| record.evaluations).sum();
    let learned = match spec.learn {
        LearnChoice::None => "Hyperparameters were kept as given.".to_owned(),
        _ => format!("Learning took {evaluations} evaluations of the approximate evidence."),
    };
    let found = Found {
        method: Method::Coupled,
        kernel,
        noise: GaussianNoise { variance: 0.0 },
        jitter: Jitter::default(),
        log_evidence: Some(posterior.log_evidence()),
        effective_parameters: None,
        leave_one_out: Scorecard::Classes(scores),
        link: None,
        spread: None,
        through: None,
        candidates,
        history,
        conditional: None,
        hyperposterior: None,
        mixture: None,
        outcome: format!("{learned} Scores are of all rows, each fifth predicted from the others."),
    };
    Ok((found, Answers::Coupled(Box::new(posterior))))
}

/// Conditions one process for each class, under one kernel, on rows whose classes are known.
pub(crate) fn condition(
    kernel: BoundKernel,
    schema: &Schema,
    data: &Dataset,
) -> Result<MulticlassPosterior> {
    let (coded, classes) = coded(schema, data)?;
    Ok(MulticlassPosterior::fit(
        vec![kernel],
        coded,
        classes,
        None,
    )?)
}

/// The rows with the codes of their classes as targets, and how often each class was seen at each.
fn coded(schema: &Schema, data: &Dataset) -> Result<(Dataset, Classes)> {
    let Some(classes) = schema.target().classes() else {
        return Err(Error::Spec(format!(
            "`--inference` is for classes, and `{}` is a number",
            schema.roles().target
        )));
    };
    let (mut values, mut codes, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (index, member) in data.members().iter().enumerate() {
        values.extend_from_slice(data.inputs().row(member.group));
        codes.push(class_of(classes, schema, data, index) as f64);
        weights.push(member.weight);
    }
    let width = data.inputs().width();
    let coded = Dataset::new(values, width, codes, Some(weights), None)?;
    let classes = Classes::of(&coded, classes.count())?;
    Ok((coded, classes))
}

/// Scores of all rows, a fifth at a time predicted from the others with the same hyperparameters.
fn folds(
    schema: &Schema,
    data: &Dataset,
    kernel: &BoundKernel,
    watch: &dyn Watch,
) -> Result<ClassScores> {
    let Some(classes) = schema.target().classes() else {
        return Err(Error::Spec("the target is no class".into()));
    };
    let mut sum = ClassSum::new(classes.count());
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
        let told = condition(kernel.clone(), schema, &others)?.probabilities(held.inputs())?;
        for (index, member) in held.members().iter().enumerate() {
            let class = class_of(classes, schema, &held, index);
            let own: Vec<f64> = (0..classes.count())
                .map(|class| told[(member.group, class)])
                .collect();
            sum.add(class, &own, member.weight);
        }
    }
    watch.progress("scoring rows left out", count, count);
    sum.scores()
}
