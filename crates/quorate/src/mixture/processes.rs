//! The mixture itself: rows, prior processes, and what the processes believe after hearing the rows.

use quorate_gp::data::Inputs;
use quorate_gp::kernel::BoundKernel;
use quorate_gp::linalg::dot;
use rayon::prelude::*;

use super::between::Covariances;
use super::sites::{Sites, Smoothed};
use crate::error::{Error, Result};
use crate::landmarks::Summary;

/// Steps that are halved more often than this gain nothing that can be told from rounding.
const HALVINGS: usize = 30;

/// Rows of a mixture. Rows with the same inputs stay apart: each may have come from another expert.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureRows {
    values: Vec<f64>,
    width: usize,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

impl MixtureRows {
    /// Checks rows of `width` inputs; weight k means k copies.
    pub fn new(
        values: Vec<f64>,
        width: usize,
        targets: Vec<f64>,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        let weights = weights.unwrap_or_else(|| vec![1.0; targets.len()]);
        let numbers = values.iter().chain(&targets).chain(&weights);
        if targets.is_empty()
            || values.len() != targets.len() * width
            || weights.len() != targets.len()
            || numbers.clone().any(|number| !number.is_finite())
            || weights.iter().any(|weight| *weight < 0.0)
        {
            return Err(Error::Spec(
                "a mixture needs rows of finite inputs, each with a finite target and a weight that is not negative"
                    .into(),
            ));
        }
        Ok(Self {
            values,
            width,
            targets,
            weights,
        })
    }

    /// The inputs.
    pub fn inputs(&self) -> Result<Inputs<'_>> {
        Ok(Inputs::new(&self.values, self.targets.len(), self.width)?)
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.targets.len()
    }

    /// The targets.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// How often each row counts.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

/// What is believed before any row.
#[derive(Clone, Debug)]
pub struct Prior {
    /// The kernel of each expert.
    pub experts: Vec<BoundKernel>,
    /// The kernel of the gates.
    pub gate: BoundKernel,
    /// The kernel of the logarithms of the noise deviations.
    pub noise: BoundKernel,
    /// What those are around.
    pub level: f64,
}

impl Prior {
    /// Number of experts.
    pub fn count(&self) -> usize {
        self.experts.len()
    }
}

/// A process at its most probable value so far.
#[derive(Clone, Debug)]
pub struct Track {
    /// `f` at the rows.
    pub value: Vec<f64>,
    /// `a` with `f = K a`.
    pub weights: Vec<f64>,
    /// Precisions of the sites that were heard last.
    precision: Vec<f64>,
    /// Variance at each row without its own site.
    open: Vec<f64>,
}

impl Track {
    /// A process at zero, whose rows say so with these precisions.
    pub fn new(precision: Vec<f64>) -> Self {
        Self {
            value: vec![0.0; precision.len()],
            weights: vec![0.0; precision.len()],
            open: vec![0.0; precision.len()],
            precision,
        }
    }

    /// Moves towards what the sites say, as far as `gain` (the log likelihood of a value) and the prior allow: the sum of
    /// both never decreases.
    pub fn step(&mut self, smoothed: Smoothed, gain: impl Fn(&[f64]) -> f64) {
        let before = gain(&self.value) - 0.5 * dot(&self.value, &self.weights);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let towards = |old: &[f64], new: &[f64]| -> Vec<f64> {
                let pairs = old.iter().zip(new);
                pairs.map(|(old, new)| old + length * (new - old)).collect()
            };
            let weights = towards(&self.weights, &smoothed.weights);
            // The value is linear in the weights.
            let value = towards(&self.value, &smoothed.mean);
            let after = gain(&value) - 0.5 * dot(&value, &weights);
            if after >= before {
                self.value = value;
                self.weights = weights;
                break;
            }
            length *= 0.5;
        }
        let rows = 0..self.value.len();
        self.open = rows.map(|row| smoothed.left_out(row).1).collect();
        self.precision = smoothed.sites.precision;
    }

    /// The sites under which the process stays where it is: with `h = a + w f` the mode is `f = K (h - w f) = K a`. Sites of one
    /// more step of scoring would move it on, past the value by which this round was judged.
    pub fn sites(&self) -> Sites {
        let own = self.weights.iter().zip(&self.precision).zip(&self.value);
        Sites {
            shift: own.map(|((a, w), f)| a + w * f).collect(),
            precision: self.precision.clone(),
        }
    }

    /// Value at a row without its own site: with `h = a + w f`, `(f - v h) / (1 - w v) = f - a v / (1 - w v)`.
    pub fn without(&self, row: usize) -> f64 {
        self.value[row] - self.open[row] * self.weights[row]
    }
}

