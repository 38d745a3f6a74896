//! Several classes by coupled Laplace: one latent function for each class, joined by the softmax.
//!
//! ```
//! use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
//! use quorate_gp::kernel::Kernel;
//! use quorate_gp::learn::{Search, learn_classes};
//! use quorate_gp::likelihood::Classes;
//! use quorate_gp::posterior::MulticlassPosterior;
//! use quorate_gp::watch::Unwatched;
//!
//! let x = vec![-2.0, -1.8, -1.5, -0.1, 0.0, 0.2, 1.6, 1.9, 2.1];
//! let codes = vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0];
//! let data = Dataset::new(x, 1, codes, None, None)?;
//! let classes = Classes::of(&data, 3)?;
//! let column = InputColumn { name: "x".into(), kind: ColumnKind::Number, deviation: 1.5 };
//! let kernel = "se".parse::<Kernel>()?.bind(&[column])?;
//! // One kernel for all classes; give one for each to let them differ.
//! let search = Search { restarts: Some(0), ..Search::default() };
//! let (kernels, _records) = learn_classes(&[kernel], &data, &classes, &search, &Unwatched)?;
//! let posterior = MulticlassPosterior::fit(kernels, data, classes, None)?;
//! let query = [0.05];
//! let probabilities = posterior.probabilities(Inputs::new(&query, 1, 1)?)?;
//! assert!(probabilities[(0, 1)] > 0.5);
//! # Ok::<(), quorate_gp::Error>(())
//! ```

mod gradient;
mod mode;
mod probabilities;

pub(crate) use gradient::coupled_gradient;
pub(crate) use mode::{CoupledMode, find_coupled_mode};
pub use probabilities::SoftmaxAverage;

use rayon::prelude::*;

use super::exact::check_width;
use super::laplace::Working;
use crate::data::{Dataset, Inputs};
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::likelihood::{Classes, Derivatives};
use crate::linalg::{Matrix, dot};
use crate::{Error, Result};

/// Query rows answered together; each holds a column for every class.
const QUERY_BLOCK: usize = 64;

/// The belief about the latent values of all classes at one query.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassLatent {
    /// One mean for each class.
    pub mean: Vec<f64>,
    /// C x C.
    pub covariance: Matrix,
}

/// Gaussian processes for several classes, conditioned on rows through coupled Laplace.
#[derive(Clone, Debug)]
pub struct MulticlassPosterior {
    kernels: Vec<BoundKernel>,
    data: Dataset,
    classes: Classes,
    mode: CoupledMode,
}

impl MulticlassPosterior {
    /// Finds the mode and keeps the Gaussian around it. `kernels` is one for all classes, or one for each; `start` are
    /// the [`MulticlassPosterior::weights`] of an earlier fit of the same rows.
    pub fn fit(
        kernels: Vec<BoundKernel>,
        data: Dataset,
        classes: Classes,
        start: Option<&Vec<Vec<f64>>>,
    ) -> Result<Self> {
        check_kernels(&kernels, &data, &classes)?;
        let covariances = covariances(&kernels, data.inputs());
        let mode = find_coupled_mode(&covariances, &classes, start)?;
        Ok(Self {
            kernels,
            data,
            classes,
            mode,
        })
    }

    /// One kernel for all classes, or one for each.
    pub fn kernels(&self) -> &[BoundKernel] {
        &self.kernels
    }

    /// The rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The classes that were seen.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The most probable latent values, class after class.
    pub fn mode(&self) -> &[Vec<f64>] {
        &self.mode.latent
    }

    /// `K_c^-1 f_c` at the mode, class after class.
    pub fn weights(&self) -> &Vec<Vec<f64>> {
        &self.mode.weights
    }

