//! A table of any length: hyperparameters from a sample of parts, answers through landmarks, no row kept.

use std::borrow::Cow;

use quorate_gp::data::{Batches, Dataset, InputColumn, Inputs, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{Plausible, SearchLimits, SearchRecord, WithPrior, at, maximise};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::parameters::Parameter;
use quorate_gp::posterior::Predict;
use quorate_gp::watch::Watch;

use super::auto::{self, Candidate};
use super::start::{CAREFUL, from_random_part};
use super::through;
use super::{Found, LandmarkShape};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::expand::Expansion;
use crate::landmarks::{
    CHUNK_ROWS, Committee, CommitteeEvidence, Cut, Ear, LandmarkBelief, Landmarks, Listener,
    PartRecord, Streamed, SummaryTree, choose,
};
use crate::partition::Labels;
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::{Judged, Through, judge_held_out, judge_through};

/// Landmarks unless told otherwise: at most this many, and a quarter of the rows.
const LANDMARKS: usize = 1000;
/// Rows of one expert unless told otherwise.
pub const PART_SIZE: usize = 500;
/// Rows held out for the scores: a tenth, at most this many; they also tell how wide answers are, and with 1,000 rows the share within
/// 95 % intervals is known to 0.7 %.
const HELD_OUT: usize = 4000;
/// Name of the rows of a fit unless told otherwise.
const PART_NAME: &str = "part-1";
/// Kernels are compared on a small sample.
pub const COMPARED: Climb = Climb {
    rows: 4000,
    landmarks: 300,
    steps: 30,
};
/// The best is climbed further on a larger one: hyperparameters that suit few landmarks smooth more than many need.
pub const FURTHER: Climb = Climb {
    rows: 7500,
    landmarks: 750,
    steps: 20,
};

/// A climb of the committee evidence of a sample: random rows, and the landmarks that go with them.
#[derive(Clone, Copy)]
pub struct Climb {
    pub rows: usize,
    pub landmarks: usize,
    pub steps: u64,
}

/// What becomes of the rows once everything has been learned from them.
pub enum Rows<'a> {
    /// They are the model's first part.
    Absorb,
    /// They were a sample: the model starts with no row.
    Leave,
    /// They were a sample of a table whose rows are the model's first part.
    Stream {
        /// The table, from its first row.
        table: &'a mut dyn Batches,
        /// Where in it the rows of the sample are.
        positions: &'a [usize],
    },
}

/// Landmarks for a number of distinct rows unless told otherwise.
pub fn usual_landmarks(rows: usize) -> usize {
    let seen = rows.saturating_sub(held_out(rows)).max(1);
    LANDMARKS.min(seen / 4).max(1)
}

pub(super) fn wanted_landmarks(spec: &ModelSpec, rows: usize) -> usize {
    let asked = spec.landmark_count();
    asked.unwrap_or(usual_landmarks(rows)).max(1)
}

