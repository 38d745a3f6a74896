//! Tables too long for one process whose targets have a likelihood: hyperparameters and dispersions through landmarks.
//!
//! Kernel and dispersions start from Laplace's evidence of a random part. Then they climb the committee evidence of a
//! larger sample, whose rows are working targets at a common mode; the mode, the level of the evidence and the
//! dispersions are found anew between climbs. What a climb leaves out is how the curvatures move with the mode (the
//! third derivatives of the log likelihood), which the next round makes up for.

use quorate_gp::data::{Dataset, Inputs, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{
    Plausible, Search, SearchLimits, SearchRecord, WithPrior, at, latent_priors, learn_latent,
    maximise,
};
use quorate_gp::likelihood::Likelihood;
use quorate_gp::parameters::Parameter;
use quorate_gp::posterior::Predict;
use quorate_gp::watch::Watch;

use super::auto::Candidate;
use super::landmarks::{Learned, candidates, wanted_landmarks};
use super::quantity::{self, rough, started};
use crate::error::{Error, Result};
use crate::expand::{Expansion, NO_NOISE, Working};
use crate::landmarks::{
    CommitteeEvidence, LandmarkBelief, Landmarks, Summary, SummaryTree, choose,
};
use crate::latent::{observations, two_classes};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::Through;

/// Rows of the random part that hyperparameters start from.
const FIRST_ROWS: usize = 800;
/// A climb on which kernels are compared.
const COMPARED: Climb = Climb {
    rows: 6000,
    landmarks: 200,
    rounds: 2,
};
/// The climb of the kernel that is kept. Counts of rare things say little a row: many rows.
const FURTHER: Climb = Climb {
    rows: 20_000,
    landmarks: 400,
    rounds: 2,
};
/// Quasi-Newton steps between two expansions.
const STEPS: u64 = 12;
/// Rows at most that a common mode is found from.
pub(super) const MODE_ROWS: usize = 20_000;

#[derive(Clone, Copy)]
struct Climb {
    rows: usize,
    landmarks: usize,
    rounds: usize,
}

/// True when the target of a model reaches the function through a likelihood.
pub(super) fn likelihood_of(spec: &ModelSpec, schema: &Schema) -> bool {
    schema.target().quantity().is_some() || spec.inference.approximation().is_some()
}

/// The rows that are learned from, and how.
pub(super) struct Learner<'a> {
    pub spec: &'a ModelSpec,
    pub schema: &'a Schema,
    pub data: &'a Dataset,
    pub part_size: usize,
    pub watch: &'a dyn Watch,
}

/// Kernel, hyperparameters, dispersions and level.
pub(super) fn learn(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    part_size: usize,
    watch: &dyn Watch,
) -> Result<Learned> {
    let learner = Learner {
        spec,
        schema,
        data,
        part_size,
        watch,
    };
    let kernels = match &spec.kernel {
        KernelChoice::Given(kernel) => vec![kernel.clone()],
        KernelChoice::Auto if spec.learn == LearnChoice::None => {
            return Err(Error::Spec(
                "`auto` compares kernels by learning them: give a kernel, or let it learn".into(),
            ));
        }
        KernelChoice::Auto => candidates(schema.columns())?,
    };
    let (part, first, through, remark) = learner.begin(&kernels[0])?;
    if spec.learn == LearnChoice::None {
        return Ok(Learned {
            kernel: first,
            noise: NO_NOISE,
            through: Some(through),
            candidates: Vec::new(),
            history: Vec::new(),
            remark,
        });
    }
    let mut best: Option<(BoundKernel, Through, SearchRecord)> = None;
    let mut tried = Vec::new();
    for kernel in &kernels {
        let (bound, through) = learner.first_look(kernel, &part, through)?;
        let found = learner.climb(COMPARED, &bound, through)?;
        let value = found.2.value;
        tried.push(Candidate {
            kernel: kernel.structure().to_string(),
            log_evidence: Some(value),
            predictive_nlpd: -value / found.2.rows as f64,
        });
        if best.as_ref().is_none_or(|(_, _, own)| value > own.value) {
            best = Some(found);
        }
    }
    let Some((mut kernel, mut through, record)) = best else {
        return Err(Error::Spec("no kernel fits these columns".into()));
    };
    let mut history = vec![record];
    if data.rows() > COMPARED.rows {
        let further = learner.climb(FURTHER, &kernel, through)?;
        (kernel, through) = (further.0, further.1);
        history.push(further.2);
    }
    Ok(Learned {
        kernel,
        noise: NO_NOISE,
        through: Some(through),
        candidates: if tried.len() > 1 { tried } else { Vec::new() },
        history,
        remark,
    })
}

