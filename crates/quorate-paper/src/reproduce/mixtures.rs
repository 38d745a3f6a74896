//! What the experiments on mixtures of Gaussian processes share: experts of given bandwidths, alone and mixed.

use quorate::Result;
use quorate::mixture::{
    Judge, MixtureOfProcesses, MixtureRows, Prior, Settings, Sites, Smoothed, climb, density,
};
use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Kernel, tiles};
use quorate_gp::watch::Watch;

/// Noise variances that are tried, in variances of a standardised target.
const NOISES: [f64; 10] = [0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7, 0.9];

/// Variances of the level and of the rest of a noise process's logarithm: the noise of the experts alone is nearly kept. Free
/// noise explains rows better and the map worse: where an expert may call rows noise, it need not follow them.
const SPREAD: f64 = 0.01;

/// What the paper leaves open, and how it is settled.
pub struct Choices<'a> {
    /// Length scale and variance of the gates.
    pub gates: &'a [(f64, f64)],
    /// Noise variance of the mixture, in that of the experts alone.
    pub levels: &'a [f64],
    /// By what rows left out choose.
    pub judge: Judge,
}

/// Rows with the bandwidths of the experts.
pub struct Problem {
    pub rows: MixtureRows,
    pub width: usize,
    pub scales: Vec<f64>,
}

/// The experts alone, and the mixture they make.
pub struct Mixed {
    /// Noise variance of the experts alone.
    pub noise: f64,
    alone: Vec<Smoothed>,
    pub mixture: MixtureOfProcesses,
}

impl Problem {
    fn bound(&self, text: &str) -> Result<BoundKernel> {
        let columns: Vec<InputColumn> = (1..=self.width)
            .map(|number| InputColumn {
                name: format!("x{number}"),
                kind: ColumnKind::Number,
                deviation: 1.0,
            })
            .collect();
        Ok(text.parse::<Kernel>()?.bind(&columns)?)
    }

    /// The experts' kernels, of variance A = 1 (MGP, section 2).
    fn experts(&self) -> Result<Vec<BoundKernel>> {
        let own = |scale: &f64| self.bound(&format!("se(length_scale={scale})"));
        self.scales.iter().map(own).collect()
    }

    /// Every expert alone with all rows, under the noise variance for which they have the most evidence together.
    fn alone(&self, experts: &[BoundKernel]) -> Result<(f64, Vec<Smoothed>)> {
        let inputs = self.rows.inputs()?;
        let own = |kernel: &BoundKernel| tiles::block(kernel, inputs, inputs);
        let covariances: Vec<_> = experts.iter().map(own).collect();
        let mut best: Option<(f64, f64, Vec<Smoothed>)> = None;
        for noise in NOISES {
            let sites = Sites {
                precision: vec![1.0 / noise; self.rows.count()],
                shift: self.rows.targets().iter().map(|y| y / noise).collect(),
            };
            let all: Vec<Smoothed> = (covariances.iter())
                .map(|covariance| Smoothed::new(covariance, sites.clone()))
                .collect::<Result<_>>()?;
            let evidence: f64 = all.iter().map(|own| self.evidence(own, noise)).sum();
            if best.as_ref().is_none_or(|(most, ..)| evidence > *most) {
                best = Some((evidence, noise, all));
            }
        }
        let (_, noise, all) =
            best.ok_or_else(|| quorate::Error::Spec("no noise variance was tried".into()))?;
        Ok((noise, all))
    }

    /// Log evidence: expected log density of the rows less the divergence of the belief from the prior.
    fn evidence(&self, expert: &Smoothed, noise: f64) -> f64 {
        let rows = self.rows.targets().iter().enumerate();
        let expected = rows.map(|(row, y)| {
            let square = (y - expert.mean[row]).powi(2) + expert.variance[row];
            -0.5 * ((2.0 * std::f64::consts::PI * noise).ln() + square / noise)
        });
        expected.sum::<f64>() - expert.divergence()
    }

    /// The mixture whose gates and noise predict rows left out best, among a few.
    pub fn solve(&self, choices: &Choices<'_>, watch: &dyn Watch) -> Result<Mixed> {
        let experts = self.experts()?;
        let (noise, alone) = self.alone(&experts)?;
        let mut best: Option<(f64, MixtureOfProcesses)> = None;
        let each = (choices.levels.iter())
            .flat_map(|level| choices.gates.iter().map(move |gate| (level, gate)));
        for (level, (length, variance)) in each {
            let gate = format!("1 * constant + {variance} * se(length_scale={length})");
            let spread = format!("{SPREAD} * constant + {SPREAD} * se(length_scale={length})");
            let prior = Prior {
                experts: experts.clone(),
                gate: self.bound(&gate)?,
                noise: self.bound(&spread)?,
                level: 0.5 * (level * noise).ln(),
            };
            let way = Settings {
                keeps_start: false,
                judge: choices.judge,
                ..Settings::default()
            };
            let (mixture, _) = climb(&prior, &self.rows, way, watch)?;
            let told = density(&mixture.left_out(), 0.0, 1.0);
            let targets = self.rows.targets().iter().enumerate();
            let value: f64 = targets
                .map(|(row, y)| match choices.judge {
                    Judge::Density => told.log_density(row, *y),
                    Judge::Error => -(told.moments(row).0 - y).powi(2),
                })
                .sum();
            if best.as_ref().is_none_or(|(most, _)| value > *most) {
                best = Some((value, mixture));
            }
        }
        let (_, mixture) =
            best.ok_or_else(|| quorate::Error::Spec("no mixture was tried".into()))?;
        Ok(Mixed {
            noise,
            alone,
            mixture,
        })
    }
}

impl Mixed {
    /// Means of the experts alone at questions.
    pub fn alone(&self, query: Inputs<'_>) -> Result<Vec<Vec<f64>>> {
        let rows = self.mixture.rows().inputs()?;
        let experts = self.alone.iter().zip(&self.mixture.prior().experts);
        experts
            .map(|(own, kernel)| Ok(own.marginals(kernel, rows, query)?.0))
            .collect()
    }

    /// Means of the mixture at questions (MGP, section 4: E(y|x)).
    pub fn means(&self, query: Inputs<'_>) -> Result<Vec<f64>> {
        let belief = self.mixture.marginals(query)?;
        Ok((0..query.rows()).map(|row| belief.mean[(row, 0)]).collect())
    }
}

/// Mean squared difference.
pub fn squared_error(told: &[f64], truth: &[f64]) -> f64 {
    let pairs = told.iter().zip(truth);
    pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>() / truth.len() as f64
}
