//! Tables too long for one process whose targets have a likelihood: hyperparameters and dispersions through landmarks.
//!
//! Kernel and dispersions climb Laplace's evidence of the process that the landmarks make
//! ([`crate::expand::ProjectedEvidence`]), on more rows the less each of them says. Where a random part says enough
//! about every hyperparameter, the climb starts from its evidence. Dispersions are found anew around the committee's belief,
//! which also knows what the landmarks leave open.

use quorate_gp::data::{Dataset, Inputs, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{
    Hyperprior, Plausible, Search, SearchLimits, SearchRecord, WithPrior, latent_at, latent_priors,
    learn_latent, maximise,
};
use quorate_gp::likelihood::{Likelihood, Observations};
use quorate_gp::parameters::{Parameter, Role};
use quorate_gp::watch::Watch;

use super::auto::{self, Candidate};
use super::dispersion::dispersed;
use super::landmarks::{Learned, wanted_landmarks};
use super::quantity::{self, rough, started};
use crate::error::{Error, Result};
use crate::expand::{Expansion, NO_NOISE, ProjectedEvidence, Working};
use crate::landmarks::{LandmarkBelief, Landmarks, Summary, SummaryTree, choose};
use crate::latent::{observations, two_classes};
use crate::spec::{KernelChoice, LandmarkChoice, LearnChoice, ModelSpec};
use crate::task::Through;

/// Rows of the random part that hyperparameters start from.
const FIRST_ROWS: usize = 800;
/// Information (curvature of the log likelihood: expected events of a Poisson row) of the random part for each
/// hyperparameter below which it is not asked. A few dozen events cannot tell forty length scales: what they leave open
/// drifts to where no larger sample brings it back, because rows that share nothing give no slope.
const TOLD_BY_EACH: f64 = 3.0;
/// A climb on which kernels are compared. Landmarks are random rows: no metric is known yet that could place them.
pub(crate) const COMPARED: Climb = Climb {
    rows: (6000, 20_000),
    told: 1000.0,
    landmarks: 200,
    steps: 30,
    random: true,
};
/// The climb of the kernel that is kept.
pub(crate) const FURTHER: Climb = Climb {
    rows: (20_000, 50_000),
    told: 2500.0,
    landmarks: 300,
    steps: 30,
    random: false,
};
/// Rows at most that a common mode is found from.
pub(super) const MODE_ROWS: usize = 20_000;

#[derive(Clone, Copy)]
pub(crate) struct Climb {
    /// Rows at least and at most, and the information that should be among them: counts of rare things say little a row.
    pub rows: (usize, usize),
    pub told: f64,
    pub landmarks: usize,
    steps: u64,
    random: bool,
}

/// True when the target of a model reaches the function through a likelihood.
pub(crate) fn likelihood_of(spec: &ModelSpec, schema: &Schema) -> bool {
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
        KernelChoice::Auto => candidates(schema)?,
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
    if data.rows() > COMPARED.rows.0 {
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
        let told = information(through, &seen);
        if told < TOLD_BY_EACH * bound.parameters().len() as f64 {
            return Ok((bound, through));
        }
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

    /// Climbs the evidence of a sample through landmarks, then finds the dispersions around the committee's belief.
    fn climb(
        &self,
        size: Climb,
        kernel: &BoundKernel,
        mut through: Through,
    ) -> Result<(BoundKernel, Through, SearchRecord)> {
        self.watch.progress("learning from parts", 0, 1);
        let rows = self.rows_telling(size, through)?;
        let rows = random_rows(self.data.rows(), rows, self.spec.seed ^ 2);
        let sample = self.data.select(&rows);
        let wanted = wanted_landmarks(self.spec, self.data.rows());
        let count = size.landmarks.min(sample.rows().div_ceil(4)).min(wanted);
        let usual = match size.random {
            true => LandmarkChoice::Random,
            false => LandmarkChoice::default(),
        };
        let choice = self.spec.landmark_choice.unwrap_or(usual);
        let inputs = sample.inputs();
        let values = choose(choice, kernel, inputs, count, self.spec.seed, self.watch)?;
        let places = Inputs::new(&values, values.len() / inputs.width(), inputs.width())?;
        let seen = observations(self.schema, &sample, through)?;
        let likelihood = through.likelihood;
        let evidence = ProjectedEvidence::new(kernel, likelihood, &sample, &seen, places)?;
        let mut parameters = kernel.parameters();
        parameters.extend(likelihood.parameters());
        let priors = plausible(&parameters, inputs.width());
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
        let found = maximise(&objective, &start, &bounds, &free, limits, self.watch)?;
        let (kernel, likelihood) = latent_at(kernel, likelihood, &found.coordinates)?;
        through.likelihood = likelihood;
        if likelihood.parameters().iter().any(|own| !own.fixed) {
            let (working, expansion) = self.expanded(&kernel, places, through, &sample)?;
            let belief = self.belief(&kernel, places, &working)?;
            through = dispersed(self.schema, &belief, &expansion, &sample)?;
        }
        self.watch.progress("learning from parts", 1, 1);
        let record = SearchRecord {
            start: 0,
            rows: sample.rows(),
            steps: found.steps,
            evaluations: found.evaluations,
            failures: found.failures,
            value: found.value,
            stop: found.stop,
        };
        Ok((kernel, through, record))
    }

    /// How many rows hold the information that a climb needs.
    fn rows_telling(&self, size: Climb, through: Through) -> Result<usize> {
        let (least, most) = size.rows;
        let some = random_rows(self.data.rows(), most, self.spec.seed ^ 2);
        let seen = observations(self.schema, &self.data.select(&some), through)?;
        let each = information(through, &seen) / some.len() as f64;
        let wanted = (size.told / each.max(1e-9)).ceil();
        Ok((wanted.min(most as f64) as usize).clamp(least, most))
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
}

/// The curvature of the log likelihood of some rows where the latent function is at its level.
fn information(through: Through, seen: &Observations) -> f64 {
    let level = vec![0.0; seen.groups()];
    let terms = through.likelihood.derivatives_of(seen, &level);
    terms.iter().map(|term| term.curvature).sum()
}

/// What is believed before any row where rows say little of each column: length scales grow with the square root of the
/// number of columns, so that the function is no rougher with more of them (Hvarfner, Hellsten and Nardi 2024, eq. 5),
/// and the latent function spans a few e-folds at most. Columns that nothing is known about then stay without effect.
fn plausible(parameters: &[Parameter], columns: usize) -> Vec<Plausible> {
    let usual = latent_priors(Hyperprior::Weak, parameters);
    let prior = |(parameter, usual): (&Parameter, Plausible)| match parameter.role {
        Role::LengthScale => {
            let middle = 2f64.sqrt() + 0.5 * (columns.max(1) as f64).ln();
            Plausible::new(middle, middle, 3f64.sqrt())
        }
        Role::Variance => Plausible::new(-1.5, 0.0, 1.5),
        _ => usual,
    };
    parameters.iter().zip(usual).map(prior).collect()
}

/// One smooth term, or two rough ones on different scales; categories multiply.
fn candidates(schema: &Schema) -> Result<Vec<Kernel>> {
    let term = |shape: &str| auto::with_categories(schema.columns(), shape);
    let rough = term("matern32(ard)");
    let mut texts = vec![term("se(ard)"), format!("{rough} + {rough}")];
    // Without a number column every shape is the categories' own.
    if texts[0] == rough {
        texts.truncate(1);
    }
    texts.iter().map(|text| Ok(text.parse()?)).collect()
}
