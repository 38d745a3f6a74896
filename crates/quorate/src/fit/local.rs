//! A table too large for one process: hyperparameters from neighbourhoods, answers from the nearest rows.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;

use super::Found;
use super::auto::{self, Candidate};
use super::calibrate::calibrate;
use super::start::{BRIEF, CAREFUL, from_random_part};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::local::{
    ConditionalRecord, ConditionalSearch, GroupShape, LocalAnswers, MOST_ROWS_LEFT_OUT,
    Neighbourhood, learn_conditional,
};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::judge_left_out;

/// Rows of the random sample that is scored with its own row left out.
pub const SCORED_ROWS: usize = 4000;
/// Nearest rows per question unless told otherwise.
pub const NEIGHBOURS: usize = 150;
/// The shape of a neighbourhood unless told otherwise, with the questions that may share an expert.
const DEFAULT: Neighbourhood = Neighbourhood {
    neighbours: NEIGHBOURS,
    together: 32,
    least_rows: 0,
};
/// Few neighbours bring a kernel most of the way for a quarter of the work.
const NARROW: GroupShape = GroupShape {
    members: 64,
    neighbours: 192,
};
/// Every kernel's first climb.
pub const FIRST: Climb = Climb {
    steps: 60,
    early: NARROW,
    shape: NARROW,
};
/// The climb of the kernel that is kept.
pub const FURTHER: Climb = Climb {
    steps: 200,
    early: NARROW,
    shape: GroupShape {
        members: 64,
        neighbours: 448,
    },
};
/// Rows left out by whose density kernels are compared.
pub const COMPARED_ROWS: usize = 500;

/// Steps on the grouped conditional likelihood, and the groups they look at.
#[derive(Clone, Copy)]
pub struct Climb {
    pub steps: usize,
    pub early: GroupShape,
    pub shape: GroupShape,
}

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Answers)> {
    let (best, tried) = learn(spec, schema, data, watch)?;
    let kernel = best.kernel.kernel();
    let calibrated = calibrate(spec, schema, &kernel, best.noise, data, watch)?;
    let judged = calibrated.judged;
    let outcome = format!(
        "{}{}{} Scores are of {} random rows, each predicted from the others.",
        outcome(&tried, &kernel, &best.record, spec.learn),
        calibrated.remark,
        judged.remark,
        judged.scores.rows()
    );
    let found = Found {
        method: Method::Local(calibrated.answers.neighbourhood()),
        kernel,
        noise: calibrated.noise,
        jitter: Jitter::default(),
        log_evidence: None,
        effective_parameters: None,
        leave_one_out: judged.scores,
        link: judged.link,
        spread: judged.spread,
        through: None,
        candidates: if tried.len() > 1 { tried } else { Vec::new() },
        history: Vec::new(),
        conditional: Some(best.record),
        outcome,
        hyperposterior: None,
        mixture: None,
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
///
/// Kernels are compared by rows left out and not by the likelihood they climbed: that one predicts the middle of a
/// neighbourhood from its rim, which flatters a very rough term.
pub(super) fn learn(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Climbed, Vec<Candidate>)> {
    let kernels = match &spec.kernel {
        KernelChoice::Given(kernel) => vec![kernel.clone()],
        KernelChoice::Auto => candidates(schema)?,
    };
    let look = match spec.learn {
        LearnChoice::Auto => BRIEF,
        _ => CAREFUL,
    };
    let mut tried: Vec<Candidate> = Vec::new();
    let mut best: Option<(Climbed, f64)> = None;
    for kernel in &kernels {
        let (bound, noise) = from_random_part(spec, schema, kernel, data, look, watch)?;
        let climbed = climb(FIRST, spec, &bound, noise, data, watch)?;
        if kernels.len() == 1 {
            best = Some((climbed, 0.0));
            break;
        }
        let loss = compared(spec, schema, &climbed, data, watch)?;
        tried.push(Candidate {
            kernel: kernel.structure().to_string(),
            log_evidence: None,
            predictive_nlpd: loss,
        });
        if best.as_ref().is_none_or(|(_, leader)| loss < *leader) {
            best = Some((climbed, loss));
        }
    }
    match best {
        Some((best, _)) => {
            let (kernel, noise) = (&best.kernel, best.noise);
            let mut further = climb(FURTHER, spec, kernel, noise, data, watch)?;
            further.record.steps += best.record.steps;
            further.record.failures += best.record.failures;
            Ok((further, tried))
        }
        None => Err(Error::Spec("no kernel fits these columns".into())),
    }
}

/// What rows left out lose: NLPD in the target's units, or log loss of classes.
fn compared(
    spec: &ModelSpec,
    schema: &Schema,
    climbed: &Climbed,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<f64> {
    let kernel = climbed.kernel.clone();
    let answers = LocalAnswers::new(kernel, climbed.noise, data.clone(), neighbourhood(spec));
    let places = random_rows(data.members().len(), COMPARED_ROWS, spec.seed ^ 3);
    let (members, left_out) = answers.leave_one_out(&places, MOST_ROWS_LEFT_OUT, watch)?;
    Ok(judge_left_out(schema, &members, &left_out)?.scores.loss())
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
    how: Climb,
    spec: &ModelSpec,
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
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
        steps: how.steps,
        early: how.early,
        shape: how.shape,
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

/// Two terms on different scales, or a smooth and a very rough one; categories multiply. One term is two of which
/// one has no variance. Classes say little about single columns where there are many: one length scale for all is tried
/// as well, and instead of the rough term, which follows single rows.
pub(super) fn candidates(schema: &Schema) -> Result<Vec<Kernel>> {
    let term = |shape: &str| auto::with_categories(schema.columns(), shape);
    let middle = term("matern32(ard)");
    let other = match schema.target().classes() {
        Some(_) => term("matern32"),
        None => format!("{} + {}", term("se(ard)"), term("matern12(ard)")),
    };
    let mut texts = vec![format!("{middle} + {middle}"), other];
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
        _ => format!(
            "Learning took {} steps over random neighbourhoods.",
            record.steps
        ),
    };
    format!("{chosen}{learned}")
}