    /// Working targets and noise of one class at the coupled mode, as if the other classes were fixed (Tresp 2000, sec. 5.3):
    /// slope `y - w pi`, curvature `w pi (1 - pi)`. Means are the coupled ones, variances too small: W's other entries are
    /// left out.
    pub fn working(&self, class: usize) -> Working {
        let pi = &self.mode.probabilities[class];
        let terms: Vec<Derivatives> = (0..self.classes.rows())
            .map(|row| {
                let (seen, total) = (self.classes.row(row)[class], self.classes.total(row));
                let curvature = total * pi[row] * (1.0 - pi[row]);
                Derivatives {
                    log_density: if seen > 0.0 { seen * pi[row].ln() } else { 0.0 },
                    slope: seen - total * pi[row],
                    curvature,
                    curvature_slope: curvature * (1.0 - 2.0 * pi[row]),
                    observed_curvature: curvature,
                }
            })
            .collect();
        Working::new(&self.mode.latent[class], &terms)
    }

    /// Newton steps that were needed.
    pub fn steps(&self) -> usize {
        self.mode.steps
    }

    /// Approximate log evidence.
    pub fn log_evidence(&self) -> f64 {
        self.mode.log_evidence
    }

    /// Mean and C x C covariance of the latent values at each query (Rasmussen and Williams 2006, alg. 3.4).
    pub fn latents(&self, query: Inputs<'_>) -> Result<Vec<ClassLatent>> {
        check_width(self.data.inputs(), query)?;
        let blocks: Vec<Vec<ClassLatent>> = (0..query.rows())
            .into_par_iter()
            .step_by(QUERY_BLOCK)
            .map(|first| {
                let last = (first + QUERY_BLOCK).min(query.rows());
                self.block_latents(query.slice(first, last))
            })
            .collect();
        Ok(blocks.concat())
    }

    fn block_latents(&self, query: Inputs<'_>) -> Vec<ClassLatent> {
        let count = self.classes.count();
        let mut means = Vec::with_capacity(count);
        let mut parts = Vec::with_capacity(count);
        let mut shared = None;
        for class in 0..count {
            let kernel = &self.kernels[class % self.kernels.len()];
            let (cross, prior) = match &shared {
                Some(pair) if self.kernels.len() == 1 => pair,
                _ => {
                    let mut cross = Matrix::zeros(self.data.rows(), query.rows());
                    kernel.fill(self.data.inputs(), query, cross.as_mut());
                    &*shared.insert((cross, kernel.diagonal(query)))
                }
            };
            let weights = &self.mode.weights[class];
            let mean = |q| dot(cross.col_as_slice(q), weights);
            means.push((0..query.rows()).map(mean).collect::<Vec<f64>>());
            parts.push(gradient::class_factors(
                &self.mode,
                class,
                cross.clone(),
                prior,
            ));
        }
        (0..query.rows())
            .map(|q| ClassLatent {
                mean: means.iter().map(|own| own[q]).collect(),
                covariance: Matrix::from_fn(count, count, |c, d| {
                    let own = if c == d { parts[c].0[q] } else { 0.0 };
                    own + dot(parts[c].1.col_as_slice(q), parts[d].1.col_as_slice(q))
                }),
            })
            .collect()
    }

    /// Class probabilities (queries x classes), the softmax averaged over the belief by fixed draws.
    pub fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let average = SoftmaxAverage::new(self.classes.count());
        let rows: Result<Vec<Vec<f64>>> = self
            .latents(query)?
            .par_iter()
            .map(|latent| average.of(latent))
            .collect();
        let rows = rows?;
        Ok(Matrix::from_fn(
            query.rows(),
            self.classes.count(),
            |row, class| rows[row][class],
        ))
    }
}

/// Covariances of the rows, one for each kernel.
pub(crate) fn covariances(kernels: &[BoundKernel], inputs: Inputs<'_>) -> Vec<Matrix> {
    kernels
        .iter()
        .map(|kernel| tiles::block(kernel, inputs, inputs))
        .collect()
}

pub(crate) fn check_kernels(
    kernels: &[BoundKernel],
    data: &Dataset,
    classes: &Classes,
) -> Result<()> {
    if kernels.len() != 1 && kernels.len() != classes.count() {
        return Err(Error::Shape {
            what: "kernels, one for all classes or one for each",
            expected: classes.count(),
            found: kernels.len(),
        });
    }
    if data.rows() != classes.rows() {
        return Err(Error::Shape {
            what: "rows of the classes",
            expected: data.rows(),
            found: classes.rows(),
        });
    }
    Ok(())
}
