//! Expectation propagation: the Gaussian whose marginals keep the moments of the true ones, one likelihood at a time.
//!
//! Laplace's method looks at the peak of the posterior only, and is too timid where the latent function is large.
//!
//! ```
//! use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
//! use quorate_gp::kernel::Kernel;
//! use quorate_gp::likelihood::{Extras, Likelihood, Observations};
//! use quorate_gp::posterior::{LaplacePosterior, PropagationPosterior};
//!
//! let x = vec![-2.0, -1.5, -1.0, 1.0, 1.5, 2.0];
//! let data = Dataset::new(x, 1, vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0], None, None)?;
//! let seen = Observations::of(&data, Extras::default())?;
//! let column = InputColumn { name: "x".into(), kind: ColumnKind::Number, deviation: 1.0 };
//! let kernel = "9 * se(length_scale=1.5)".parse::<Kernel>()?.bind(&[column])?;
//! let likelihood: Likelihood = "probit".parse()?;
//! let query = [1.2];
//! let query = Inputs::new(&query, 1, 1)?;
//! let ep = PropagationPosterior::fit(kernel.clone(), likelihood, data.clone(), seen.clone())?;
//! let laplace = LaplacePosterior::fit(kernel, likelihood, data, seen, None)?;
//! let probability = |belief| likelihood.mean(belief);
//! assert!(probability(ep.latents(query)?[0]) > probability(laplace.latents(query)?[0]));
//! # Ok::<(), quorate_gp::Error>(())
//! ```

mod mixing;
mod sites;

use sites::Sites;
pub(crate) use sites::find_sites;

use super::Predict;
use super::laplace::check_groups;
use super::latent::{self, Asked};
use crate::data::{Dataset, Inputs};
use crate::gaussian::{Joint, Marginals};
use crate::kernel::{BoundKernel, tiles};
use crate::likelihood::{Latent, Likelihood, Observations};
use crate::{Error, Result};

/// A Gaussian process conditioned on rows of two classes through expectation propagation.
#[derive(Clone, Debug)]
pub struct PropagationPosterior {
    kernel: BoundKernel,
    likelihood: Likelihood,
    data: Dataset,
    seen: Observations,
    sites: Sites,
}

impl PropagationPosterior {
    /// Finds the sites.
    pub fn fit(
        kernel: BoundKernel,
        likelihood: Likelihood,
        data: Dataset,
        seen: Observations,
    ) -> Result<Self> {
        check_choice(&likelihood)?;
        likelihood.check(&seen)?;
        check_groups(&data, &seen)?;
        let covariance = tiles::block(&kernel, data.inputs(), data.inputs());
        let sites = find_sites(covariance.as_ref(), &likelihood, &seen)?;
        Ok(Self {
            kernel,
            likelihood,
            data,
            seen,
            sites,
        })
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        &self.kernel
    }

    /// The likelihood.
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

    /// Mean and variance of the latent value of each row.
    pub fn fitted(&self) -> &[Latent] {
        &self.sites.marginals
    }

    /// Sweeps over the sites that were needed.
    pub fn sweeps(&self) -> usize {
        self.sites.sweeps
    }

    /// Approximate log evidence.
    pub fn log_evidence(&self) -> f64 {
        self.sites.log_evidence
    }

    /// Mean and variance of the latent function at each query; add the row's offset to the mean before asking the likelihood.
    pub fn latents(&self, query: Inputs<'_>) -> Result<Vec<Latent>> {
        self.asked().latents(query)
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            kernel: &self.kernel,
            inputs: self.data.inputs(),
            weights: &self.sites.weights,
            root: &self.sites.root,
            factor: &self.sites.factor,
        }
    }
}

impl Predict for PropagationPosterior {
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

/// Expectation propagation is offered for two classes.
pub(crate) fn check_choice(likelihood: &Likelihood) -> Result<()> {
    match likelihood {
        Likelihood::Bernoulli(_) | Likelihood::Probit(_) => Ok(()),
        other => Err(Error::Invalid(format!(
            "expectation propagation is offered for bernoulli and probit, not for {other}; use Laplace's method"
        ))),
    }
}
