//! The artificial data of the papers as rows, and the prior that the experiments share.

use quorate::Result;
use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::{ExactPosterior, Predict};

use crate::art::Bumps;
use crate::draw::{Draw, Stream};

/// Inputs of the artificial data (GBCM, section 7: Dim = 5).
pub const INPUTS: usize = 5;

/// Standard deviations of the heights of bumps, and widths of bumps, of maps whose paper states neither (MGP, table 1).
pub const HEIGHTS: [f64; 2] = [0.5, 2.0];
pub const WIDTHS: [f64; 2] = [0.3, 3.0];

/// A hidden map with a supply of rows (GBCM, App. C): inputs uniform in [-1, 1], five of them unless told otherwise.
pub struct Art {
    bumps: Bumps,
    draw: Draw,
    noise: f64,
    /// Whether inputs are standard normal.
    normal: bool,
}

/// Rows for a question: inputs and the value of the map there.
pub struct Questions {
    pub values: Vec<f64>,
    pub truth: Vec<f64>,
}

impl Art {
    /// A map and rows that follow from a seed; `noise` is a standard deviation.
    pub fn new(seed: u64, noise: f64) -> Self {
        Self::with_inputs(INPUTS, seed, noise)
    }

    /// The same with another number of inputs.
    pub fn with_inputs(inputs: usize, seed: u64, noise: f64) -> Self {
        Self::on_map(inputs, seed, seed, noise)
    }

    /// Rows that follow from a seed, on a map that follows from another.
    pub fn on_map(inputs: usize, map: u64, seed: u64, noise: f64) -> Self {
        Self {
            bumps: Bumps::draw(inputs, map),
            draw: Draw::new(seed, Stream::Rows),
            noise,
            normal: false,
        }
    }

    /// The same with inputs (MGP, figure 1), centres and heights of the bumps from a normal distribution, standard but for the heights; how high
    /// and how wide bumps are is drawn too, as logarithms from even ranges.
    pub fn normal(inputs: usize, seed: u64, noise: f64) -> Self {
        let mut draw = Draw::new(seed, Stream::Function);
        let mut within = |[low, high]: [f64; 2]| draw.between(low.ln(), high.ln()).exp();
        let (height, width) = (within(HEIGHTS), within(WIDTHS));
        let mut five = || std::array::from_fn(|_| draw.normal());
        let centres = (0..inputs).map(|_| five()).collect();
        let bumps = Bumps::with_centres(centres).with_heights(five().map(|own| height * own));
        Self {
            bumps: bumps.with_width(width),
            normal: true,
            ..Self::with_inputs(inputs, seed, noise)
        }
    }

    /// Further rows to learn from.
    pub fn rows(&mut self, count: usize) -> Result<Dataset> {
        let Questions { values, truth } = self.questions(count);
        let targets = truth
            .iter()
            .map(|value| value + self.noise * self.draw.normal())
            .collect();
        Ok(Dataset::new(
            values,
            self.bumps.inputs(),
            targets,
            None,
            None,
        )?)
    }

    /// Further questions, from the same distribution.
    pub fn questions(&mut self, count: usize) -> Questions {
        let inputs = self.bumps.inputs();
        let values: Vec<f64> = (0..count * inputs)
            .map(|_| match self.normal {
                true => self.draw.normal(),
                false => self.draw.between(-1.0, 1.0),
            })
            .collect();
        let truth = values
            .chunks(inputs)
            .map(|input| self.bumps.value(input))
            .collect();
        Questions { values, truth }
    }
}

impl Questions {
    /// As inputs.
    pub fn inputs(&self) -> Result<Inputs<'_>> {
        Ok(Inputs::new(&self.values, self.truth.len(), INPUTS)?)
    }

    /// Mean squared error against the map itself.
    pub fn error(&self, mean: &[f64]) -> f64 {
        let pairs = self.truth.iter().zip(mean);
        let sum: f64 = pairs.map(|(truth, mean)| (truth - mean).powi(2)).sum();
        sum / self.truth.len() as f64
    }
}

/// The prior of Committee Machines, appendix: covariance exp(-|x - x'|^2 / (2 gamma^2)).
pub fn prior(width: f64) -> Result<BoundKernel> {
    scaled_prior(INPUTS, 1.0, width)
}

/// The prior of GBCM, section 7: covariance A exp(-|x - x'|^2 / (2 gamma^2)).
pub fn scaled_prior(inputs: usize, amplitude: f64, width: f64) -> Result<BoundKernel> {
    let columns: Vec<InputColumn> = (1..=inputs)
        .map(|number| InputColumn {
            name: format!("x{number}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    let kernel: Kernel = format!("{amplitude} * se(length_scale={width})").parse()?;
    Ok(kernel.bind(&columns)?)
}

/// One process over all rows (M = 1).
pub fn exact(kernel: &BoundKernel, noise: f64, data: Dataset) -> Result<ExactPosterior> {
    let noise = GaussianNoise {
        variance: noise * noise,
    };
    let policy = JitterPolicy::default();
    Ok(ExactPosterior::condition(
        kernel.clone(),
        noise,
        data,
        policy,
    )?)
}

/// Means of one process at questions.
pub fn exact_means(posterior: &ExactPosterior, questions: &Questions) -> Result<Vec<f64>> {
    let belief = posterior.marginals(questions.inputs()?)?;
    Ok((0..questions.truth.len())
        .map(|row| belief.mean[(row, 0)])
        .collect())
}

/// The width gamma with the least error on a validation set, as the papers choose it: "optimized using a validation set
/// of size 100" (GBCM, table 1), by one process over 500 rows of their own.
pub fn validated_width(seed: u64, noise: f64) -> Result<f64> {
    let mut art = Art::new(seed, noise);
    let data = art.rows(500)?;
    let validation = art.rows(100)?;
    let targets: Vec<f64> = validation.members().iter().map(|m| m.target).collect();
    let mut best = (f64::INFINITY, 1.0);
    for width in [0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0] {
        let posterior = exact(&prior(width)?, noise, data.clone())?;
        let belief = posterior.marginals(validation.inputs())?;
        let error: f64 = targets
            .iter()
            .enumerate()
            .map(|(row, target)| (target - belief.mean[(row, 0)]).powi(2))
            .sum();
        if error < best.0 {
            best = (error, width);
        }
    }
    Ok(best.1)
}
