//! Learning by the grouped conditional likelihood: small random groups, many small steps.

use quorate_gp::Result;
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::learn::{
    ConditionalLikelihood, Evaluation, Group, Hyperprior, LatentConditional, Objective, Plausible,
    at, latent_at, latent_priors, remembered,
};
use quorate_gp::likelihood::{GaussianNoise, Likelihood, Observations};
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::parameters::{Parameter, Role};
use quorate_gp::watch::Watch;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use super::{GroupShape, draw_centres, groups_around};
use crate::space::{NeighbourSearch, ScaledSpace};

/// Variance of the kernel in that of the noise, at most: a neighbourhood of some hundred rows then keeps three digits.
const MOST_CONTRAST: f64 = 1e12;

/// The share of the steps that look at early groups. What they learn from few neighbours the last steps, over which
/// the answer is averaged, only have to put right.
pub const EARLY: f64 = 0.6;

/// How the stochastic ascent goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionalSearch {
    /// Steps.
    pub steps: usize,
    /// Groups drawn for each step.
    pub groups: usize,
    /// Their shape in the first steps, [`EARLY`] of all.
    pub early: GroupShape,
    /// Their shape from then on.
    pub shape: GroupShape,
    /// Length of the first steps, in coordinates; it falls to a tenth along half a cosine.
    pub rate: f64,
    /// Neighbours are searched in the current length scales, brought up to date every so many steps.
    pub refresh: usize,
    /// Seed of the groups.
    pub seed: u64,
}

impl Default for ConditionalSearch {
    fn default() -> Self {
        Self {
            steps: 150,
            groups: 16,
            early: GroupShape::default(),
            shape: GroupShape::default(),
            rate: 0.2,
            refresh: 20,
            seed: 0,
        }
    }
}

impl ConditionalSearch {
    fn shape_at(&self, step: usize) -> GroupShape {
        if (step as f64) < EARLY * self.steps as f64 {
            self.early
        } else {
            self.shape
        }
    }
}

/// What the ascent did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConditionalRecord {
    /// Steps taken.
    pub steps: usize,
    /// Steps skipped because a group could not be computed.
    pub failures: usize,
    /// Conditional log likelihood per row, averaged over the last quarter of the steps.
    pub log_likelihood_per_row: f64,
    /// The same at each step, of that step's own groups.
    #[serde(default)]
    pub path: Vec<f64>,
}

/// Maximises the grouped conditional likelihood from the kernel's and noise's current values.
pub fn learn_conditional(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    data: &Dataset,
    search: &ConditionalSearch,
    watch: &dyn Watch,
) -> Result<(BoundKernel, GaussianNoise, ConditionalRecord)> {
    let mut parameters = kernel.parameters();
    parameters.push(noise.parameter());
    let priors: Vec<Plausible> = parameters.iter().map(Plausible::of).collect();
    let ascent = Ascent {
        kernel,
        inputs: data.inputs(),
        parameters: &parameters,
        priors: &priors,
        search,
    };
    let evaluate = |groups: &[Group], here: &[f64]| {
        ConditionalLikelihood::new(kernel, data, groups, JitterPolicy::default()).evaluate(here)
    };
    let (found, record) = ascent.climb(&evaluate, watch)?;
    let (kernel, noise) = at(kernel, &found)?;
    Ok((kernel, noise, record))
}

/// The same for rows with any likelihood, whose dispersions are learned with the kernel: every evidence is Laplace's.
pub fn learn_latent_conditional(
    kernel: &BoundKernel,
    likelihood: Likelihood,
    data: &Dataset,
    seen: &Observations,
    search: &ConditionalSearch,
    watch: &dyn Watch,
) -> Result<(BoundKernel, Likelihood, ConditionalRecord)> {
    let mut parameters = kernel.parameters();
    parameters.extend(likelihood.parameters());
    let priors = latent_priors(Hyperprior::Weak, &parameters);
    let ascent = Ascent {
        kernel,
        inputs: data.inputs(),
        parameters: &parameters,
        priors: &priors,
        search,
    };
    let evaluate = |groups: &[Group], here: &[f64]| {
        // Made with the values of this step, so that its modes are found where they are asked for.
        let (kernel, likelihood) = latent_at(kernel, likelihood, here)?;
        LatentConditional::new(&kernel, likelihood, data, seen, groups)?.evaluate(here)
    };
    let (found, record) = ascent.climb(&evaluate, watch)?;
    let (kernel, likelihood) = latent_at(kernel, likelihood, &found)?;
    Ok((kernel, likelihood, record))
}

/// A stochastic ascent: coordinates of a kernel, then of whatever makes targets of its function.
struct Ascent<'a> {
    kernel: &'a BoundKernel,
    inputs: Inputs<'a>,
    parameters: &'a [Parameter],
    priors: &'a [Plausible],
    search: &'a ConditionalSearch,
}

/// Value and gradient of some groups at some coordinates, scaled to all rows.
type OfGroups<'a> = dyn Fn(&[Group], &[f64]) -> Result<Evaluation> + 'a;

