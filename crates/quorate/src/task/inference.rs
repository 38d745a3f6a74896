//! How targets come from a latent function: not at all (regressions), or through a likelihood of their own.

use quorate_gp::data::Quantity;
use quorate_gp::likelihood::{Latent, Likelihood};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::latent::Approximation;
use crate::partition::PartChoice;
use crate::spec::{LearnChoice, MethodChoice, ModeChoice, ModelSpec};

/// How classes are inferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceChoice {
    /// The fast version for classes, Laplace's method for everything else that has a likelihood.
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

/// How a target comes from the latent function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikelihoodChoice {
    /// What suits the task.
    #[default]
    Auto,
    /// Gaussian noise.
    Gaussian,
    /// Noise with outliers.
    StudentT,
    /// Two classes through the logistic function.
    Bernoulli,
    /// Two classes through the normal distribution function.
    Probit,
    /// Counts.
    Poisson,
    /// Counts that scatter more.
    NegativeBinomial,
    /// Positive amounts whose deviation grows with the mean.
    Gamma,
    /// Positive amounts with a longer right tail.
    InverseGaussian,
    /// Lifetimes whose hazard grows or falls with age.
    Weibull,
    /// Lifetimes whose hazard is constant.
    Exponential,
    /// A number with noise that depends on the inputs.
    Heteroscedastic,
}

impl LikelihoodChoice {
    /// The likelihood of two classes.
    pub(crate) fn of_classes(self) -> Result<Likelihood> {
        match self {
            LikelihoodChoice::Auto => Ok("bernoulli".parse()?),
            other => Ok(other.to_string().parse()?),
        }
    }

    /// What kind of number it speaks of; none for classes and Gaussian noise.
    pub(crate) fn quantity(self) -> Option<Quantity> {
        use LikelihoodChoice as Choice;
        match self {
            Choice::Poisson | Choice::NegativeBinomial => Some(Quantity::Count),
            Choice::Gamma | Choice::InverseGaussian | Choice::Weibull | Choice::Exponential => {
                Some(Quantity::Positive)
            }
            Choice::StudentT => Some(Quantity::Real),
            Choice::Auto
            | Choice::Gaussian
            | Choice::Bernoulli
            | Choice::Probit
            | Choice::Heteroscedastic => None,
        }
    }

    /// True when it is about classes.
    pub(crate) fn is_of_classes(self) -> bool {
        matches!(self, LikelihoodChoice::Bernoulli | LikelihoodChoice::Probit)
    }

    /// True when a target may be known only to exceed its value.
    pub(crate) fn takes_censoring(self) -> bool {
        matches!(
            self,
            LikelihoodChoice::Weibull | LikelihoodChoice::Exponential
        )
    }
}

/// What turns a latent function into a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Through {
    /// How a target comes from the latent value.
    pub likelihood: Likelihood,
    /// What is added to the latent value everywhere.
    pub level: f64,
}

