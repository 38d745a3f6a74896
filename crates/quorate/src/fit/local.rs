//! A table too large for one process: hyperparameters from neighbourhoods, answers from the nearest rows.

use quorate_gp::data::{Dataset, InputColumn, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;

use super::Found;
use super::auto::{self, Candidate};
use super::calibrate::calibrate;
use super::start::{PART_ROWS, from_random_part};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::local::{ConditionalRecord, ConditionalSearch, Neighbourhood, learn_conditional};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};

/// Rows of the random sample that is scored with its own row left out.
pub const SCORED_ROWS: usize = 2000;
/// Nearest rows per question unless told otherwise.
pub const NEIGHBOURS: usize = 300;
/// The shape of a neighbourhood unless told otherwise, with the questions that share an expert.
const DEFAULT: Neighbourhood = Neighbourhood {
    neighbours: NEIGHBOURS,
    together: 8,
};
/// Steps by which kernels are compared, and further steps of the best.
pub const TRIAL_STEPS: usize = 60;
pub const FURTHER_STEPS: usize = 150;

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Answers)> {
    let (best, tried) = learn(spec, schema, data, watch)?;
    let kernel = best.kernel.kernel();
    let calibrated = calibrate(spec, schema, &kernel, best.noise, data, watch)?;
    let scores = calibrated.scores;
    let outcome = format!(
        "{}{} Scores are of {} random rows, each predicted from the others.",
        outcome(&tried, &kernel, &best.record, spec.learn),
        calibrated.remark,
        scores.n
    );
    let found = Found {
        method: Method::Local(neighbourhood(spec)),
        kernel,
        noise: calibrated.noise,
        jitter: Jitter::default(),
        log_evidence: None,
        effective_parameters: None,
        leave_one_out: scores,
        candidates: if tried.len() > 1 { tried } else { Vec::new() },
        history: Vec::new(),
        conditional: Some(best.record),
        outcome,
    };
    Ok((found, Answers::Local(calibrated.answers)))
}

/// How wide an expert looks.
pub(super) fn neighbourhood(spec: &ModelSpec) -> Neighbourhood {
    Neighbourhood {
        neighbours: spec.neighbours.unwrap_or(DEFAULT.neighbours),
        ..DEFAULT
    }
}

/// Hyperparameters by the grouped conditional likelihood: the best kernel, and how all that were tried did.
pub(super) fn learn(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Climbed, Vec<Candidate>)> {
    let texts = match &spec.kernel {
        KernelChoice::Given(kernel) => vec![kernel.clone()],
        KernelChoice::Auto => candidates(schema.columns())?,
    };
    let several = texts.len() > 1;
    let steps = if several {
        TRIAL_STEPS
    } else {
        ConditionalSearch::default().steps
    };
    let mut tried = Vec::new();
    let mut best: Option<Climbed> = None;
    for kernel in &texts {
        let (bound, noise) = from_random_part(spec, schema, kernel, data, watch)?;
        let climbed = climb(spec, &bound, noise, data, steps, watch)?;
        tried.push(Candidate {
            kernel: kernel.structure().to_string(),
            log_evidence: None,
            predictive_nlpd: -climbed.record.log_likelihood_per_row,
        });
        let gain = |best: &Climbed| {
            climbed.record.log_likelihood_per_row > best.record.log_likelihood_per_row
        };
        if best.as_ref().is_none_or(gain) {
            best = Some(climbed);
        }
    }
    match best {
        Some(best) if several => {
            let (kernel, noise) = (&best.kernel, best.noise);
            let further = climb(spec, kernel, noise, data, FURTHER_STEPS, watch)?;
            Ok((further, tried))
        }
        Some(best) => Ok((best, tried)),
        None => Err(Error::Spec("no kernel fits these columns".into())),
    }
}

/// The random rows whose leave-one-out scores a local model keeps, as places among the members of the data.
///
/// Rows are drawn and not distinct inputs: what is asked later comes as often as it came before.
pub fn scored_rows(data: &Dataset, spec: &ModelSpec) -> Vec<usize> {
    random_rows(data.members().len(), SCORED_ROWS, spec.seed ^ 1)
}

/// One kernel after its climb.
pub(super) struct Climbed {
    pub kernel: BoundKernel,
    pub noise: GaussianNoise,
    pub record: ConditionalRecord,
}

/// Steps of the grouped conditional likelihood of all rows.
fn climb(
    spec: &ModelSpec,
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
    steps: usize,
    watch: &dyn Watch,
) -> Result<Climbed> {
    if spec.learn != LearnChoice::Auto {
        return Ok(Climbed {
            kernel: kernel.clone(),
            noise,
            record: ConditionalRecord::default(),
        });
    }
    let search = ConditionalSearch {
        steps,
        seed: spec.seed,
        ..ConditionalSearch::default()
    };
    let (kernel, noise, record) = learn_conditional(kernel, noise, data, &search, watch)?;
    Ok(Climbed {
        kernel,
        noise,
        record,
    })
}

/// One term, two on different scales, or a smooth and a very rough one; categories multiply.
fn candidates(columns: &[InputColumn]) -> Result<Vec<Kernel>> {
    let term = |shape: &str| auto::with_categories(columns, shape);
    let middle = term("matern32(ard)");
    let mut texts = vec![
        middle.clone(),
        format!("{middle} + {middle}"),
        format!("{} + {}", term("se(ard)"), term("matern12(ard)")),
    ];
    // Without a number column every shape is the categories' own.
    texts.dedup();
    texts.iter().map(|text| Ok(text.parse()?)).collect()
}

pub(super) fn outcome(
    tried: &[Candidate],
    kernel: &Kernel,
    record: &ConditionalRecord,
    learn: LearnChoice,
) -> String {
    let chosen = if tried.len() > 1 {
        format!(
            "Chose {} from {} kernels. ",
            kernel.structure(),
            tried.len()
        )
    } else {
        String::new()
    };
    let learned = match learn {
        LearnChoice::None => "Hyperparameters were kept as given.".to_owned(),
        LearnChoice::Block => format!("Learning looked at {PART_ROWS} random rows."),
        LearnChoice::Auto => format!(
            "Learning took {} steps over random neighbourhoods.",
            record.steps
        ),
    };
    format!("{chosen}{learned}")
}
