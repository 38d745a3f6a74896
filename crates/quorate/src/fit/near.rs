//! A long table whose targets have a likelihood, answered from the nearest rows: working targets that are expanded where
//! the neighbourhoods themselves put the function.

use quorate_gp::data::{Dataset, Inputs, Schema, random_rows};
use quorate_gp::likelihood::Latent;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;

use super::Found;
use super::landmarks::{PART_SIZE, landmark_inputs, learned_by, usual_landmarks};
use super::local::{SCORED_ROWS, neighbourhood};
use super::through;
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::expand::{Expansion, NO_NOISE, working_at};
use crate::landmarks::Landmarks;
use crate::local::LocalAnswers;
use crate::spec::ModelSpec;
use crate::task::judge_latents;

/// Landmarks through which rows first expand.
const LANDMARKS: usize = 500;
/// Rows at most that are expanded once more, where their neighbourhoods put them.
const SWEPT_ROWS: usize = 50_000;

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Dataset, Answers)> {
    let learned = through::learn(spec, schema, data, PART_SIZE, watch)?;
    let Some(through) = learned.through else {
        return Err(Error::Spec("the target has no likelihood".into()));
    };
    let kernel = learned.kernel.kernel();
    let bound = kernel.bind(schema.columns())?;
    let count = LANDMARKS.min(usual_landmarks(data.rows()));
    let plain = ModelSpec {
        landmark_rows: None,
        ..spec.clone()
    };
    let inputs = data.inputs();
    let chosen = landmark_inputs(&plain, schema, &bound, inputs, count, watch)?;
    let places = Inputs::new(&chosen, chosen.len() / inputs.width(), inputs.width())?;
    let landmarks = Landmarks::new(bound.clone(), places)?;
    let rows = random_rows(data.rows(), through::MODE_ROWS, spec.seed ^ 5);
    let sample = data.select(&rows);
    let expansion = Expansion::find(&landmarks, through, schema, &sample, None, watch)?;
    let mut working = expansion.working(schema, data)?.data;
    let shape = neighbourhood(spec);
    let mut answers = LocalAnswers::new(bound.clone(), NO_NOISE, working, shape);
    if data.rows() <= SWEPT_ROWS {
        watch.progress("expanding at the neighbourhoods' mode", 0, 1);
        let told = answers.marginals(inputs)?;
        let latent: Vec<f64> = (0..data.rows()).map(|row| told.mean[(row, 0)]).collect();
        watch.check()?;
        working = working_at(schema, data, through, &latent)?.data;
        answers = LocalAnswers::new(bound, NO_NOISE, working, shape);
        watch.progress("expanding at the neighbourhoods' mode", 1, 1);
    }
    let places = random_rows(data.rows(), SCORED_ROWS, spec.seed ^ 1);
    let held = data.select(&places);
    let (_, left_out) = answers.leave_one_out(&places, watch)?;
    // One working target stands for all rows of an input: they are left out together.
    let latent = |row: usize| Latent {
        mean: left_out.mean[row],
        variance: left_out.variance[row],
    };
    let told: Vec<Latent> = held.members().iter().map(|m| latent(m.group)).collect();
    let scores = judge_latents(schema, &held, through, &told)?;
    let outcome = format!(
        "{} Scores are of {} random rows, each predicted from the others.",
        learned_by(&learned, spec.learn),
        scores.rows()
    );
    let found = Found {
        method: Method::Local(shape),
        kernel,
        noise: NO_NOISE,
        jitter: Jitter::default(),
        log_evidence: None,
        effective_parameters: None,
        leave_one_out: scores,
        link: None,
        spread: None,
        through: Some(through),
        candidates: learned.candidates,
        history: learned.history,
        conditional: None,
        hyperposterior: None,
        mixture: None,
        outcome,
    };
    let rows = answers.data().clone();
    Ok((found, rows, Answers::Local(answers)))
}
