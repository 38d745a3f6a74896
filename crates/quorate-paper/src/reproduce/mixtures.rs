//! What the experiments on mixtures of Gaussian processes share: experts of given bandwidths, alone and mixed.

use quorate::Result;
use quorate::mixture::{
    Judge, MixtureOfProcesses, MixtureRows, Prior, Settings, Sites, Smoothed, climb, density,
};
use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Kernel, tiles};
use quorate_gp::linalg::{Matrix, dot};
use quorate_gp::watch::Watch;

/// Noise variances among which evidence chooses.
const EVIDENT: [f64; 10] = [0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7, 0.9];

/// Noise variances that are tried, in variances of a standardised target.
pub const NOISES: [f64; 13] = [
    0.0001, 0.0003, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.9,
];

/// Rounds of a climb whose last is kept, and folds of rows of which one at a time sits it out.
pub const ROUNDS: usize = 15;
pub const FOLDS: usize = 4;

/// Variances of the level and of the rest of a noise process's logarithm: the noise of the experts alone is nearly kept. Free
/// noise explains rows better and the map worse: where an expert may call rows noise, it need not follow them.
const SPREAD: f64 = 0.01;

/// What the paper leaves open, and how it is settled.
pub struct Choices<'a> {
    /// Length scale and variance of the gates.
    pub gates: &'a [(f64, f64)],
    /// Noise variances of the mixture; that of the experts alone where there are none.
    pub levels: &'a [f64],
    /// By what the round that is kept is told; where it is the last, rows that sit out whole climbs choose the rest.
    pub judge: Judge,
}

/// Rows with the bandwidths of the experts.
pub struct Problem {
    pub rows: MixtureRows,
    pub width: usize,
    pub scales: Vec<f64>,
    /// Noise variance of the experts alone; none: the one for which they have the most evidence together.
    pub noise: Option<f64>,
}

/// Inputs, and what is right there.
pub struct Questions {
    pub values: Vec<f64>,
    pub truth: Vec<f64>,
}

impl Questions {
    pub fn inputs(&self, width: usize) -> Result<Inputs<'_>> {
        Ok(Inputs::new(&self.values, self.truth.len(), width)?)
    }
}

/// Errors of the experts alone: their mean, that of their mean, and the least.
pub struct Errors {
    pub mean: f64,
    pub of_mean: f64,
    pub least: f64,
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

    /// Every expert alone with all rows, under a noise variance.
    fn under(&self, covariances: &[Matrix], noise: f64) -> Result<Vec<Smoothed>> {
        let sites = Sites {
            precision: vec![1.0 / noise; self.rows.count()],
            shift: self.rows.targets().iter().map(|y| y / noise).collect(),
        };
        let each = covariances.iter();
        each.map(|covariance| Smoothed::new(covariance, sites.clone()))
            .collect()
    }

    fn covariances(&self, experts: &[BoundKernel]) -> Result<Vec<Matrix>> {
        let inputs = self.rows.inputs()?;
        let each = experts.iter();
        Ok(each.map(|own| tiles::block(own, inputs, inputs)).collect())
    }

    /// The experts alone, and their noise.
    fn alone(&self, experts: &[BoundKernel]) -> Result<(f64, Vec<Smoothed>)> {
        let covariances = self.covariances(experts)?;
        if let Some(noise) = self.noise {
            return Ok((noise, self.under(&covariances, noise)?));
        }
        let mut best: Option<(f64, f64, Vec<Smoothed>)> = None;
        for noise in EVIDENT {
            let all = self.under(&covariances, noise)?;
            let evidence: f64 = all.iter().map(|own| self.evidence(own, noise)).sum();
            if best.as_ref().is_none_or(|(most, ..)| evidence > *most) {
                best = Some((evidence, noise, all));
            }
        }
        let (_, noise, all) =
            best.ok_or_else(|| quorate::Error::Spec("no noise variance was tried".into()))?;
        Ok((noise, all))
    }

