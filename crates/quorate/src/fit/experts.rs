//! Mixtures of experts with weights: trained on all rows, scored on fifths that were left out.

use quorate_gp::data::{ColumnKind, Dataset, Inputs, Schema};
use quorate_gp::kernel::Kernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;

use super::Found;
use super::mixture::MixtureRecord;
use crate::answers::{Answers, Method, MixtureShape};
use crate::error::{Error, Result};
use crate::mixture::{
    Asked, MixtureAnswers, MixtureRows, MixtureState, ParametricMixture, TreeRows, density,
};
use crate::score::{ScoreSum, Yardstick};
use crate::task::Scorecard;

/// Parts that are left out in turn for the scores.
const FOLDS: usize = 5;

pub fn fit(
    asked: Asked,
    schema: &Schema,
    data: Dataset,
    watch: &dyn Watch,
) -> Result<(Found, MixtureState, Answers)> {
    let mut columns = schema.columns().iter();
    if let Some(category) = columns.find(|own| matches!(own.kind, ColumnKind::Category { .. })) {
        return Err(Error::Spec(format!(
            "linear and network experts read numbers, and `{}` is a category: leave it out, or use experts that are processes",
            category.name
        )));
    }
    let rows = MixtureRows::of(&data)?;
    if rows.count() < 2 * FOLDS {
        return Err(Error::Spec(format!(
            "a mixture of experts with weights needs at least {} rows",
            2 * FOLDS
        )));
    }
    let all: Vec<usize> = (0..rows.count()).collect();
    let trained = train(asked, &rows, &all, watch)?;
    let scores = scored(asked, schema, &rows, watch)?;
    let voices = trained.voices(rows.inputs()?)?;
    let total: f64 = rows.weights().iter().sum();
    let share = |shares: &[f64]| {
        let sum: f64 = shares.iter().zip(rows.weights()).map(|(g, w)| g * w).sum();
        sum / total
    };
    let kernel: Kernel = "linear".parse()?;
    let told = density(&voices, 0.0, 1.0).prediction(rows.count());
    let noise = told.noise_variance.iter().sum::<f64>() / rows.count() as f64;
    let experts = voices.len();
    let record = MixtureRecord {
        experts: Vec::new(),
        shares: voices.iter().map(|voice| share(&voice.share)).collect(),
        gate: kernel.clone(),
        noise: kernel.clone(),
        level: 0.0,
        objective: Vec::new(),
        left_out: Vec::new(),
        kept: 0,
        parametric: Some(trained),
        heard: None,
    };
    let found = Found {
        method: Method::Mixture(MixtureShape {
            experts,
            landmarks: None,
        }),
        kernel,
        noise: GaussianNoise { variance: noise },
        jitter: Jitter::default(),
        log_evidence: None,
        effective_parameters: None,
        leave_one_out: scores,
        link: None,
        spread: None,
        through: None,
        candidates: Vec::new(),
        history: Vec::new(),
        conditional: None,
        outcome: format!(
            "{experts} experts with weights were trained. Scores are of each fifth of the rows, predicted from the others."
        ),
        hyperposterior: None,
        mixture: Some(record),
    };
    let state = MixtureState {
        data,
        sites: Vec::new(),
        heard: None,
    };
    let answers = MixtureAnswers::new(found.mixture.as_ref(), schema.columns(), &state)?;
    Ok((found, state, Answers::Mixture(Box::new(answers))))
}

fn train(
    asked: Asked,
    rows: &MixtureRows,
    some: &[usize],
    watch: &dyn Watch,
) -> Result<ParametricMixture> {
    let inputs = rows.inputs()?;
    let values: Vec<f64> = some
        .iter()
        .flat_map(|&row| inputs.row(row))
        .copied()
        .collect();
    let pick = |all: &[f64]| -> Vec<f64> { some.iter().map(|&row| all[row]).collect() };
    let (targets, weights) = (pick(rows.targets()), pick(rows.weights()));
    let rows = TreeRows {
        inputs: Inputs::new(&values, some.len(), inputs.width())?,
        targets: &targets,
        weights: &weights,
    };
    ParametricMixture::train(asked, rows, watch)
}

/// Every fifth row predicted from the others.
fn scored(
    asked: Asked,
    schema: &Schema,
    rows: &MixtureRows,
    watch: &dyn Watch,
) -> Result<Scorecard> {
    let yardstick = Yardstick::from(schema);
    let Yardstick { mean, deviation } = yardstick;
    let mut sum = ScoreSum::new(yardstick);
    for fold in 0..FOLDS {
        watch.progress("scoring fifths", fold, FOLDS);
        let (held, kept): (Vec<usize>, Vec<usize>) =
            (0..rows.count()).partition(|row| row % FOLDS == fold);
        let trained = train(asked, rows, &kept, watch)?;
        let inputs = rows.inputs()?;
        let values: Vec<f64> = held
            .iter()
            .flat_map(|&row| inputs.row(row))
            .copied()
            .collect();
        let voices = trained.voices(Inputs::new(&values, held.len(), inputs.width())?)?;
        let told = density(&voices, mean, deviation);
        let prediction = told.clone().prediction(held.len());
        let variances = prediction.variance(false);
        for (place, &row) in held.iter().enumerate() {
            let target = mean + deviation * rows.targets()[row];
            let weight = rows.weights()[row];
            sum.add(target, prediction.mean[place], variances[place], weight);
            sum.correct(target, &told, place, weight);
        }
    }
    Ok(Scorecard::Number(sum.scores()?))
}
