//! Ways of learning that a person chooses and that suit any method: what they find is handed to the method as given.

mod learner;

use std::borrow::Cow;

use quorate_gp::data::{Dataset, InputColumn, Schema, TargetCode};
use quorate_gp::kernel::Kernel;
use quorate_gp::learn::{SearchRecord, at};
use quorate_gp::watch::Watch;

use super::auto::Candidate;
use super::drawn::Around;
use super::{Found, landmarks};
use crate::error::{Error, Result};
use crate::hyper::Hyperposterior;
use crate::landmarks::{Committee, Ear, Summary};
use crate::partition::Labels;
use crate::plan::{EXACT_ROWS, Way};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::Through;
use learner::Learner;

/// What was learned before the method was asked.
pub struct Chosen {
    kernel: Kernel,
    candidates: Vec<Candidate>,
    history: Vec<SearchRecord>,
    outcome: String,
    hyperposterior: Option<Hyperposterior>,
    /// The likelihood at the maximum, where targets have one.
    through: Option<Through>,
    notes: Vec<String>,
}

impl Chosen {
    fn drawn(kernel: Kernel, candidates: Vec<Candidate>, around: Around) -> Self {
        Self {
            kernel,
            candidates,
            history: vec![around.record],
            outcome: around.outcome,
            hyperposterior: Some(around.hyperposterior),
            through: None,
            notes: around.notes,
        }
    }

    /// The likelihood that was learned.
    pub fn through(&self) -> Option<Through> {
        self.through
    }

    /// Writes into what a method found how its hyperparameters came to be.
    pub fn describe(self, found: &mut Found, notes: &mut Vec<String>) {
        notes.extend(self.notes);
        let scores = found.outcome.find(" Scores are of ");
        let scores = scores.map_or(String::new(), |place| found.outcome[place..].to_owned());
        found.outcome = self.outcome + &scores;
        found.candidates = self.candidates;
        found.history = self.history;
        found.conditional = None;
        found.hyperposterior = self.hyperposterior;
    }
}

impl Chosen {
    /// The sum of all parts at each draw that predictions average over, through the landmarks of a fitted committee.
    pub fn sums(
        &self,
        committee: &Committee,
        columns: &[InputColumn],
        data: &Dataset,
        labels: Option<&Labels>,
        watch: &dyn Watch,
    ) -> Result<Vec<Summary>> {
        let (Some(belief), Some(part)) = (&self.hyperposterior, committee.parts.first()) else {
            return Ok(Vec::new());
        };
        let kernel = self.kernel.bind(columns)?;
        let each = belief.averaged_draws().map(|draw| {
            let (kernel, noise) = at(&kernel, draw)?;
            let landmarks = committee.under(kernel)?;
            let ear = Ear {
                landmarks: &landmarks,
                noise,
                expansion: None,
            };
            ear.summarise(data, &part.record.cut, labels, watch)
        });
        each.collect()
    }
}

/// The specification for the method, and what was learned for it. A way of learning that is the method's own stays with
/// it.
pub fn learn(
    spec: &ModelSpec,
    way: &Way,
    schema: &Schema,
    data: &Dataset,
    labels: Option<&Labels>,
    watch: &dyn Watch,
) -> Result<(ModelSpec, Option<Chosen>)> {
    let small = data.rows() <= EXACT_ROWS;
    let own = match (spec.learn, way) {
        (LearnChoice::Auto | LearnChoice::None, _) => Some(spec.learn),
        (LearnChoice::Block, Way::Exact) if small => Some(LearnChoice::Block),
        (LearnChoice::Conditional, Way::Local { .. } | Way::Supported { .. }) => {
            Some(LearnChoice::Auto)
        }
        (LearnChoice::Conditional, Way::Exact) if !small => Some(LearnChoice::Auto),
        (LearnChoice::Committee, Way::Landmarks { .. } | Way::Joint { .. }) => {
            Some(LearnChoice::Auto)
        }
        _ => None,
    };
    if let Some(learn) = own {
        let spec = ModelSpec {
            learn,
            ..spec.clone()
        };
        return Ok((spec, None));
    }
    let draws = matches!(spec.learn, LearnChoice::Nuts | LearnChoice::Hmc);
    let two = schema
        .target()
        .classes()
        .is_some_and(|own| own.count() == 2);
    let approximated = spec.inference.approximation().is_some();
    let latent = schema.target().quantity().is_some() || (two && approximated);
    if draws && latent && matches!(way, Way::Exact) {
        let learner = Learner {
            spec,
            schema,
            data,
            watch,
        };
        let chosen = learner.drawn_latent()?;
        let given = ModelSpec {
            kernel: KernelChoice::Given(chosen.kernel.clone()),
            learn: LearnChoice::None,
            ..spec.clone()
        };
        return Ok((given, Some(chosen)));
    }
    if draws && latent {
        return Err(Error::Spec(format!(
            "`--learn {}` draws from the approximate evidence of one process over all rows, and {} distinct rows are many: use `--method exact` if they must be, fewer rows, or leave `--learn` out",
            spec.learn,
            data.rows()
        )));
    }
    let one_number = matches!(schema.target(), TargetCode::Number(_));
    if !one_number || spec.inference.approximation().is_some() {
        return Err(Error::Spec(format!(
            "`--learn {}` is for one numeric target with Gaussian noise (`nuts` and `hmc` also for counts, amounts and lifetimes, and for two classes with `--inference laplace` or `ep`): leave it out, or use `--learn none`",
            spec.learn
        )));
    }
    // Rows that a landmarks model holds out for its scores are not learned from.
    let seen = match way {
        Way::Landmarks { .. } => landmarks::rows_to_learn_from(spec, data),
        _ => Cow::Borrowed(data),
    };
    let learner = Learner {
        spec,
        schema,
        data: &seen,
        watch,
    };
    let (noise, chosen) = learner.learn(way, labels)?;
    let deviation = schema.target_deviation();
    let given = ModelSpec {
        kernel: KernelChoice::Given(chosen.kernel.clone()),
        learn: LearnChoice::None,
        noise_variance: Some(noise.variance * deviation * deviation),
        ..spec.clone()
    };
    Ok((given, Some(chosen)))
}