impl Ascent<'_> {
    /// Adam's steps (Kingma and Ba 2015) on fresh random groups; the answer is the mean of the last quarter of the path,
    /// which averages the noise of the draws away.
    fn climb(
        &self,
        evaluate: &OfGroups<'_>,
        watch: &dyn Watch,
    ) -> Result<(Vec<f64>, ConditionalRecord)> {
        let (search, rows) = (self.search, self.inputs.rows());
        let mut here: Vec<f64> = self.parameters.iter().map(Parameter::coordinate).collect();
        let mut random = ChaCha12Rng::seed_from_u64(search.seed);
        let mut momentum = Adam::new(here.len());
        let mut near: Option<(NeighbourSearch, Vec<f64>)> = None;
        let mut metric = here.clone();
        let averaged_from = search.steps - search.steps.div_ceil(4);
        let mut mean = vec![0.0; here.len()];
        let mut value = 0.0;
        let mut counted = 0.0;
        let mut failures = 0;
        let mut path = Vec::with_capacity(search.steps);
        for step in 0..search.steps {
            watch.check()?;
            watch.progress("learning from neighbourhoods", step, search.steps);
            if step % search.refresh == 0 {
                metric.clone_from(&here);
                near = None;
            }
            let centres = draw_centres(search.groups, rows, &mut random);
            // Neighbours are looked for only when a step is not known from an earlier run.
            let outcome = remembered(&here, watch, || {
                let (neighbours, points) = match near.take() {
                    Some(ready) => ready,
                    None => self.neighbours(&metric)?,
                };
                let shape = search.shape_at(step);
                let groups = groups_around(&neighbours, &points, &centres, shape);
                near = Some((neighbours, points));
                evaluate(&groups, &here)
            });
            match outcome {
                Ok(evaluation) => {
                    path.push(evaluation.value / rows as f64);
                    let progress = step as f64 / search.steps as f64;
                    let rate =
                        search.rate * (0.55 + 0.45 * (std::f64::consts::PI * progress).cos());
                    let slopes = evaluation.gradient.iter().zip(&here).zip(self.priors);
                    let slopes: Vec<f64> = slopes
                        .map(|((slope, at), prior)| slope + prior.log_density(*at).1)
                        .collect();
                    momentum.step(&mut here, &slopes, rate, self.parameters, self.priors);
                    self.stay_computable(&mut here);
                    if step >= averaged_from {
                        counted += 1.0;
                        value += evaluation.value / rows as f64;
                        mean.iter_mut().zip(&here).for_each(|(sum, x)| *sum += x);
                    }
                }
                Err(error) if error.is_recoverable() => failures += 1,
                Err(error) => return Err(error),
            }
        }
        watch.progress("learning from neighbourhoods", search.steps, search.steps);
        if counted > 0.0 {
            here = mean.iter().map(|sum| sum / counted).collect();
        }
        let record = ConditionalRecord {
            steps: search.steps,
            failures,
            log_likelihood_per_row: value / counted.max(1.0),
            path,
        };
        Ok((here, record))
    }

    /// Targets without noise ask for ever longer length scales and, to go with them, an ever larger variance of the kernel,
    /// until answers are differences of numbers that agree to nearly all their digits: errors are then rounding, which no
    /// interval knows of. The kernel's variance stays within reach of the noise's.
    fn stay_computable(&self, here: &mut [f64]) {
        let places = |role: Role| {
            let all = self.parameters.iter().enumerate();
            all.filter(move |(_, own)| own.role == role && !own.fixed)
                .map(|(place, _)| place)
        };
        let Some(noise) = places(Role::Noise).next_back() else {
            return;
        };
        let variance: f64 = places(Role::Variance).map(|place| here[place].exp()).sum();
        let excess = variance.ln() - here[noise] - MOST_CONTRAST.ln();
        if excess > 0.0 {
            places(Role::Variance).for_each(|place| here[place] -= excess);
        }
    }

    /// The rows as points in the metric of the kernel at some coordinates.
    fn neighbours(&self, coordinates: &[f64]) -> Result<(NeighbourSearch, Vec<f64>)> {
        let mut kernel = self.kernel.clone();
        kernel.set_coordinates(&coordinates[..kernel.parameters().len()])?;
        let space = ScaledSpace::of_kernel(&kernel);
        let points = space.points(self.inputs);
        Ok((NeighbourSearch::new(space, self.inputs), points))
    }
}

/// Running first and second moments of the gradient.
struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl Adam {
    const KEEP_FIRST: f64 = 0.9;
    const KEEP_SECOND: f64 = 0.95;

    fn new(size: usize) -> Self {
        Self {
            first: vec![0.0; size],
            second: vec![0.0; size],
            steps: 0,
        }
    }

    fn step(
        &mut self,
        here: &mut [f64],
        slopes: &[f64],
        rate: f64,
        parameters: &[Parameter],
        priors: &[Plausible],
    ) {
        self.steps += 1;
        let bias = |keep: f64| 1.0 - keep.powi(self.steps);
        let (first_bias, second_bias) = (bias(Self::KEEP_FIRST), bias(Self::KEEP_SECOND));
        for (i, slope) in slopes.iter().enumerate() {
            self.first[i] = Self::KEEP_FIRST * self.first[i] + (1.0 - Self::KEEP_FIRST) * slope;
            self.second[i] =
                Self::KEEP_SECOND * self.second[i] + (1.0 - Self::KEEP_SECOND) * slope * slope;
            if parameters[i].fixed {
                continue;
            }
            let size = (self.second[i] / second_bias).sqrt() + 1e-12;
            let (low, high) = priors[i].bounds();
            here[i] = (here[i] + rate * self.first[i] / first_bias / size).clamp(low, high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_neighbourhoods_come_last() {
        let narrow = GroupShape {
            members: 64,
            neighbours: 192,
        };
        let search = ConditionalSearch {
            steps: 10,
            early: narrow,
            ..ConditionalSearch::default()
        };
        let shapes: Vec<GroupShape> = (0..10).map(|step| search.shape_at(step)).collect();
        assert!(shapes[..6].iter().all(|shape| *shape == narrow));
        assert!(
            shapes[6..]
                .iter()
                .all(|shape| *shape == GroupShape::default())
        );
    }
}
