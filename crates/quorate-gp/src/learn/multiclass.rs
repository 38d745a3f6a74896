//! Approximate evidence of several classes, and its maximum.

use std::sync::OnceLock;

use crate::data::{Dataset, random_rows};
use crate::kernel::{BoundKernel, Covariance};
use crate::learn::starts::{Rows, climb};
use crate::learn::{
    Evaluation, Objective, Plausible, Search, SearchRecord, WithPrior, affordable_restarts,
    latent_priors, maximise, starting_points,
};
use crate::likelihood::Classes;
use crate::parameters::Parameter;
use crate::posterior::multiclass::{
    check_kernels, coupled_gradient, covariances, find_coupled_mode,
};
use crate::watch::Watch;
use crate::{Error, Result};

/// The approximate log evidence of rows of several classes under coupled Laplace (Williams and Barber 1998, App. C).
///
/// Coordinates are those of the kernels, one after the other.
#[derive(Debug)]
pub struct MulticlassEvidence<'a> {
    kernels: &'a [BoundKernel],
    data: &'a Dataset,
    classes: &'a Classes,
    /// Weights of the mode at the values that the kernels came with, from which every search sets out.
    anchor: OnceLock<Option<Vec<Vec<f64>>>>,
}

impl<'a> MulticlassEvidence<'a> {
    /// The evidence of the rows under kernels of these shapes: one for all classes, or one for each.
    pub fn new(
        kernels: &'a [BoundKernel],
        data: &'a Dataset,
        classes: &'a Classes,
    ) -> Result<Self> {
        check_kernels(kernels, data, classes)?;
        Ok(Self {
            kernels,
            data,
            classes,
            anchor: OnceLock::new(),
        })
    }
}

impl Objective for MulticlassEvidence<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let inputs = self.data.inputs();
        let anchor = self.anchor.get_or_init(|| {
            let mode = find_coupled_mode(&covariances(self.kernels, inputs), self.classes, None);
            mode.ok().map(|mode| mode.weights)
        });
        let kernels = kernels_at(self.kernels, coordinates)?;
        let covariances = covariances(&kernels, inputs);
        let mode = find_coupled_mode(&covariances, self.classes, anchor.as_ref())?;
        let gradients = coupled_gradient(&kernels, inputs, &covariances, self.classes, &mode);
        let gradient = gradients.concat();
        let value = mode.log_evidence;
        if value.is_finite() && gradient.iter().all(|slope| slope.is_finite()) {
            Ok(Evaluation { value, gradient })
        } else {
            Err(Error::NotFinite {
                what: "the approximate log evidence or its gradient",
            })
        }
    }
}

/// The kernels at a point of the search.
fn kernels_at(kernels: &[BoundKernel], coordinates: &[f64]) -> Result<Vec<BoundKernel>> {
    let mut left = coordinates;
    let mut moved = Vec::with_capacity(kernels.len());
    for kernel in kernels {
        let mut kernel = kernel.clone();
        let own = kernel.parameters().len();
        let (taken, rest) = left.split_at_checked(own).ok_or(Error::Shape {
            what: "coordinates of the kernels",
            expected: own,
            found: left.len(),
        })?;
        kernel.set_coordinates(taken)?;
        left = rest;
        moved.push(kernel);
    }
    Ok(moved)
}

/// Maximises the approximate evidence (with weak priors) over one kernel for all classes, or one for each.
pub fn learn_classes(
    kernels: &[BoundKernel],
    data: &Dataset,
    classes: &Classes,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(Vec<BoundKernel>, Vec<SearchRecord>)> {
    check_kernels(kernels, data, classes)?;
    let parameters: Vec<Parameter> = kernels.iter().flat_map(BoundKernel::parameters).collect();
    let restarts = search
        .restarts
        .unwrap_or_else(|| affordable_restarts(4 * classes.count() * data.rows()));
    let starts = starting_points(&parameters, restarts, search.seed);
    let trial = (data.rows() > search.trial_rows).then(|| {
        let rows = random_rows(data.rows(), search.trial_rows, search.seed);
        (data.select(&rows), classes.select(&rows))
    });
    let priors = latent_priors(search.hyperprior, &parameters);
    let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
    let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
    let (winner, records) = climb(
        &starts,
        search.limits,
        1,
        trial.is_some(),
        watch,
        &|which, start, limits| {
            let (data, classes) = match (&trial, which) {
                (Some((data, classes)), Rows::Trial) => (data, classes),
                _ => (data, classes),
            };
            let kernels = kernels_at(kernels, start)?;
            let evidence = MulticlassEvidence::new(&kernels, data, classes)?;
            let objective = WithPrior {
                objective: &evidence,
                priors: &priors,
            };
            let found = maximise(&objective, start, &bounds, &free, limits, watch)?;
            Ok((data.rows(), found))
        },
    )?;
    Ok((kernels_at(kernels, &winner.coordinates)?, records))
}
