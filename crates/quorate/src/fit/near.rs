//! A long table whose targets have a likelihood, answered from the nearest rows: working targets that are expanded where
//! the neighbourhoods themselves put the function.
//!
//! Kernel and dispersions climb the grouped conditional likelihood, as those of a local regression do, with Laplace's
//! evidences in place of exact ones. Kernels are compared by rows left out.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::likelihood::Latent;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;

use super::Found;
use super::auto::Candidate;
use super::local::{COMPARED_ROWS, Climb, SCORED_ROWS, candidates, neighbourhood, outcome};
use super::through::Learner;
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::expand::{NO_NOISE, modes_around, working_at};
use crate::latent::observations;
use crate::local::{
    ConditionalRecord, ConditionalSearch, GroupShape, LocalAnswers, learn_latent_conditional,
};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::{Scorecard, Through, judge_latents};

const NARROW: GroupShape = GroupShape {
    members: 64,
    neighbours: 128,
};
const WIDE: GroupShape = GroupShape {
    members: 64,
    neighbours: 192,
};
/// Every kernel's first climb.
const FIRST: Climb = Climb {
    steps: 60,
    early: NARROW,
    shape: NARROW,
};
/// The climb of the kernel that is kept.
const FURTHER: Climb = Climb {
    steps: 120,
    early: WIDE,
    shape: WIDE,
};

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Found, Dataset, Answers)> {
    let near = Near {
        spec,
        schema,
        data,
        watch,
    };
    let (learned, tried, remark) = near.learn()?;
    // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
    let kernel = learned.kernel.kernel();
    let bound = kernel.bind(schema.columns())?;
    let through = learned.through;
    let answers = near.answers(&bound, through)?.as_in_company();
    let scores = near.left_out(&answers, through, SCORED_ROWS, spec.seed ^ 1)?;
    let outcome = format!(
        "{remark}{} Scores are of {} random rows, each predicted from the others.",
        outcome(&tried, &kernel, &learned.record, spec.learn),
        scores.rows()
    );
    let found = Found {
        method: Method::Local(answers.neighbourhood()),
        kernel,
        noise: NO_NOISE,
        jitter: Jitter::default(),
        log_evidence: None,
        effective_parameters: None,
        leave_one_out: scores,
        link: None,
        spread: None,
        through: Some(through),
        candidates: tried,
        history: Vec::new(),
        conditional: Some(learned.record),
        hyperposterior: None,
        mixture: None,
        outcome,
    };
    let rows = answers.data().clone();
    Ok((found, rows, Answers::Local(answers)))
}

/// The rows that are learned from, and how.
struct Near<'a> {
    spec: &'a ModelSpec,
    schema: &'a Schema,
    data: &'a Dataset,
    watch: &'a dyn Watch,
}

/// A kernel and a likelihood after their climb.
struct Climbed {
    kernel: BoundKernel,
    through: Through,
    record: ConditionalRecord,
}

impl Near<'_> {
    /// The best kernel with its dispersions, how all that were tried did, and a sentence about the likelihood.
    fn learn(&self) -> Result<(Climbed, Vec<Candidate>, String)> {
        let (spec, schema, data) = (self.spec, self.schema, self.data);
        let kernels: Vec<Kernel> = match &spec.kernel {
            KernelChoice::Given(kernel) => vec![kernel.clone()],
            KernelChoice::Auto if spec.learn == LearnChoice::None => {
                return Err(Error::Spec(
                    "`auto` compares kernels by learning them: give a kernel, or let it learn"
                        .into(),
                ));
            }
            KernelChoice::Auto => candidates(schema)?,
        };
        let learner = Learner {
            spec,
            schema,
            data,
            part_size: 0,
            watch: self.watch,
        };
        let (part, first, through, remark) = learner.begin(&kernels[0])?;
        if spec.learn == LearnChoice::None {
            let record = ConditionalRecord::default();
            let kept = Climbed {
                kernel: first,
                through,
                record,
            };
            return Ok((kept, Vec::new(), remark));
        }
        let mut best: Option<(Climbed, f64)> = None;
        let mut tried = Vec::new();
        for kernel in &kernels {
            let (bound, through) = learner.first_look(kernel, &part, through)?;
            let climbed = self.climb(FIRST, &bound, through)?;
            if kernels.len() == 1 {
                best = Some((climbed, 0.0));
                break;
            }
            let answers = self.answers(&climbed.kernel, climbed.through)?;
            let seed = spec.seed ^ 3;
            let loss = self
                .left_out(&answers, climbed.through, COMPARED_ROWS, seed)?
                .loss();
            tried.push(Candidate {
                kernel: kernel.structure().to_string(),
                log_evidence: None,
                predictive_nlpd: loss,
            });
            if best.as_ref().is_none_or(|(_, leader)| loss < *leader) {
                best = Some((climbed, loss));
            }
        }
        let Some((best, _)) = best else {
            return Err(Error::Spec("no kernel fits these columns".into()));
        };
        let mut further = self.climb(FURTHER, &best.kernel, best.through)?;
        further.record.steps += best.record.steps;
        further.record.failures += best.record.failures;
        Ok((further, tried, remark))
    }

    fn climb(&self, how: Climb, kernel: &BoundKernel, through: Through) -> Result<Climbed> {
        let seen = observations(self.schema, self.data, through)?;
        let search = ConditionalSearch {
            steps: how.steps,
            // A short table is seen whole in a step or two anyway.
            groups: (self.data.rows() / 128).clamp(4, 16),
            early: how.early,
            shape: how.shape,
            seed: self.spec.seed,
            ..ConditionalSearch::default()
        };
        let (kernel, likelihood, record) = learn_latent_conditional(
            kernel,
            through.likelihood,
            self.data,
            &seen,
            &search,
            self.watch,
        )?;
        let level = through.level;
        let through = Through { likelihood, level };
        Ok(Climbed {
            kernel,
            through,
            record,
        })
    }

    /// All rows, expanded where their neighbourhoods put the function.
    fn answers(&self, kernel: &BoundKernel, through: Through) -> Result<LocalAnswers> {
        let latent = modes_around(kernel, through, self.schema, self.data, self.watch)?;
        let working = working_at(self.schema, self.data, through, &latent)?.data;
        let shape = neighbourhood(self.spec);
        Ok(LocalAnswers::new(kernel.clone(), NO_NOISE, working, shape))
    }

    /// Scores of some random rows, each predicted from the others. One working target stands for all rows of an input:
    /// they are left out together.
    fn left_out(
        &self,
        answers: &LocalAnswers,
        through: Through,
        count: usize,
        seed: u64,
    ) -> Result<Scorecard> {
        let places = random_rows(self.data.rows(), count, seed);
        let held = self.data.select(&places);
        let (_, left_out) =
            answers.leave_one_out(&places, answers.rows_in_company(), self.watch)?;
        let latent = |row: usize| Latent {
            mean: left_out.mean[row],
            variance: left_out.variance[row],
        };
        let told: Vec<Latent> = held.members().iter().map(|m| latent(m.group)).collect();
        judge_latents(self.schema, &held, through, &told)
    }
}