    /// Errors of the experts alone at questions, under every noise.
    pub fn errors_alone(&self, asked: &Questions) -> Result<Vec<Errors>> {
        let experts = self.experts()?;
        let covariances = self.covariances(&experts)?;
        let (rows, query) = (self.rows.inputs()?, asked.inputs(self.width)?);
        let across: Vec<Matrix> = (experts.iter())
            .map(|own| tiles::block(own, rows, query))
            .collect();
        let under = |noise: &f64| {
            let all = self.under(&covariances, *noise)?;
            let maps: Vec<Vec<f64>> = (all.iter().zip(&across))
                .map(|(own, across)| {
                    let each = 0..across.ncols();
                    each.map(|place| dot(across.col_as_slice(place), &own.weights))
                        .collect()
                })
                .collect();
            let each: Vec<f64> = (maps.iter())
                .map(|map| squared_error(map, &asked.truth))
                .collect();
            let count = maps.len() as f64;
            let average: Vec<f64> = (0..asked.truth.len())
                .map(|place| maps.iter().map(|map| map[place]).sum::<f64>() / count)
                .collect();
            Ok(Errors {
                mean: each.iter().sum::<f64>() / count,
                of_mean: squared_error(&average, &asked.truth),
                least: each.iter().copied().fold(f64::INFINITY, f64::min),
            })
        };
        NOISES.iter().map(under).collect()
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
        let levels = match choices.levels {
            [] => std::slice::from_ref(&noise),
            some => some,
        };
        let mut best: Option<(f64, Prior)> = None;
        let each =
            (levels.iter()).flat_map(|level| choices.gates.iter().map(move |gate| (level, gate)));
        for (level, (length, variance)) in each {
            let gate = format!("1 * constant + {variance} * se(length_scale={length})");
            let spread = format!("{SPREAD} * constant + {SPREAD} * se(length_scale={length})");
            let prior = Prior {
                experts: experts.clone(),
                gate: self.bound(&gate)?,
                noise: self.bound(&spread)?,
                level: 0.5 * level.ln(),
            };
            let value = match choices.judge {
                Judge::Density => self.density_left_out(&prior, watch)?,
                Judge::Last => -self.error_of_folds(&prior, watch)?,
            };
            if best.as_ref().is_none_or(|(most, _)| value > *most) {
                best = Some((value, prior));
            }
        }
        let (_, prior) = best.ok_or_else(|| quorate::Error::Spec("no mixture was tried".into()))?;
        Ok(Mixed {
            noise,
            alone,
            mixture: mixed(&prior, &self.rows, choices.judge, watch)?,
        })
    }

    /// Log density of the rows, each left out.
    fn density_left_out(&self, prior: &Prior, watch: &dyn Watch) -> Result<f64> {
        let mixture = mixed(prior, &self.rows, Judge::Density, watch)?;
        let told = density(&mixture.left_out(), 0.0, 1.0);
        let targets = self.rows.targets().iter().enumerate();
        Ok(targets.map(|(row, y)| told.log_density(row, *y)).sum())
    }

    /// Squared error of rows that sit out a whole climb, a fold after the other.
    fn error_of_folds(&self, prior: &Prior, watch: &dyn Watch) -> Result<f64> {
        let mut sum = 0.0;
        for fold in 0..FOLDS {
            let learned = self.some(|row| row % FOLDS != fold)?;
            let held = self.some(|row| row % FOLDS == fold)?;
            let told = mixed(prior, &learned, Judge::Last, watch)?.marginals(held.inputs()?)?;
            let targets = held.targets().iter().enumerate();
            sum += targets
                .map(|(row, y)| (told.mean[(row, 0)] - y).powi(2))
                .sum::<f64>();
        }
        Ok(sum)
    }

    fn some(&self, keeps: impl Fn(usize) -> bool) -> Result<MixtureRows> {
        let rows: Vec<usize> = (0..self.rows.count()).filter(|row| keeps(*row)).collect();
        let inputs = self.rows.inputs()?;
        let values = rows.iter().flat_map(|&row| inputs.row(row)).copied();
        let targets = rows.iter().map(|&row| self.rows.targets()[row]);
        MixtureRows::new(values.collect(), self.width, targets.collect(), None)
    }
}

/// A climb from experts that have all heard all rows, which is not itself a mixture.
fn mixed(
    prior: &Prior,
    rows: &MixtureRows,
    judge: Judge,
    watch: &dyn Watch,
) -> Result<MixtureOfProcesses> {
    let way = Settings {
        keeps_start: false,
        rounds: match judge {
            Judge::Density => Settings::default().rounds,
            Judge::Last => ROUNDS,
        },
        judge,
        ..Settings::default()
    };
    Ok(climb(prior, rows, way, watch)?.0)
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
