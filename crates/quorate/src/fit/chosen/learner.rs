//! The ways of learning.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{
    Hyperprior, LeaveOneOutDensity, Plausible, Propagation, Search, SearchLimits, SearchRecord,
    Stop, WithPrior, at, latent_at, maximise,
};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::parameters::Parameter;
use quorate_gp::watch::Watch;

use super::Chosen;
use crate::error::{Error, Result};
use crate::fit::auto::{self, Best, Candidate};
use crate::fit::start::{CAREFUL, from_random_part};
use crate::fit::{drawn, landmarks, latent, local, quantity};
use crate::hyper::{FromParts, FromPartsWay, Hyperposterior, from_parts, validated};
use crate::latent::{Approximation, observations};
use crate::partition::{Labels, PartChoice, Partition};
use crate::plan::{EXACT_ROWS, Way};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::Through;

/// Rows of one part while learning, unless told otherwise.
const PART_SIZE: usize = 500;
/// Parts that are learned from, at most: evidence of 20,000 rows leaves little to be learned from more.
const PARTS: usize = 40;
/// Rows whose leave-one-out density is climbed, at most.
const LEFT_OUT_ROWS: usize = 1500;

/// Learns hyperparameters for any method, in the way that was chosen.
pub(super) struct Learner<'a> {
    pub spec: &'a ModelSpec,
    pub schema: &'a Schema,
    pub data: &'a Dataset,
    pub watch: &'a dyn Watch,
}

