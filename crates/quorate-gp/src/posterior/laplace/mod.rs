//! Laplace's method: a Gaussian around the most probable latent function, for any likelihood.
//!
//! Fit, learn and predict, from rows to probabilities:
//!
//! ```
//! use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
//! use quorate_gp::kernel::Kernel;
//! use quorate_gp::learn::{Search, learn_latent};
//! use quorate_gp::likelihood::{Extras, Likelihood, Observations};
//! use quorate_gp::posterior::LaplacePosterior;
//! use quorate_gp::watch::Unwatched;
//!
//! // Counts at five places, each watched for its own time.
//! let x = vec![-2.0, -1.0, 0.0, 1.0, 2.0];
//! let data = Dataset::new(x, 1, vec![0.0, 1.0, 2.0, 7.0, 9.0], None, None)?;
//! let exposure = [1.0, 2.0, 1.0, 2.0, 1.0_f64].map(f64::ln);
//! let mut extras = Extras { offset: Some(&exposure), ..Extras::default() };
//!
//! // The process describes departures from a common level, which joins the offsets.
//! let likelihood: Likelihood = "poisson".parse()?;
//! let level = likelihood.level(&Observations::of(&data, extras)?)?;
//! let offsets = exposure.map(|own| own + level);
//! extras.offset = Some(&offsets);
//! let seen = Observations::of(&data, extras)?;
//!
//! let column = InputColumn { name: "x".into(), kind: ColumnKind::Number, deviation: 1.4 };
//! let kernel = "se".parse::<Kernel>()?.bind(&[column])?;
//! let (kernel, likelihood, _records) =
//!     learn_latent(&kernel, likelihood, &data, &seen, &Search::default(), &Unwatched)?;
//! let posterior = LaplacePosterior::fit(kernel, likelihood, data, seen, None)?;
//!
//! // A prediction for an exposure of 1: the latent belief, its offset added, through the likelihood.
//! let query = [1.5];
//! let mut belief = posterior.latents(Inputs::new(&query, 1, 1)?)?[0];
//! belief.mean += level;
//! let (mean, upper) = (likelihood.mean(belief), likelihood.quantile(belief, 0.95));
//! assert!(mean > 3.0 && mean < 12.0 && upper > mean);
//! # Ok::<(), quorate_gp::Error>(())
//! ```

mod damping;
mod gradient;
mod leave_one_out;
mod mode;
mod peaks;
mod working;

pub(crate) use gradient::{Sensitivity, pull_back_scaled};
pub(crate) use mode::{Mode, NEARLY_SETTLED, SETTLED, factor_scaled, find_mode, scaled_solve};
pub use working::{Condensed, Working};

use super::Predict;
use super::latent::{self, Asked};
use crate::data::{Dataset, Inputs};
use crate::gaussian::{Joint, Marginals};
use crate::kernel::{BoundKernel, tiles};
use crate::likelihood::{Latent, Likelihood, Observations};
use crate::linalg::Matrix;
use crate::{Error, Result};

/// A Gaussian process conditioned on rows through Laplace's method.
#[derive(Clone, Debug)]
pub struct LaplacePosterior {
    kernel: BoundKernel,
    likelihood: Likelihood,
    data: Dataset,
    seen: Observations,
    mode: Mode,
}

impl LaplacePosterior {
    /// Finds the mode and keeps the Gaussian around it.
    ///
    /// `start` are the [`LaplacePosterior::weights`] of an earlier fit of the same rows, from which the search sets out.
    pub fn fit(
        kernel: BoundKernel,
        likelihood: Likelihood,
        data: Dataset,
        seen: Observations,
        start: Option<&[f64]>,
    ) -> Result<Self> {
        likelihood.check(&seen)?;
        check_groups(&data, &seen)?;
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let memory = Matrix::zeros(data.rows(), data.rows());
        let mode = find_mode(
            covariance.as_ref(),
            &likelihood,
            &seen,
            start,
            memory,
            SETTLED,
        )?;
        Ok(Self {
            kernel,
            likelihood,
            data,
            seen,
            mode,
        })
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        &self.kernel
    }

    /// The likelihood with its dispersions.
    pub fn likelihood(&self) -> &Likelihood {
        &self.likelihood
    }

    /// The rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// What was seen of each latent value.
    pub fn seen(&self) -> &Observations {
        &self.seen
    }

    /// The most probable latent values.
    pub fn mode(&self) -> &[f64] {
        &self.mode.latent
    }

    /// `K^-1 f` at the mode: with them the mean at any query is one inner product.
    pub fn weights(&self) -> &[f64] {
        &self.mode.weights
    }

    /// Newton steps that were needed.
    pub fn steps(&self) -> usize {
        self.mode.steps
    }

    /// Approximate log evidence.
    pub fn log_evidence(&self) -> f64 {
        self.mode.log_evidence()
    }

    /// Working targets and noise at the mode, with which the rows join a committee.
    pub fn working(&self) -> Working {
        Working::new(&self.mode.latent, &self.mode.terms)
    }

    /// `trace(K (K + W^-1)^-1)`: how many parameters the rows pin down.
    pub fn effective_parameters(&self) -> f64 {
        let rows: Vec<usize> = (0..self.data.rows()).collect();
        let kept: f64 = self.mode.factor.inverse_diagonal(&rows).iter().sum();
        rows.len() as f64 - kept
    }

    /// Mean and variance of the latent function at each query; add the row's offset to the mean before asking the likelihood.
    pub fn latents(&self, query: Inputs<'_>) -> Result<Vec<Latent>> {
        self.asked().latents(query)
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            kernel: &self.kernel,
            inputs: self.data.inputs(),
            weights: &self.mode.weights,
            root: &self.mode.root,
            factor: &self.mode.factor,
        }
    }
}

impl Predict for LaplacePosterior {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        latent::prior(&self.kernel, query)
    }

    fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        self.asked().marginals(query)
    }

    fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        self.asked().joint(query)
    }
}

pub(crate) fn check_groups(data: &Dataset, seen: &Observations) -> Result<()> {
    if data.rows() == seen.groups() {
        Ok(())
    } else {
        Err(Error::Shape {
            what: "groups of the observations",
            expected: data.rows(),
            found: seen.groups(),
        })
    }
}