impl Through {
    /// True when its numbers can be computed with, which those of a damaged file need not.
    pub(crate) fn is_sound(&self) -> bool {
        let dispersions = self.likelihood.parameters();
        let sound = |value: f64| (1e-12..=1e12).contains(&value);
        self.level.is_finite() && dispersions.iter().all(|own| sound(own.value))
    }

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
    if super::choice::quantity(spec)?.is_some() {
        return check_quantity(spec);
    }
    let columns = [
        ("--exposure", spec.exposure.is_some(), "counts and amounts"),
        ("--event", spec.event.is_some(), "lifetimes"),
        ("--censored", spec.censored.is_some(), "lifetimes"),
    ];
    if let Some((flag, _, what)) = columns.into_iter().find(|(_, given, _)| *given) {
        return Err(Error::Spec(format!(
            "`{flag}` is about {what}: leave it out, or choose another `--task`"
        )));
    }
    if spec.inference.approximation().is_none() {
        return match spec.likelihood {
            other if other.is_of_classes() => Err(Error::Spec(format!(
                "`--likelihood {other}` needs `--inference laplace` or `ep`: the fast version has no likelihood of its own"
            ))),
            _ => Ok(()),
        };
    }
    if spec.likelihood == LikelihoodChoice::Heteroscedastic {
        return Err(Error::Spec(
            "`--likelihood heteroscedastic` is for numbers: leave `--inference` out".into(),
        ));
    }
    if spec.likelihood == LikelihoodChoice::Gaussian {
        return Err(Error::Spec(
            "`--likelihood gaussian` is for numbers, and `--inference` is for classes".into(),
        ));
    }
    // One process behind a likelihood has an approximate evidence that can be drawn from.
    if !(drawn_from_one_process(spec) && spec.inference.approximation().is_some()) {
        only_own_learning(spec)?;
    }
    if spec.inference == InferenceChoice::Ep
        && (spec.method == MethodChoice::Committee || spec.mode != ModeChoice::Auto)
    {
        return Err(Error::Spec(
            "`--inference ep` needs `--method exact`: committees go by Laplace's method".into(),
        ));
    }
    only_plain_committees(spec)
}

/// Refuses what does not go with a count, an amount or a lifetime.
fn check_quantity(spec: &ModelSpec) -> Result<()> {
    let contradiction = [
        ("several targets", !spec.further_targets.is_empty()),
        ("`--noise`", spec.noise.is_some()),
        ("`--noise-variance`", spec.noise_variance.is_some()),
    ];
    if let Some((what, _)) = contradiction.into_iter().find(|(_, given)| *given) {
        return Err(Error::Spec(format!(
            "{what} can be had with Gaussian noise only: leave it out, or `--likelihood` and `--task`"
        )));
    }
    if !matches!(
        spec.inference,
        InferenceChoice::Auto | InferenceChoice::Laplace
    ) {
        return Err(Error::Spec(format!(
            "`--inference {}` is for classes: leave it out",
            spec.inference
        )));
    }
    if spec.event.is_some() && spec.censored.is_some() {
        return Err(Error::Spec(
            "`--event` and `--censored` say the same: give one of them".into(),
        ));
    }
    if !drawn_from_one_process(spec) {
        only_own_learning(spec)?;
    }
    only_plain_committees(spec)
}

/// True when hyperparameters are drawn, and nothing asks for a committee.
fn drawn_from_one_process(spec: &ModelSpec) -> bool {
    let draws = matches!(spec.learn, LearnChoice::Nuts | LearnChoice::Hmc);
    draws && spec.method != MethodChoice::Committee && spec.mode == ModeChoice::Auto
}

fn only_own_learning(spec: &ModelSpec) -> Result<()> {
    match spec.learn {
        LearnChoice::Auto | LearnChoice::None => Ok(()),
        other @ (LearnChoice::Nuts | LearnChoice::Hmc) => Err(Error::Spec(format!(
            "`--learn {other}` with a likelihood draws from the approximate evidence of one process over all rows: leave `--mode` and `--method committee` out"
        ))),
        other => Err(Error::Spec(format!(
            "a likelihood learns by its own evidence, or by draws from it (`nuts`, `hmc`): leave `--learn {other}` out"
        ))),
    }
}

/// Committees of rows with a likelihood are local ones without landmarks, or landmarks.
fn only_plain_committees(spec: &ModelSpec) -> Result<()> {
    let refused = match (spec.mode, &spec.parts) {
        (ModeChoice::Joint, _) => "`--mode joint`",
        (ModeChoice::Local, _) if spec.landmark_count().is_some() => {
            "`--mode local` with `--landmarks`"
        }
        (_, Some(PartChoice::Column(_))) => "`--parts column:NAME`",
        _ => return Ok(()),
    };
    Err(Error::Spec(format!(
        "{refused} has Gaussian noise: with a likelihood use `--method exact`, `--mode local` or `--mode landmarks`"
    )))
}
