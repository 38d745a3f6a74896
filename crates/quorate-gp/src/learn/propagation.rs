//! Evidence by expectation propagation, and its maximum.

use crate::data::Dataset;
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::learn::laplace::learn_with;
use crate::learn::{Evaluation, Objective, Search, SearchRecord, latent_at};
use crate::likelihood::{Likelihood, Observations};
use crate::linalg::Spares;
use crate::posterior::laplace::{check_groups, pull_back_scaled};
use crate::posterior::propagation::{check_choice, find_sites};
use crate::watch::Watch;
use crate::{Error, Result};

/// The approximate log evidence of rows of two classes by expectation propagation.
#[derive(Debug)]
pub struct PropagationEvidence<'a> {
    kernel: &'a BoundKernel,
    likelihood: Likelihood,
    data: &'a Dataset,
    seen: &'a Observations,
    spares: Spares,
}

impl<'a> PropagationEvidence<'a> {
    /// The evidence of the rows under kernels of this shape.
    pub fn new(
        kernel: &'a BoundKernel,
        likelihood: Likelihood,
        data: &'a Dataset,
        seen: &'a Observations,
    ) -> Result<Self> {
        check_choice(&likelihood)?;
        likelihood.check(seen)?;
        check_groups(data, seen)?;
        Ok(Self {
            kernel,
            likelihood,
            data,
            seen,
            spares: Spares::new(data.rows()),
        })
    }
}

impl Objective for PropagationEvidence<'_> {
    /// At a fixed point the sites do not count: the sensitivity to K is `1/2 (b b' - D B^-1 D)` (Rasmussen and Williams
    /// 2006, alg. 5.2).
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, likelihood) = latent_at(self.kernel, self.likelihood, coordinates)?;
        let inputs = self.data.inputs();
        let mut covariance = self.spares.take();
        tiles::fill(&kernel, inputs, inputs, covariance.as_mut());
        let sites = find_sites(covariance.as_ref(), &likelihood, self.seen)?;
        let mut gradient = vec![0.0; kernel.parameters().len()];
        pull_back_scaled(
            &kernel,
            inputs,
            (sites.inverse.as_ref(), &sites.root, &sites.weights),
            None,
            &mut gradient,
        );
        self.spares.give_back(covariance);
        let value = sites.log_evidence;
        if gradient.iter().all(|slope| slope.is_finite()) {
            Ok(Evaluation { value, gradient })
        } else {
            Err(Error::NotFinite {
                what: "the gradient of the evidence",
            })
        }
    }
}

/// Maximises the evidence by expectation propagation (with weak priors) over the kernel.
pub fn learn_propagation(
    kernel: &BoundKernel,
    likelihood: Likelihood,
    data: &Dataset,
    seen: &Observations,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(BoundKernel, Vec<SearchRecord>)> {
    check_choice(&likelihood)?;
    let with_objective =
        &|kernel: &BoundKernel,
          likelihood: Likelihood,
          data: &Dataset,
          seen: &Observations,
          climb: &dyn Fn(&dyn Objective) -> Result<crate::learn::Optimum>| {
            climb(&PropagationEvidence::new(kernel, likelihood, data, seen)?)
        };
    let (kernel, _, records) = learn_with(
        kernel,
        likelihood,
        data,
        seen,
        search,
        watch,
        with_objective,
    )?;
    Ok((kernel, records))
}
