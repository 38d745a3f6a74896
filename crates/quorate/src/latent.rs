//! The belief about a latent function behind two classes, counts, amounts or lifetimes.

use quorate_gp::data::{Classes, Dataset, Inputs, QuantityCode, Schema, Sighting};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::{Latent, Observation, Observations};
use quorate_gp::posterior::{LaplacePosterior, Predict, PropagationPosterior};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::task::Through;

/// Which Gaussian stands for the belief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approximation {
    /// Around the most probable function: Laplace's method.
    Laplace,
    /// With the moments of the true marginals: expectation propagation.
    Propagation,
}

/// Rows with a likelihood, ready to answer about the latent function behind them.
#[derive(Clone, Debug)]
pub enum LatentAnswers {
    /// By Laplace's method.
    Laplace(LaplacePosterior),
    /// By expectation propagation.
    Propagation(PropagationPosterior),
}

impl LatentAnswers {
    /// Conditions a process on rows whose targets are known.
    pub(crate) fn condition(
        how: Approximation,
        kernel: BoundKernel,
        schema: &Schema,
        data: &Dataset,
        through: Through,
    ) -> Result<Self> {
        let seen = observations(schema, data, through)?;
        let (likelihood, data) = (through.likelihood, data.clone());
        Ok(match how {
            Approximation::Laplace => {
                LatentAnswers::Laplace(LaplacePosterior::fit(kernel, likelihood, data, seen, None)?)
            }
            Approximation::Propagation => LatentAnswers::Propagation(PropagationPosterior::fit(
                kernel, likelihood, data, seen,
            )?),
        })
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        match self {
            LatentAnswers::Laplace(posterior) => posterior.kernel(),
            LatentAnswers::Propagation(posterior) => posterior.kernel(),
        }
    }

    /// The rows.
    pub fn data(&self) -> &Dataset {
        match self {
            LatentAnswers::Laplace(posterior) => posterior.data(),
            LatentAnswers::Propagation(posterior) => posterior.data(),
        }
    }

    /// Approximate log evidence.
    pub fn log_evidence(&self) -> f64 {
        match self {
            LatentAnswers::Laplace(posterior) => posterior.log_evidence(),
            LatentAnswers::Propagation(posterior) => posterior.log_evidence(),
        }
    }

    /// Mean and variance of the latent function at each query, without the level.
    pub fn latents(&self, query: Inputs<'_>) -> Result<Vec<Latent>> {
        Ok(match self {
            LatentAnswers::Laplace(posterior) => posterior.latents(query)?,
            LatentAnswers::Propagation(posterior) => posterior.latents(query)?,
        })
    }

    pub(crate) fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        Ok(match self {
            LatentAnswers::Laplace(posterior) => posterior.marginals(query)?,
            LatentAnswers::Propagation(posterior) => posterior.marginals(query)?,
        })
    }

    pub(crate) fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        Ok(match self {
            LatentAnswers::Laplace(posterior) => posterior.joint(query)?,
            LatentAnswers::Propagation(posterior) => posterior.joint(query)?,
        })
    }
}

/// The two classes of a model, or why it cannot be had.
pub(crate) fn two_classes(schema: &Schema) -> Result<&Classes> {
    match schema.target().classes() {
        Some(classes) if classes.count() == 2 => Ok(classes),
        Some(classes) => Err(Error::Spec(format!(
            "a likelihood tells two classes apart, and `{}` has {}: use `--inference fast`",
            schema.roles().target,
            classes.count()
        ))),
        None => Err(Error::Spec(format!(
            "`--inference` is for classes, and `{}` is a number",
            schema.roles().target
        ))),
    }
}

/// The class of a member of the data.
pub(crate) fn class_of(classes: &Classes, schema: &Schema, data: &Dataset, member: usize) -> usize {
    let own: Vec<f64> = data.own_targets(member).collect();
    classes.class_of(&own, schema.target_scales())
}

/// What was seen of each latent value: 1 for the second class, 0 for the first; or a quantity with its exposure.
pub(crate) fn observations(
    schema: &Schema,
    data: &Dataset,
    through: Through,
) -> Result<Observations> {
    let members = data.members().iter().enumerate();
    if schema.target().quantity().is_some() {
        let rows = members.map(|(index, member)| {
            let mut seen = observation(data, index).with_weight(member.weight);
            seen.offset += through.level;
            (member.group, seen)
        });
        return Ok(Observations::grouped(data.rows(), rows)?);
    }
    let classes = two_classes(schema)?;
    let rows = members.map(|(index, member)| {
        let class = class_of(classes, schema, data, index);
        let seen = Observation::of(class as f64)
            .with_offset(through.level)
            .with_weight(member.weight);
        (member.group, seen)
    });
    Ok(Observations::grouped(data.rows(), rows)?)
}

/// What was seen of the quantity of one member: three numbers stand for it, see [`quorate_gp::data::QuantityCode`].
fn observation(data: &Dataset, member: usize) -> Observation {
    let mut own = data.own_targets(member);
    let mut next = || own.next().unwrap_or(0.0);
    let seen = Observation::of(next()).with_offset(next());
    if next() > 0.5 { seen } else { seen.censored() }
}

/// The same in its own units.
pub(crate) fn sighting(code: &QuantityCode, data: &Dataset, member: usize) -> Sighting {
    let seen = observation(data, member);
    Sighting {
        value: code.unit.undo(seen.value),
        exposure: seen.offset.exp(),
        observed: seen.observed,
    }
}