/// How many of the distinct rows are held out for the scores.
pub(super) fn held_out(rows: usize) -> usize {
    (rows / 10).clamp(1, HELD_OUT)
}

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    labels: Option<&Labels>,
    rows: Rows<'_>,
    watch: &dyn Watch,
) -> Result<(Found, Committee, Answers, Vec<String>)> {
    let how = cut_of(spec, data);
    let (held_groups, other_groups) = how.held_out_rows(data.rows());
    let [held, others] = [&held_groups, &other_groups].map(|rows| data.select(rows));
    // One distinct row can only be asked of the prior; it must still be learned from.
    let seen = if others.rows() == 0 { data } else { &others };

    let learned = match through::likelihood_of(spec, schema) {
        true => through::learn(spec, schema, seen, how.part_size, watch)?,
        false => learn(spec, schema, seen, how.part_size, watch)?,
    };
    // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
    let (kernel, noise) = (learned.kernel.kernel(), learned.noise);
    let bound = kernel.bind(schema.columns())?;
    let wanted = wanted_landmarks(spec, data.rows());
    let chosen = landmark_inputs(spec, schema, &bound, seen.inputs(), wanted, watch)?;
    let width = seen.inputs().width();
    let inputs = Inputs::new(&chosen, chosen.len() / width, width)?;
    let landmarks = Landmarks::new(bound, inputs)?;

    let expansion = match learned.through {
        Some(through) => {
            let rows = random_rows(seen.rows(), through::MODE_ROWS, spec.seed ^ 5);
            let some = seen.select(&rows);
            let found = Expansion::find(&landmarks, through, schema, &some, None, watch)?;
            Some(found)
        }
        None => None,
    };
    let ear = Ear {
        landmarks: &landmarks,
        noise,
        expansion: expansion.as_ref().map(|own| (schema, own)),
    };
    let functions = schema.target().functions();
    let mut committee = Committee::new(&landmarks, functions, data.inputs());
    committee.anchor = expansion.as_ref().map(|own| own.weights().to_vec());
    let mut notes = Vec::new();
    let name = spec.part_name.as_deref().unwrap_or(PART_NAME);
    let mut tree = SummaryTree::of_outputs(functions);
    let heard = match rows {
        Rows::Absorb | Rows::Leave => {
            ear.hear(&mut tree, &others, &how, labels, watch)?;
            let record = PartRecord::new(name, data, how.clone());
            let absorbed = matches!(rows, Rows::Absorb);
            (Some(held), absorbed.then_some(record))
        }
        Rows::Stream { table, positions } => {
            drop(others);
            let streamed = Streamed {
                chunk: CHUNK_ROWS,
                held_out: places(data, &held_groups, positions),
            };
            let listener = Listener {
                schema,
                ear,
                cut: &how,
            };
            let pass = listener.hear(&mut tree, table, &streamed, &committee, watch)?;
            notes.extend(pass.notes.iter().cloned());
            let record = PartRecord::of_pass(name, &pass, how.clone(), streamed);
            (pass.held, Some(record))
        }
    };
    let (Some(held), record) = heard else {
        return Err(Error::Spec(
            "the table changed while it was read: the rows to be scored are gone".into(),
        ));
    };
    let before = tree.clone().total(landmarks.count())?;
    let belief = LandmarkBelief::new(landmarks.clone(), &before)?;
    drop(before);
    let answers = belief.marginals(held.inputs())?;
    drop(belief);
    let judged = match learned.through {
        Some(through) => judge_through(schema, &held, &answers, through)?,
        None => judge_held_out(spec, schema, &held, &answers, noise)?,
    };
    if let Some(record) = record {
        match labels {
            Some(_) => ear.hear(&mut tree, &held, &how, labels, watch)?,
            None => ear.hear(&mut tree, &held, &how.without_column(), None, watch)?,
        }
        let summary = tree.total(landmarks.count())?;
        committee.add(record, summary, spec.keep_parts)?;
    }
    let jitter = landmarks.factor().jitter();
    let count = landmarks.count();
    let belief = LandmarkBelief::new(landmarks.clone(), &committee.total)?;
    let found = Found {
        method: Method::Landmarks(LandmarkShape {
            landmarks: count,
            part_size: how.part_size,
        }),
        outcome: outcome(&learned, spec.learn, &judged),
        kernel,
        noise,
        jitter,
        log_evidence: Some(belief.log_evidence()),
        effective_parameters: Some(belief.effective_parameters()),
        leave_one_out: judged.scores,
        link: judged.link,
        spread: judged.spread,
        through: learned.through,
        candidates: learned.candidates,
        history: learned.history,
        conditional: None,
        hyperposterior: None,
        mixture: None,
    };
    Ok((found, committee, Answers::Landmarks(belief), notes))
}

