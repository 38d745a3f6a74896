//! One exact Gaussian process for the whole table.

use std::collections::BTreeSet;

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::Kernel;
use quorate_gp::learn::{Hyperprior, Search, SearchRecord, Stop, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::ExactPosterior;
use quorate_gp::watch::Watch;

use super::auto::{self, Best, Candidate};
use super::folds::Unseen;
use super::{Found, local};
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::local::ConditionalRecord;
use crate::plan::EXACT_ROWS;
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::judge_left_out;

/// Noise variance learning starts from, in units of the target's variance.
const FIRST_NOISE: GaussianNoise = GaussianNoise { variance: 0.1 };

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Answers)> {
    let many = data.rows() > EXACT_ROWS;
    let learned = if many {
        from_neighbourhoods(spec, schema, data, watch)?
    } else {
        find_hyperparameters(spec, schema, data, watch)?
    };
    // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
    let bound = learned.kernel.bind(schema.columns())?;
    watch.progress("conditioning on all rows", 0, 1);
    let policy = JitterPolicy::default();
    let posterior = ExactPosterior::condition(bound, learned.noise, data.clone(), policy)?;
    watch.check()?;
    let scored = if many {
        random_rows(data.rows(), SCORED_ROWS, spec.seed ^ 1)
    } else {
        (0..data.rows()).collect()
    };
    let (members, answers) = posterior.leave_one_out_of(&scored);
    let mut judged = judge_left_out(schema, &members, &answers)?;
    if let (Some(unseen), true) = (&learned.unseen, spec.learns_spread()) {
        judged = judged.with_level(schema, &unseen.members, &unseen.told)?;
    }
    watch.progress("conditioning on all rows", 1, 1);
    let found = Found {
        method: Method::Exact,
        kernel: learned.kernel,
        noise: learned.noise,
        jitter: posterior.jitter(),
        log_evidence: Some(posterior.log_evidence()),
        // The trace over all rows would cost as much again as the factor.
        effective_parameters: (!many).then_some(answers.effective_parameters),
        leave_one_out: judged.scores,
        link: judged.link,
        spread: judged.spread,
        through: None,
        candidates: learned.candidates,
        history: learned.history,
        conditional: learned.conditional,
        outcome: format!("{}{}", learned.outcome, judged.remark),
        hyperposterior: None,
        mixture: None,
    };
    Ok((found, Answers::Exact(posterior)))
}

/// Rows of a long table that are scored with their own row left out: each costs n^2 operations.
pub const SCORED_ROWS: usize = 1000;

/// Hyperparameters and how they were found.
pub(super) struct Learned {
    pub kernel: Kernel,
    pub noise: GaussianNoise,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
    pub conditional: Option<ConditionalRecord>,
    pub outcome: String,
    /// What parts of few rows were told by processes that were learned without them.
    pub unseen: Option<Unseen>,
}

/// Hyperparameters of a table too long for its evidence to be climbed: those of the grouped conditional likelihood.
///
/// One factorisation of n rows costs n^3 / 3; a climb on their evidence would take a hundred, and twice the memory.
fn from_neighbourhoods(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Learned> {
    let (best, tried) = local::learn(spec, schema, data, watch)?;
    let kernel = best.kernel.kernel();
    let scored = data.rows().min(SCORED_ROWS);
    let outcome = format!(
        "{} Scores are of {scored} random rows, each predicted from the others.",
        local::outcome(&tried, &kernel, &best.record, spec.learn),
    );
    let kept = spec
        .noise_variance
        .map(|variance| variance / schema.target_deviation().powi(2));
    Ok(Learned {
        kernel,
        noise: kept.map_or(best.noise, |variance| GaussianNoise { variance }),
        candidates: if tried.len() > 1 { tried } else { Vec::new() },
        history: Vec::new(),
        conditional: Some(best.record),
        outcome,
        unseen: None,
    })
}

/// Starts beyond the first; by the number of rows when none is said.
///
/// Targets of -1 and 1 have noise that no regime explains away: 25 starts over 300 rows ended where two did.
pub fn restarts(spec: &ModelSpec, schema: &Schema) -> Option<usize> {
    let classes = schema.target().classes().map(|_| 1);
    spec.restarts.or(classes)
}

/// Who gives a kernel wants its evidence; who leaves it open wants answers that hold, of few rows too.
fn hyperprior(spec: &ModelSpec, schema: &Schema) -> Hyperprior {
    let is_open = spec.kernel == KernelChoice::Auto && schema.target().classes().is_none();
    if is_open {
        Hyperprior::Doubtful
    } else {
        Hyperprior::Weak
    }
}

pub(super) fn find_hyperparameters(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Learned> {
    let search = Search {
        restarts: restarts(spec, schema),
        seed: spec.seed,
        kept_noise: spec
            .noise_variance
            .map(|v| v / schema.target_deviation().powi(2)),
        hyperprior: hyperprior(spec, schema),
        ..Search::default()
    };
    let first_noise = search
        .kept_noise
        .map_or(FIRST_NOISE, |variance| GaussianNoise { variance });
    let best = match &spec.kernel {
        KernelChoice::Given(kernel) => Best {
            kernel: kernel.clone(),
            noise: first_noise,
            tried: Vec::new(),
            unseen: None,
        },
        KernelChoice::Auto if spec.learn == LearnChoice::None => {
            return Err(Error::Spec(
                "`auto` compares kernels by learning them: give a kernel, or let it learn".into(),
            ));
        }
        KernelChoice::Auto => {
            let classes = schema.target().classes().map(|own| own.count());
            auto::choose(schema.columns(), data, classes, &search, watch)?
        }
    };
    let mut bound = best.kernel.bind(schema.columns())?;
    bound.initialise(data.inputs(), data.targets());
    if spec.learn == LearnChoice::None {
        return Ok(Learned {
            kernel: bound.kernel(),
            noise: best.noise,
            candidates: best.tried,
            history: Vec::new(),
            conditional: None,
            outcome: "Hyperparameters were kept as given.".into(),
            unseen: best.unseen,
        });
    }
    let (bound, noise, history) = learn(&bound, best.noise, data, &search, watch)?;
    let outcome = outcome(&best.tried, &best.kernel, &history);
    Ok(Learned {
        kernel: bound.kernel(),
        noise,
        candidates: best.tried,
        history,
        conditional: None,
        outcome,
        unseen: best.unseen,
    })
}

fn outcome(candidates: &[Candidate], kernel: &Kernel, history: &[SearchRecord]) -> String {
    let evaluations: usize = history.iter().map(|record| record.evaluations).sum();
    let starts: BTreeSet<usize> = history.iter().map(|record| record.start).collect();
    let starts = match starts.len() {
        1 => "1 start".to_owned(),
        many => format!("{many} starts"),
    };
    let best = history
        .iter()
        .max_by(|a, b| a.rows.cmp(&b.rows).then(a.value.total_cmp(&b.value)));
    let ending = match best.map(|record| record.stop) {
        Some(Stop::Converged) | None => "and converged",
        Some(Stop::Steps) => "and stopped at the limit of steps: more restarts may help",
        Some(Stop::Stalled) => "and ended where no further step gained anything",
    };
    let chosen = if candidates.is_empty() {
        String::new()
    } else {
        let structure = kernel.structure();
        format!("Chose {structure} from {} kernels. ", candidates.len())
    };
    format!(
        "{chosen}Learning took {evaluations} evaluations of the evidence from {starts} {ending}."
    )
}