impl Learner<'_> {
    /// A random part, a kernel that suits it, a likelihood with dispersions and level, and a sentence about it.
    pub fn begin(&self, kernel: &Kernel) -> Result<(Dataset, BoundKernel, Through, String)> {
        let rows = random_rows(self.data.rows(), FIRST_ROWS, self.spec.seed);
        let part = self.data.select(&rows);
        let first = self.bound(kernel, &part)?;
        let (likelihood, remark) = self.likelihood(&part, &first)?;
        let through = started(self.schema, self.data, likelihood)?;
        Ok((part, first, through, remark))
    }

    /// The likelihood that was asked for, or that suits a part of the rows; a sentence where that was found out.
    fn likelihood(&self, part: &Dataset, kernel: &BoundKernel) -> Result<(Likelihood, String)> {
        if self.schema.target().quantity().is_none() {
            two_classes(self.schema)?;
            return Ok((self.spec.likelihood.of_classes()?, String::new()));
        }
        let search = Search {
            restarts: Some(0),
            seed: self.spec.seed,
            ..Search::default()
        };
        let (through, remark) =
            quantity::choose(self.spec, self.schema, part, kernel, &search, self.watch)?;
        Ok((through.likelihood, remark))
    }

    fn bound(&self, kernel: &Kernel, part: &Dataset) -> Result<BoundKernel> {
        let mut bound = kernel.bind(self.schema.columns())?;
        bound.initialise(part.inputs(), rough(self.schema, part)?.targets());
        Ok(bound)
    }

    /// A kernel with the values that a random part of the rows finds likely.
    pub fn first_look(
        &self,
        kernel: &Kernel,
        part: &Dataset,
        through: Through,
    ) -> Result<(BoundKernel, Through)> {
        let bound = self.bound(kernel, part)?;
        let seen = observations(self.schema, part, through)?;
        let search = Search {
            restarts: Some(self.spec.restarts.unwrap_or(0)),
            seed: self.spec.seed,
            limits: SearchLimits {
                steps: 25,
                relative_gain: 1e-5,
                ..SearchLimits::default()
            },
            ..Search::default()
        };
        let (bound, likelihood, _) =
            learn_latent(&bound, through.likelihood, part, &seen, &search, self.watch)?;
        let level = through.level;
        Ok((bound, Through { likelihood, level }))
    }

    /// Climbs the committee evidence of a sample, expanded anew every few steps.
    fn climb(
        &self,
        size: Climb,
        kernel: &BoundKernel,
        mut through: Through,
    ) -> Result<(BoundKernel, Through, SearchRecord)> {
        let rows = random_rows(self.data.rows(), size.rows, self.spec.seed ^ 2);
        let sample = self.data.select(&rows);
        let wanted = wanted_landmarks(self.spec, self.data.rows());
        let count = size.landmarks.min(sample.rows().div_ceil(4)).min(wanted);
        let choice = self.spec.landmark_choice.unwrap_or_default();
        let mut kernel = kernel.clone();
        let inputs = sample.inputs();
        let values = choose(choice, &kernel, inputs, count, self.spec.seed, self.watch)?;
        let places = Inputs::new(&values, values.len() / inputs.width(), inputs.width())?;
        let mut record: Option<SearchRecord> = None;
        for round in 0..size.rounds {
            self.watch
                .progress("learning from parts", round, size.rounds);
            let (working, _) = self.expanded(&kernel, places, through, &sample)?;
            let parts = self.parts(&working);
            let (climbed, found) = self.ascend(&kernel, &parts, places)?;
            kernel = climbed;
            // The mode and its uncertainty at the new values, for the dispersions and the evidence.
            let (working, expansion) = self.expanded(&kernel, places, through, &sample)?;
            let belief = self.belief(&kernel, places, &working)?;
            let value = belief.log_evidence();
            through = self.dispersed(&belief, &expansion, &sample)?;
            record = Some(SearchRecord {
                value,
                evaluations: found.evaluations + record.map_or(0, |earlier| earlier.evaluations),
                ..found
            });
        }
        self.watch
            .progress("learning from parts", size.rounds, size.rounds);
        let record = record.ok_or_else(|| Error::Spec("no round of learning".into()))?;
        Ok((kernel, through, record))
    }

    fn expanded(
        &self,
        kernel: &BoundKernel,
        places: Inputs<'_>,
        through: Through,
        sample: &Dataset,
    ) -> Result<(Working, Expansion)> {
        let landmarks = Landmarks::new(kernel.clone(), places)?;
        let schema = self.schema;
        let expansion = Expansion::find(&landmarks, through, schema, sample, None, self.watch)?;
        Ok((expansion.working(schema, sample)?, expansion))
    }

    /// Spread parts of the rows.
    fn parts(&self, working: &Working) -> Vec<Dataset> {
        let rows = working.data.rows();
        let count = rows.div_ceil(self.part_size);
        let spread = |first: usize| (first..rows).step_by(count).collect();
        working
            .data
            .split(&(0..count).map(spread).collect::<Vec<_>>())
    }

    fn ascend(
        &self,
        kernel: &BoundKernel,
        parts: &[Dataset],
        places: Inputs<'_>,
    ) -> Result<(BoundKernel, SearchRecord)> {
        let evidence = CommitteeEvidence::new(kernel, parts, places);
        let mut parameters = kernel.parameters();
        parameters.push(Parameter {
            fixed: true,
            ..NO_NOISE.parameter()
        });
        let priors: Vec<Plausible> = latent_priors(&parameters);
        let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
        let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
        let start: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
        let objective = WithPrior {
            objective: &evidence,
            priors: &priors,
        };
        let limits = SearchLimits {
            steps: STEPS,
            relative_gain: 1e-6,
            ..SearchLimits::default()
        };
        let found = maximise(&objective, &start, &bounds, &free, limits, self.watch)?;
        let (kernel, _) = at(kernel, &found.coordinates)?;
        let record = SearchRecord {
            start: 0,
            rows: parts.iter().map(Dataset::rows).sum(),
            steps: found.steps,
            evaluations: found.evaluations,
            failures: found.failures,
            value: found.value,
            stop: found.stop,
        };
        Ok((kernel, record))
    }

    fn belief(
        &self,
        kernel: &BoundKernel,
        places: Inputs<'_>,
        working: &Working,
    ) -> Result<LandmarkBelief> {
        let landmarks = Landmarks::new(kernel.clone(), places)?;
        let mut tree = SummaryTree::of_outputs(1);
        for part in self.parts(working) {
            tree.push(Summary::of_part(&landmarks, NO_NOISE, &part)?)?;
        }
        tree.push(working.rest(landmarks.count()))?;
        let total = tree.total(landmarks.count())?;
        Ok(LandmarkBelief::new(landmarks, &total)?)
    }

    /// Dispersions that suit the rows around the committee's belief, one after the other: those at which
    /// `sum log p(y | f) - 1/2 s W` is greatest, the expected log density to second order in the latent values.
    fn dispersed(
        &self,
        belief: &LandmarkBelief,
        expansion: &Expansion,
        sample: &Dataset,
    ) -> Result<Through> {
        let mut through = expansion.through();
        let parameters = through.likelihood.parameters();
        if !parameters.iter().any(|own| !own.fixed) {
            return Ok(through);
        }
        let told = belief.marginals(sample.inputs())?;
        let rows = sample.rows();
        let latent: Vec<f64> = (0..rows).map(|row| told.mean[(row, 0)]).collect();
        let seen = observations(self.schema, sample, through)?;
        let mut coordinates: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
        for (which, parameter) in parameters.iter().enumerate() {
            if parameter.fixed {
                continue;
            }
            let (before, mut likelihood) = (coordinates[which], through.likelihood);
            let mut value = |coordinate: f64| -> f64 {
                coordinates[which] = coordinate;
                if likelihood.set_coordinates(&coordinates).is_err() {
                    return f64::NEG_INFINITY;
                }
                let terms = likelihood.derivatives_of(&seen, &latent);
                let each = terms.iter().enumerate();
                each.map(|(row, term)| {
                    term.log_density - 0.5 * told.variance[(row, 0)] * term.curvature
                })
                .sum()
            };
            let best = greatest((before - REACH, before + REACH), &mut value);
            coordinates[which] = best;
            likelihood.set_coordinates(&coordinates)?;
            through.likelihood = likelihood;
        }
        Ok(through)
    }
}

/// How far the logarithm of a dispersion may move in one round.
const REACH: f64 = 1.5;

/// Where a function of one number with one hill is greatest, by golden sections.
fn greatest((mut low, mut high): (f64, f64), value: &mut dyn FnMut(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (value(a), value(b));
    for _ in 0..25 {
        if at_a >= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = value(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = value(b);
        }
    }
    0.5 * (low + high)
}