/// How the rows of a fit are given to experts.
fn cut_of(spec: &ModelSpec, data: &Dataset) -> Cut {
    Cut {
        parts: spec.parts_through_landmarks(),
        part_size: spec.part_size.unwrap_or(PART_SIZE).max(1),
        held_out: held_out(data.rows()),
        seed: spec.seed,
    }
}

/// The rows that are not held out for the scores.
pub(super) fn rows_to_learn_from<'a>(spec: &ModelSpec, data: &'a Dataset) -> Cow<'a, Dataset> {
    let (_, others) = cut_of(spec, data).held_out_rows(data.rows());
    if others.is_empty() {
        Cow::Borrowed(data)
    } else {
        Cow::Owned(data.select(&others))
    }
}

/// Where in the table the rows of some groups of a sample are.
fn places(sample: &Dataset, groups: &[usize], positions: &[usize]) -> Vec<usize> {
    let members = sample.members().iter();
    members
        .filter(|member| groups.binary_search(&member.group).is_ok())
        .map(|member| positions[member.row])
        .collect()
}

/// The landmarks of a model, encoded: those given, or as many as wanted among these inputs.
pub(super) fn landmark_inputs(
    spec: &ModelSpec,
    schema: &Schema,
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    count: usize,
    watch: &dyn Watch,
) -> Result<Vec<f64>> {
    if let Some(given) = &spec.landmark_rows {
        return given.encode(schema);
    }
    let choice = spec.landmark_choice.unwrap_or_default();
    choose(choice, kernel, inputs, count, spec.seed, watch)
}

/// Hyperparameters and how they were found.
pub(super) struct Learned {
    pub kernel: BoundKernel,
    pub noise: GaussianNoise,
    /// The likelihood, where targets have one.
    pub through: Option<Through>,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
    /// A sentence about the likelihood, ending in a space.
    pub remark: String,
}

