//! Mixtures that are tried on the way to one: kernels of experts, gates and noises around the kernel of one process.

use quorate_gp::data::{Dataset, InputColumn};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{Search, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::parameters::Role;
use quorate_gp::watch::Watch;

use super::auto::with_categories;
use crate::error::{Error, Result};
use crate::mixture::{Climb, MixtureOfProcesses, MixtureRows, Prior, Settings, climb, density};
use crate::spec::ModelSpec;

/// Length scales of the outermost experts are at most this many doublings away from those of one process.
const DOUBLINGS: f64 = 3.0;
/// Logarithms of noise deviations are believed up to here, in both directions.
const MOST_LOG: f64 = 14.0;
/// Variance of the level of a gate or of a logarithm of noise.
const LEVEL_VARIANCE: f64 = 1.0;
/// What gates and noises may look like: length scales in those of one process, and variances.
const NOISES: [(f64, f64); 4] = [(1.0, 0.5), (2.0, 0.5), (4.0, 0.5), (2.0, 1.5)];
const GATES: [(f64, f64); 3] = [(1.0, 4.0), (3.0, 4.0), (3.0, 20.0)];
/// Share of the rows left out that 95 % intervals of a mixture may hold, at least and at most, before the level of its noise is
/// changed; the steps of that change, as logarithms of deviations, how many at most, and what it may cost in log density a row.
const HELD: (f64, f64) = (0.94, 0.96);
const SHIFT: f64 = 0.04;
const SHIFTS: i32 = 15;
const PRICE: f64 = 0.05;
/// A noise variance that stands for none beside those of the rows.
const NEGLIGIBLE: f64 = 1e-6;

/// A mixture that was tried.
pub(super) struct Trial {
    pub prior: Prior,
    pub mixture: MixtureOfProcesses,
    pub record: Climb,
    /// Log density of the rows, each left out.
    pub density: f64,
}

/// What all trials share.
pub(super) struct Maker<'a> {
    pub columns: &'a [InputColumn],
    pub rows: MixtureRows,
    /// Logarithm of the noise's deviation, as one process finds it.
    pub level: f64,
    /// Whether kernels stay as they were given.
    pub keeps: bool,
    pub watch: &'a dyn Watch,
}

