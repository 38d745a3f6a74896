//! How classes are inferred: as regressions, or through a likelihood of their own.

use quorate_gp::likelihood::{Latent, Likelihood};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::latent::Approximation;
use crate::spec::{LearnChoice, MethodChoice, ModeChoice, ModelSpec};

/// How classes are inferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceChoice {
    /// The fast version.
    #[default]
    Auto,
    /// Regressions on the targets +1 and -1.
    Fast,
    /// Laplace's method: two classes, one process over all rows.
    Laplace,
    /// Expectation propagation: the same.
    Ep,
}

impl InferenceChoice {
    /// The approximation, where classes come through a likelihood.
    pub(crate) fn approximation(self) -> Option<Approximation> {
        match self {
            InferenceChoice::Auto | InferenceChoice::Fast => None,
            InferenceChoice::Laplace => Some(Approximation::Laplace),
            InferenceChoice::Ep => Some(Approximation::Propagation),
        }
    }
}

/// How a class comes from the latent function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikelihoodChoice {
    /// The logistic function.
    #[default]
    Auto,
    /// The logistic function.
    Bernoulli,
    /// The normal distribution function.
    Probit,
}

impl LikelihoodChoice {
    /// The likelihood itself.
    pub(crate) fn likelihood(self) -> Result<Likelihood> {
        Ok(match self {
            LikelihoodChoice::Auto | LikelihoodChoice::Bernoulli => "bernoulli",
            LikelihoodChoice::Probit => "probit",
        }
        .parse()?)
    }
}

/// What turns a latent function into probabilities of two classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Through {
    /// How a class comes from the latent value.
    pub likelihood: Likelihood,
    /// What is added to the latent value everywhere.
    pub level: f64,
}

impl Through {
    /// Probabilities of both classes where the latent function has this mean and variance, averaged over it.
    pub(crate) fn probabilities(&self, mean: f64, variance: f64) -> [f64; 2] {
        let latent = Latent {
            mean: mean + self.level,
            variance,
        };
        let second = self.likelihood.mean(latent).clamp(0.0, 1.0);
        [1.0 - second, second]
    }
}

/// Refuses flags of a likelihood that contradict each other.
pub(crate) fn check_inference(spec: &ModelSpec) -> Result<()> {
    if spec.inference.approximation().is_none() {
        return match spec.likelihood {
            LikelihoodChoice::Auto => Ok(()),
            other => Err(Error::Spec(format!(
                "`--likelihood {other}` needs `--inference laplace` or `ep`: the fast version has no likelihood of its own"
            ))),
        };
    }
    if !matches!(spec.learn, LearnChoice::Auto | LearnChoice::None) {
        return Err(Error::Spec(format!(
            "`--inference {}` learns by its own evidence: leave `--learn {}` out",
            spec.inference, spec.learn
        )));
    }
    if spec.method == MethodChoice::Committee || spec.mode != ModeChoice::Auto {
        return Err(Error::Spec(format!(
            "`--inference {}` needs `--method exact`: committees of classes are fast ones",
            spec.inference
        )));
    }
    Ok(())
}