/// Hyperparameters by the committee evidence of a sample, after the evidence of a random part.
pub(super) fn learn(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    part_size: usize,
    watch: &dyn Watch,
) -> Result<Learned> {
    let kernels = match &spec.kernel {
        KernelChoice::Given(kernel) => vec![kernel.clone()],
        KernelChoice::Auto if spec.learn != LearnChoice::Auto => {
            return Err(Error::Spec(
                "`auto` compares kernels by their committee evidence: give a kernel, or leave `--learn` out".into(),
            ));
        }
        KernelChoice::Auto => candidates(schema.columns())?,
    };
    let mut best: Option<(BoundKernel, GaussianNoise, SearchRecord)> = None;
    let mut tried = Vec::new();
    let mut failure = None;
    for kernel in &kernels {
        let (bound, noise) = from_random_part(spec, schema, kernel, data, CAREFUL, watch)?;
        if spec.learn != LearnChoice::Auto {
            return Ok(Learned {
                kernel: bound,
                noise,
                through: None,
                candidates: Vec::new(),
                history: Vec::new(),
                remark: String::new(),
            });
        }
        match climb(COMPARED, spec, &bound, noise, data, part_size, watch) {
            Ok(climbed) => {
                let value = climbed.2.value;
                tried.push(Candidate {
                    kernel: kernel.structure().to_string(),
                    log_evidence: Some(value),
                    predictive_nlpd: -value / (climbed.2.rows * data.outputs()) as f64,
                });
                if best
                    .as_ref()
                    .is_none_or(|(_, _, leader)| value > leader.value)
                {
                    best = Some(climbed);
                }
            }
            Err(Error::Gp(error)) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    match (best, failure) {
        (Some((mut kernel, mut noise, record)), _) => {
            let mut history = vec![record];
            // Where the model will have no more landmarks than that, the first climb was already for them.
            let wanted = wanted_landmarks(spec, data.rows());
            if data.rows() > COMPARED.rows && wanted > COMPARED.landmarks {
                let further = climb(FURTHER, spec, &kernel, noise, data, part_size, watch)?;
                kernel = further.0;
                noise = further.1;
                history.push(further.2);
            }
            Ok(Learned {
                kernel,
                noise,
                through: None,
                candidates: if tried.len() > 1 { tried } else { Vec::new() },
                history,
                remark: String::new(),
            })
        }
        (None, Some(error)) => Err(error.into()),
        (None, None) => Err(Error::Spec("no kernel fits these columns".into())),
    }
}

/// Quasi-Newton steps on the committee evidence of a sample of rows.
fn climb(
    size: Climb,
    spec: &ModelSpec,
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
    part_size: usize,
    watch: &dyn Watch,
) -> Result<(BoundKernel, GaussianNoise, SearchRecord)> {
    watch.progress("learning from parts", 0, 1);
    let sample = data.select(&random_rows(data.rows(), size.rows, spec.seed ^ 2));
    let wanted = wanted_landmarks(spec, data.rows());
    let count = size.landmarks.min(sample.rows().div_ceil(4)).min(wanted);
    let choice = spec.landmark_choice.unwrap_or_default();
    let values = choose(choice, kernel, sample.inputs(), count, spec.seed, watch)?;
    let width = sample.inputs().width();
    let landmarks = Inputs::new(&values, values.len() / width, width)?;
    // Spread parts, as the parts of the fit.
    let count = sample.rows().div_ceil(part_size);
    let spread = |first: usize| (first..sample.rows()).step_by(count).collect();
    let parts = sample.split(&(0..count).map(spread).collect::<Vec<_>>());
    let evidence = CommitteeEvidence::new(kernel, &parts, landmarks);

    let mut parameters = kernel.parameters();
    parameters.push(noise.parameter());
    let priors: Vec<Plausible> = parameters.iter().map(Plausible::of).collect();
    let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
    let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
    let start: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
    let objective = WithPrior {
        objective: &evidence,
        priors: &priors,
    };
    let limits = SearchLimits {
        steps: size.steps,
        relative_gain: 1e-6,
        ..SearchLimits::default()
    };
    let found = maximise(&objective, &start, &bounds, &free, limits, watch)?;
    watch.progress("learning from parts", 1, 1);
    let (kernel, noise) = at(kernel, &found.coordinates)?;
    let record = SearchRecord {
        start: 0,
        rows: sample.rows(),
        steps: found.steps,
        evaluations: found.evaluations,
        failures: found.failures,
        value: found.value,
        stop: found.stop,
    };
    Ok((kernel, noise, record))
}

/// A smooth term or a rough one; categories multiply.
pub(super) fn candidates(columns: &[InputColumn]) -> Result<Vec<Kernel>> {
    let mut texts: Vec<String> = ["se(ard)", "matern32(ard)"]
        .iter()
        .map(|shape| auto::with_categories(columns, shape))
        .collect();
    texts.dedup();
    texts.iter().map(|text| Ok(text.parse()?)).collect()
}

pub(super) fn outcome(learned: &Learned, learn: LearnChoice, judged: &Judged) -> String {
    let learned = learned_by(learned, learn);
    let (remark, scored) = (&judged.remark, judged.scores.rows());
    format!("{learned}{remark} Scores are of {scored} random rows, predicted from the others.")
}

/// How the hyperparameters were found, in one sentence.
pub(super) fn learned_by(learned: &Learned, learn: LearnChoice) -> String {
    let chosen = match learned.candidates.len() {
        0 => String::new(),
        many => {
            let structure = learned.kernel.kernel().structure();
            format!("Chose {structure} from {many} kernels. ")
        }
    };
    let steps = match (learn, learned.history.last()) {
        (LearnChoice::None, _) => "Hyperparameters were kept as given.".to_owned(),
        (_, Some(record)) => format!(
            "Learning took {} evaluations of the committee evidence of {} rows.",
            record.evaluations, record.rows
        ),
        (_, None) => "Learning looked at the evidence of one random part.".to_owned(),
    };
    format!("{}{chosen}{steps}", learned.remark)
}