impl Maker<'_> {
    /// Tries a prior, bound anew from the text of its kernels as its file will.
    pub fn attempt(&self, prior: Prior) -> Result<Trial> {
        let again = |kernel: &BoundKernel| kernel.kernel().bind(self.columns);
        let prior = Prior {
            experts: (prior.experts.iter().map(again)).collect::<quorate_gp::Result<_>>()?,
            gate: again(&prior.gate)?,
            noise: again(&prior.noise)?,
            level: prior.level,
        };
        let (mixture, record) = climb(&prior, &self.rows, Settings::default(), self.watch)?;
        let told = density(&mixture.left_out(), 0.0, 1.0);
        Ok(Trial {
            prior,
            mixture,
            record,
            density: self.density(&told),
        })
    }

    /// The best of several priors, by the density of rows left out; the first of equals.
    fn best(&self, priors: impl IntoIterator<Item = Result<Prior>>) -> Result<Trial> {
        let mut best: Option<Trial> = None;
        for prior in priors {
            let trial = self.attempt(prior?)?;
            if best
                .as_ref()
                .is_none_or(|best| trial.density > best.density)
            {
                best = Some(trial);
            }
        }
        best.ok_or_else(|| Error::Spec("no mixture was tried".into()))
    }

    /// One expert, with constant noise or with that of a process.
    pub fn one_expert(&self, base: BoundKernel) -> Result<Trial> {
        let flat: Kernel = format!("{LEVEL_VARIANCE} * constant").parse()?;
        let flat = flat.bind(self.columns)?;
        let with = |noise: BoundKernel| Prior {
            experts: vec![base.clone()],
            gate: flat.clone(),
            noise,
            level: self.level,
        };
        let bent = NOISES.iter().map(|(stretch, variance)| {
            let noise = follower(self.columns, &base, *stretch, *variance)?;
            Ok(with(noise))
        });
        self.best(std::iter::once(Ok(with(flat.clone()))).chain(bent))
    }

    /// The expert's kernel learned once more, with the noise that was found, where that is better.
    pub fn relearned(&self, found: Trial, data: &Dataset, spec: &ModelSpec) -> Result<Trial> {
        let (spread, _): (Vec<f64>, Vec<f64>) = {
            let noise = &found.mixture.noises()[0];
            (noise.mean.clone(), noise.variance.clone())
        };
        let known = spread
            .iter()
            .map(|own| (2.0 * (own + found.prior.level).clamp(-MOST_LOG, MOST_LOG)).exp());
        let width = data.inputs().width();
        let rows = Dataset::new(
            self.rows.inputs()?.values().to_vec(),
            width,
            self.rows.targets().to_vec(),
            Some(self.rows.weights().to_vec()),
            Some(known.collect()),
        )?;
        let search = Search {
            restarts: Some(0),
            seed: spec.seed,
            kept_noise: Some(NEGLIGIBLE),
            ..Search::default()
        };
        let none = GaussianNoise {
            variance: NEGLIGIBLE,
        };
        let (kernel, _, _) = learn(&found.prior.experts[0], none, &rows, &search, self.watch)?;
        let again = self.one_expert(kernel)?;
        Ok(if again.density > found.density {
            again
        } else {
            found
        })
    }

    /// Experts with shorter and longer length scales than the one, and gates between them.
    pub fn several(&self, one: &Trial, experts: usize) -> Result<Trial> {
        let base = &one.prior.experts[0];
        let reach = DOUBLINGS.min((experts - 1) as f64);
        let each = (0..experts).map(|expert| {
            let place = 2.0 * expert as f64 / (experts - 1) as f64 - 1.0;
            stretched(base, (reach * place).exp2())
        });
        let each: Vec<BoundKernel> = each.collect::<Result<_>>()?;
        let found = self.best(GATES.iter().map(|(stretch, variance)| {
            Ok(Prior {
                experts: each.clone(),
                gate: follower(self.columns, base, *stretch, *variance)?,
                noise: one.prior.noise.clone(),
                level: one.prior.level,
            })
        }))?;
        Ok(self.levelled(found))
    }

    /// The least change of the noise's level after which 95 % intervals hold neither too few nor too many of the rows left out, as
    /// far as its price in density allows. Each expert's noise answers for its own errors; where several speak, what they
    /// differ by widens the density once more, and intervals hold more than they say.
    pub fn levelled(&self, found: Trial) -> Trial {
        let voices = found.mixture.left_out();
        let moved = |shift: f64| {
            let mut moved = voices.clone();
            for voice in &mut moved {
                voice.spread.iter_mut().for_each(|own| *own += shift);
            }
            density(&moved, 0.0, 1.0)
        };
        let total: f64 = self.rows.weights().iter().sum();
        let least = found.density - PRICE * total;
        let now = self.inside(&moved(0.0));
        let way = match now {
            more if more > HELD.1 => -SHIFT,
            less if less < HELD.0 => SHIFT,
            _ => return found,
        };
        let mut level = found.prior.level;
        let mut reached = found.density;
        for step in 1..=SHIFTS {
            let told = moved(way * f64::from(step));
            let (density, inside) = (self.density(&told), self.inside(&told));
            let beyond = if way < 0.0 {
                inside < HELD.0
            } else {
                inside > HELD.1
            };
            if density < least || beyond {
                break;
            }
            (level, reached) = (found.prior.level + way * f64::from(step), density);
            if (HELD.0..=HELD.1).contains(&inside) {
                break;
            }
        }
        Trial {
            prior: Prior {
                level,
                ..found.prior
            },
            mixture: found.mixture.with_level(level),
            density: reached,
            ..found
        }
    }

    /// Share of the rows inside the central 95 % interval of what is told of them.
    fn inside(&self, told: &crate::hyper::Mixture) -> f64 {
        let rows = self.rows.targets().iter().zip(self.rows.weights());
        let inside = rows.enumerate().filter(|(row, (target, _))| {
            (0.025..=0.975).contains(&told.below(*row, **target, false))
        });
        let held: f64 = inside.map(|(_, (_, weight))| weight).sum();
        held / self.rows.weights().iter().sum::<f64>()
    }

    /// Log density of the rows under what is told of them.
    pub fn density(&self, told: &crate::hyper::Mixture) -> f64 {
        let rows = self.rows.targets().iter().zip(self.rows.weights());
        let each = rows.enumerate();
        each.map(|(row, (target, weight))| weight * told.log_density(row, *target))
            .sum()
    }
}

/// A kernel with all its length scales multiplied.
fn stretched(kernel: &BoundKernel, factor: f64) -> Result<BoundKernel> {
    let mut kernel = kernel.clone();
    let coordinates: Vec<f64> = kernel
        .parameters()
        .iter()
        .map(|parameter| {
            let by = if parameter.role == Role::LengthScale {
                factor.ln()
            } else {
                0.0
            };
            parameter.coordinate() + by
        })
        .collect();
    kernel.set_coordinates(&coordinates)?;
    Ok(kernel)
}

/// A smooth kernel with a level, that sees the inputs as another kernel does: length scales are multiples of that kernel's.
fn follower(
    columns: &[InputColumn],
    base: &BoundKernel,
    stretch: f64,
    variance: f64,
) -> Result<BoundKernel> {
    let text = with_categories(columns, "se(ard)");
    let kernel: Kernel = format!("{LEVEL_VARIANCE} * constant + {variance} * {text}").parse()?;
    let mut kernel = kernel.bind(columns)?;
    let relevance = base.relevance();
    let coordinates: Vec<f64> = kernel
        .parameters()
        .iter()
        .map(|parameter| {
            let seen = relevance
                .iter()
                .find(|(label, _)| parameter.name.ends_with(&format!("[{label}]")));
            match seen {
                // What the function does not depend on, its noise may still depend on, gently.
                Some((_, inverse)) if parameter.role == Role::LengthScale => {
                    (stretch / inverse.clamp(0.1, 100.0)).ln()
                }
                _ => parameter.coordinate(),
            }
        })
        .collect();
    kernel.set_coordinates(&coordinates)?;
    Ok(kernel)
}