/// A mixture of Gaussian processes that has heard its rows.
#[derive(Clone, Debug)]
pub struct MixtureOfProcesses {
    pub(super) prior: Prior,
    pub(super) rows: MixtureRows,
    pub(super) experts: Vec<Smoothed>,
    /// None where there is one expert.
    pub(super) gates: Vec<Smoothed>,
    pub(super) noises: Vec<Smoothed>,
}

impl MixtureOfProcesses {
    /// Lets every process hear its sites: those of the experts, then of the gates where there are several experts, then of
    /// the noises.
    pub fn condition(prior: Prior, rows: MixtureRows, sites: Vec<Sites>) -> Result<Self> {
        let count = prior.count();
        let processes = if count == 1 { 2 } else { 3 * count };
        let whole =
            |own: &Sites| own.precision.len() == rows.count() && own.shift.len() == rows.count();
        let sound = |own: &Sites| {
            own.precision.iter().all(|w| w.is_finite() && *w >= 0.0)
                && own.shift.iter().all(|h| h.is_finite())
        };
        if count == 0
            || sites.len() != processes
            || !sites.iter().all(|own| whole(own) && sound(own))
        {
            return Err(Error::Spec(
                "the sites of a mixture and its experts and rows do not belong together".into(),
            ));
        }
        let covariances = Covariances::of_pairs(&prior, &rows)?;
        Self::hear(prior, rows, sites, &covariances)
    }

    /// The same with covariances that are at hand, and sites that belong to them.
    pub(super) fn hear(
        prior: Prior,
        rows: MixtureRows,
        sites: Vec<Sites>,
        covariances: &Covariances,
    ) -> Result<Self> {
        let count = prior.count();
        let gates = sites.len() - 2 * count;
        let smoothed: Vec<Smoothed> = sites
            .into_par_iter()
            .enumerate()
            .map(|(place, own)| {
                let covariance = match place {
                    expert if expert < count => &covariances.experts[expert],
                    gate if gate < count + gates => &covariances.gate,
                    _ => &covariances.noise,
                };
                covariance.hear(own)
            })
            .collect::<Result<_>>()?;
        let mut smoothed = smoothed.into_iter();
        Ok(Self {
            experts: smoothed.by_ref().take(count).collect(),
            gates: smoothed.by_ref().take(gates).collect(),
            noises: smoothed.collect(),
            prior,
            rows,
        })
    }

    /// What was believed before any row.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The same with noise around another level; what experts have heard of the rows stays.
    pub fn with_level(mut self, level: f64) -> Self {
        self.prior.level = level;
        self
    }

    /// The rows.
    pub fn rows(&self) -> &MixtureRows {
        &self.rows
    }

    /// The experts' beliefs.
    pub fn experts(&self) -> &[Smoothed] {
        &self.experts
    }

    /// The beliefs about the logarithms of the noise deviations, less the level.
    pub fn noises(&self) -> &[Smoothed] {
        &self.noises
    }

    /// The sites of all processes, as [`MixtureOfProcesses::condition`] takes them.
    pub fn sites(&self) -> Vec<Sites> {
        let all = self.experts.iter().chain(&self.gates).chain(&self.noises);
        all.map(|own| own.sites().clone()).collect()
    }

    /// What the rows said to the landmarks, process after process in the order of [`MixtureOfProcesses::sites`]; none where the
    /// rows themselves are asked.
    pub fn summaries(&self) -> Option<Vec<Summary>> {
        let all = self.experts.iter().chain(&self.gates).chain(&self.noises);
        all.map(|own| own.summary().cloned()).collect()
    }

    /// Share of each expert in each row, one list for each expert, from the precisions of their noises' sites.
    pub fn responsibilities(&self) -> Vec<Vec<f64>> {
        let counts: Vec<&[f64]> = self
            .noises
            .iter()
            .map(|noise| &noise.sites().precision[..])
            .collect();
        let equal = 1.0 / counts.len() as f64;
        let share = |own: &[f64], row: usize| {
            let all: f64 = counts.iter().map(|counts| counts[row]).sum();
            if all > 0.0 { own[row] / all } else { equal }
        };
        let rows = 0..self.rows.count();
        let each = counts
            .iter()
            .map(|own| rows.clone().map(|row| share(own, row)).collect());
        each.collect()
    }

    /// How many parameters the rows pin down in the experts.
    pub fn effective_parameters(&self) -> f64 {
        self.experts
            .iter()
            .map(Smoothed::effective_parameters)
            .sum()
    }
}