impl Learner<'_> {
    pub fn learn(&self, way: &Way, labels: Option<&Labels>) -> Result<(GaussianNoise, Chosen)> {
        let auto = ModelSpec {
            learn: LearnChoice::Auto,
            ..self.spec.clone()
        };
        match self.spec.learn {
            LearnChoice::Conditional => {
                let (best, tried) = local::learn(&auto, self.schema, self.data, self.watch)?;
                let kernel = best.kernel.kernel();
                let outcome = local::outcome(&tried, &kernel, &best.record, LearnChoice::Auto);
                let candidates = if tried.len() > 1 { tried } else { Vec::new() };
                let noise = self.kept_noise().unwrap_or(best.noise);
                Ok((noise, self.chosen(kernel, candidates, outcome)))
            }
            LearnChoice::Committee => {
                let found = landmarks::learn(&auto, self.schema, self.data, PART_SIZE, self.watch)?;
                let outcome = landmarks::learned_by(&found, LearnChoice::Auto);
                let noise = self.kept_noise().unwrap_or(found.noise);
                let mut chosen = self.chosen(found.kernel.kernel(), found.candidates, outcome);
                chosen.history = found.history;
                Ok((noise, chosen))
            }
            LearnChoice::Loo => self.left_out(),
            LearnChoice::Validation => self.validation(),
            LearnChoice::Nuts | LearnChoice::Hmc => self.drawn(way),
            _ => self.parts(labels),
        }
    }

    fn chosen(&self, kernel: Kernel, candidates: Vec<Candidate>, outcome: String) -> Chosen {
        Chosen {
            kernel,
            candidates,
            history: Vec::new(),
            outcome,
            hyperposterior: None,
            through: None,
            notes: Vec::new(),
        }
    }

    fn kept_noise(&self) -> Option<GaussianNoise> {
        let deviation = self.schema.target_deviation();
        let variance = self.spec.noise_variance? / (deviation * deviation);
        Some(GaussianNoise { variance })
    }

    /// Where the search starts: the kernel given, or the best of a few, with the values a random part finds likely.
    fn start(&self) -> Result<(BoundKernel, GaussianNoise, Vec<Candidate>)> {
        let (kernel, candidates) = match &self.spec.kernel {
            KernelChoice::Given(kernel) => (kernel.clone(), Vec::new()),
            KernelChoice::Auto => {
                let search = Search {
                    seed: self.spec.seed,
                    kept_noise: self.kept_noise().map(|noise| noise.variance),
                    ..Search::default()
                };
                let (columns, watch) = (self.schema.columns(), self.watch);
                let classes = self.schema.target().classes().map(|own| own.count());
                let Best { kernel, tried, .. } =
                    auto::choose(columns, self.data, classes, &search, watch)?;
                (kernel, tried)
            }
        };
        let (bound, noise) = from_random_part(
            self.spec,
            self.schema,
            &kernel,
            self.data,
            CAREFUL,
            self.watch,
        )?;
        Ok((bound, self.kept_noise().unwrap_or(noise), candidates))
    }

    /// All parameters, and where the search starts.
    fn parameters(&self, kernel: &BoundKernel, noise: GaussianNoise) -> Vec<Parameter> {
        let mut parameters = kernel.parameters();
        parameters.push(Parameter {
            fixed: self.kept_noise().is_some(),
            ..noise.parameter()
        });
        parameters
    }

    fn parts(&self, labels: Option<&Labels>) -> Result<(GaussianNoise, Chosen)> {
        let (kernel, noise, candidates) = self.start()?;
        let choice = self.spec.parts.clone().unwrap_or(PartChoice::Random);
        let partition = Partition {
            choice: &choice,
            size: self.spec.part_size.unwrap_or(PART_SIZE).max(1),
            seed: self.spec.seed,
        };
        let lists = partition.assign(&kernel, self.data, labels, self.watch)?;
        let some: Vec<Vec<usize>> = random_rows(lists.len(), PARTS, self.spec.seed ^ 3)
            .into_iter()
            .map(|part| lists[part].clone())
            .collect();
        let parts = self.data.split(&some);
        let rows = parts.iter().map(Dataset::rows).sum();
        let (way, source, prior) = match self.spec.learn {
            LearnChoice::Lla => (
                FromPartsWay::LocalLaplace,
                "local Laplace approximations",
                Hyperprior::Broad,
            ),
            LearnChoice::LaplacePropagation => (
                FromPartsWay::Propagation(Propagation::default()),
                "Laplace propagation",
                Hyperprior::Broad,
            ),
            _ => (FromPartsWay::Shared, "shared evidence", Hyperprior::Weak),
        };
        let prior = self.spec.hyperprior.unwrap_or(prior);
        let fixed = self.kept_noise().is_some();
        let found = from_parts(&kernel, noise, fixed, &parts, way, prior, self.watch)?;
        let parameters = self.parameters(&kernel, noise);
        let hyperposterior = found.deviations.as_ref().map(|deviations| {
            Hyperposterior::gaussian(source, prior, &parameters, &found.coordinates, deviations)
        });
        let outcome = told(&found, parts.len(), rows, way);
        let chosen = Chosen {
            kernel: found.kernel.kernel(),
            candidates,
            history: vec![SearchRecord {
                start: 0,
                rows,
                steps: found.rounds.len() as u64,
                evaluations: found.evaluations.round() as usize,
                failures: 0,
                value: found.value,
                stop: if found.settled {
                    Stop::Converged
                } else {
                    Stop::Steps
                },
            }],
            outcome,
            hyperposterior,
            through: None,
            notes: Vec::new(),
        };
        Ok((found.noise, chosen))
    }

    fn drawn(&self, way: &Way) -> Result<(GaussianNoise, Chosen)> {
        let (kernel, noise, candidates) = self.start()?;
        let parameters = self.parameters(&kernel, noise);
        let exact = matches!(way, Way::Exact);
        if exact && self.data.rows() > EXACT_ROWS {
            return Err(Error::Spec(format!(
                "draws from the evidence of one process look at all rows, and {} are too many: use `--method committee`, whose evidence is that of parts",
                self.data.rows()
            )));
        }
        let sums = matches!(way, Way::Landmarks { .. });
        let (data, watch) = (self.data, self.watch);
        let drawn = drawn::draw(self.spec, exact, sums, &kernel, &parameters, data, watch)?;
        let chosen = Chosen::drawn(drawn.kernel.kernel(), candidates, drawn.around);
        Ok((drawn.noise, chosen))
    }

    /// Draws of the hyperparameters behind two classes, counts, amounts or lifetimes; the search starts at the maximum
    /// under weak hyperpriors.
    pub fn drawn_latent(&self) -> Result<Chosen> {
        let start = ModelSpec {
            learn: LearnChoice::Auto,
            hyperprior: None,
            ..self.spec.clone()
        };
        let (schema, data, watch) = (self.schema, self.data, self.watch);
        // Only classes have a second approximation.
        let how = (self.spec.inference.approximation()).unwrap_or(Approximation::Laplace);
        let (kernel, through, candidates) = if schema.target().quantity().is_some() {
            let learned = quantity::learn(&start, schema, data, None, watch)?;
            (learned.kernel, learned.through, learned.candidates)
        } else {
            let learned = latent::learn(how, &start, schema, data, watch)?;
            (learned.kernel, learned.through, learned.candidates)
        };
        let seen = observations(schema, data, through)?;
        let around = drawn::draw_latent(how, self.spec, &kernel, through, data, &seen, watch)?;
        let (top, likelihood) = latent_at(&kernel, through.likelihood, &around.maximum)?;
        let level = through.level;
        Ok(Chosen {
            through: Some(Through { likelihood, level }),
            ..Chosen::drawn(top.kernel(), candidates, around)
        })
    }

    fn left_out(&self) -> Result<(GaussianNoise, Chosen)> {
        let (kernel, noise, candidates) = self.start()?;
        let rows = random_rows(self.data.rows(), LEFT_OUT_ROWS, self.spec.seed ^ 4);
        let sample = self.data.select(&rows);
        let density = LeaveOneOutDensity::new(&kernel, &sample, JitterPolicy::default());
        let parameters = self.parameters(&kernel, noise);
        let priors: Vec<Plausible> = parameters.iter().map(Plausible::of).collect();
        let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
        let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
        let start: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
        let objective = WithPrior {
            objective: &density,
            priors: &priors,
        };
        self.watch.progress("learning from rows left out", 0, 1);
        let limits = SearchLimits {
            steps: 100,
            relative_gain: 1e-7,
            ..SearchLimits::default()
        };
        let found = maximise(&objective, &start, &bounds, &free, limits, self.watch)?;
        self.watch.progress("learning from rows left out", 1, 1);
        let (kernel, noise) = at(&kernel, &found.coordinates)?;
        let outcome = format!(
            "Learning took {} evaluations of the leave-one-out density of {} rows.",
            found.evaluations,
            sample.rows()
        );
        let mut chosen = self.chosen(kernel.kernel(), candidates, outcome);
        chosen.history.push(SearchRecord {
            start: 0,
            rows: sample.rows(),
            steps: found.steps,
            evaluations: found.evaluations,
            failures: found.failures,
            value: found.value,
            stop: found.stop,
        });
        Ok((noise, chosen))
    }

    fn validation(&self) -> Result<(GaussianNoise, Chosen)> {
        let (kernel, noise, candidates) = self.start()?;
        let fixed = self.kept_noise().is_some();
        let found = validated(&kernel, noise, fixed, self.data, self.spec.seed, self.watch)?;
        let outcome = format!(
            "{} widths and noises were tried on a validation set of {} rows.",
            found.tried, found.rows
        );
        let chosen = self.chosen(found.kernel.kernel(), candidates, outcome);
        Ok((found.noise, chosen))
    }
}

/// One plain sentence about learning from parts.
fn told(found: &FromParts, parts: usize, rows: usize, way: FromPartsWay) -> String {
    let who = match parts {
        1 => format!("one part of {rows} rows"),
        many => format!("{many} parts with {rows} rows together"),
    };
    let damped = if found.damped {
        " The sum of their approximations had no maximum: parts were heard only where their evidence falls off to all sides."
    } else {
        ""
    };
    match way {
        FromPartsWay::Shared => format!(
            "Learning took {} evaluations of the evidence of {who}{}.",
            found.evaluations,
            if found.settled {
                ""
            } else {
                ", and stopped at the limit of steps"
            }
        ),
        FromPartsWay::LocalLaplace => format!(
            "The hyperposteriors of {who} were approximated at their own maxima and added.{damped}"
        ),
        FromPartsWay::Propagation(_) => {
            let rounds = match found.rounds.len() {
                1 => "1 round".to_owned(),
                many => format!("{many} rounds"),
            };
            let end = if found.settled {
                format!("agreed after {rounds}")
            } else {
                format!("did not quite agree within {rounds}; the best point they saw was taken")
            };
            format!("Laplace propagation between {who} {end}.{damped}")
        }
    }
}
