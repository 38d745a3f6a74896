//! The likelihoods as one value: chosen by name, saved in files, moved by learning.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bernoulli::{Hinge, Logit, Probit};
use super::count::{NegativeBinomial, Poisson};
use super::density::{Density, Derivatives, Dispersion, Support};
use super::lifetime::Weibull;
use super::positive::{Gamma, InverseGaussian};
use super::real::{Normal, StudentT};
use super::{Observation, Observations};
use crate::parameters::Parameter;
use crate::{Error, Result};

/// How a target comes from the latent value at its inputs.
///
/// ```
/// use quorate_gp::likelihood::{Likelihood, Observation};
///
/// let poisson: Likelihood = "poisson".parse()?;
/// let at = poisson.derivatives(&Observation::of(3.0), 1.0);
/// assert!((at.slope - (3.0 - 1.0_f64.exp())).abs() < 1e-15);
/// # Ok::<(), quorate_gp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Likelihood {
    /// Real targets with Gaussian noise.
    Gaussian(Normal),
    /// Two classes through the logistic function.
    Bernoulli(Logit),
    /// Two classes through the normal distribution function.
    Probit(Probit),
    /// The cost of the support vector machine, smoothed.
    Hinge(Hinge),
    /// Counts.
    Poisson(Poisson),
    /// Counts that scatter more than Poisson's.
    NegativeBinomial(NegativeBinomial),
    /// Positive targets whose deviation grows with the mean.
    Gamma(Gamma),
    /// Positive targets with a longer right tail.
    InverseGaussian(InverseGaussian),
    /// Lifetimes, right-censored or not; exponential with a fixed shape of 1.
    Weibull(Weibull),
    /// Real targets with outliers.
    StudentT(StudentT),
}

/// The names that [`Likelihood`] reads.
pub const NAMES: [&str; 11] = [
    "gaussian",
    "bernoulli",
    "probit",
    "hinge",
    "poisson",
    "negative-binomial",
    "gamma",
    "inverse-gaussian",
    "weibull",
    "exponential",
    "student-t",
];

impl Likelihood {
    pub(super) fn density(&self) -> &dyn Density {
        match self {
            Likelihood::Gaussian(own) => own,
            Likelihood::Bernoulli(own) => own,
            Likelihood::Probit(own) => own,
            Likelihood::Hinge(own) => own,
            Likelihood::Poisson(own) => own,
            Likelihood::NegativeBinomial(own) => own,
            Likelihood::Gamma(own) => own,
            Likelihood::InverseGaussian(own) => own,
            Likelihood::Weibull(own) => own,
            Likelihood::StudentT(own) => own,
        }
    }

    fn density_mut(&mut self) -> &mut dyn Density {
        match self {
            Likelihood::Gaussian(own) => own,
            Likelihood::Bernoulli(own) => own,
            Likelihood::Probit(own) => own,
            Likelihood::Hinge(own) => own,
            Likelihood::Poisson(own) => own,
            Likelihood::NegativeBinomial(own) => own,
            Likelihood::Gamma(own) => own,
            Likelihood::InverseGaussian(own) => own,
            Likelihood::Weibull(own) => own,
            Likelihood::StudentT(own) => own,
        }
    }

    /// The name it is read by.
    pub fn name(&self) -> &'static str {
        match self {
            Likelihood::Gaussian(_) => "gaussian",
            Likelihood::Bernoulli(_) => "bernoulli",
            Likelihood::Probit(_) => "probit",
            Likelihood::Hinge(_) => "hinge",
            Likelihood::Poisson(_) => "poisson",
            Likelihood::NegativeBinomial(_) => "negative-binomial",
            Likelihood::Gamma(_) => "gamma",
            Likelihood::InverseGaussian(_) => "inverse-gaussian",
            Likelihood::Weibull(weibull) if weibull.fixed && weibull.shape == 1.0 => "exponential",
            Likelihood::Weibull(_) => "weibull",
            Likelihood::StudentT(_) => "student-t",
        }
    }

    /// What kind of number a target is.
    pub fn support(&self) -> Support {
        self.density().support()
    }

    /// True when rows may be right-censored.
    pub fn takes_censoring(&self) -> bool {
        matches!(self, Likelihood::Weibull(_))
    }

    /// The dispersion parameters, in the order of every gradient.
    pub fn parameters(&self) -> Vec<Parameter> {
        self.density().parameters()
    }

    /// Moves every dispersion parameter to the given coordinates (logarithms).
    pub fn set_coordinates(&mut self, coordinates: &[f64]) -> Result<()> {
        let parameters = self.parameters();
        if parameters.len() != coordinates.len() {
            return Err(Error::Shape {
                what: "coordinates of the likelihood",
                expected: parameters.len(),
                found: coordinates.len(),
            });
        }
        let values: Vec<f64> = parameters
            .iter()
            .zip(coordinates)
            .map(|(parameter, &coordinate)| {
                if parameter.fixed {
                    parameter.value
                } else {
                    parameter.transform.value(coordinate)
                }
            })
            .collect();
        if values.iter().all(|v| (1e-12..=1e12).contains(v)) {
            self.density_mut().set_values(&values);
            Ok(())
        } else {
            Err(Error::NotFinite {
                what: "a dispersion parameter",
            })
        }
    }

    /// Log density of one copy of a row and its derivatives at a latent value (to which the row's offset is added).
    pub fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        self.density().derivatives(seen, latent + seen.offset)
    }

    /// Sums of the derivatives of everything that was seen of each latent value, weights included.
    pub fn derivatives_of(&self, seen: &Observations, latent: &[f64]) -> Vec<Derivatives> {
        let density = self.density();
        let sum = |(group, &f): (usize, &f64)| {
            let mut total = Derivatives::default();
            for row in seen.of_group(group) {
                total.add(row.weight, &density.derivatives(row, f + row.offset));
            }
            total
        };
        latent.iter().enumerate().map(sum).collect()
    }

    /// The derivatives with respect to dispersion parameter `which`, summed in the same way.
    pub fn dispersions_of(
        &self,
        seen: &Observations,
        latent: &[f64],
        which: usize,
    ) -> Vec<Dispersion> {
        let density = self.density();
        let sum = |(group, &f): (usize, &f64)| {
            let mut total = Dispersion::default();
            for row in seen.of_group(group) {
                let all = density.dispersions(row, f + row.offset);
                total.add(row.weight, &all[which]);
            }
            total
        };
        latent.iter().enumerate().map(sum).collect()
    }

    /// What is wrong with a target, in words that follow "the target"; none when it can be used.
    pub fn complaint(&self, value: f64, observed: bool) -> Option<&'static str> {
        if !value.is_finite() {
            Some("must be finite")
        } else if !observed && !self.takes_censoring() {
            Some("is censored, which only lifetimes (weibull, exponential) can be")
        } else {
            self.density().complaint(value)
        }
    }

    /// An error naming the first row that this likelihood cannot have produced.
    pub fn check(&self, seen: &Observations) -> Result<()> {
        for (place, row) in seen.rows().iter().enumerate() {
            if let Some(complaint) = self.complaint(row.value, row.observed) {
                return Err(Error::Invalid(format!(
                    "likelihood {}: the target of row {} is {} but {complaint}",
                    self.name(),
                    place + 1,
                    row.value
                )));
            }
        }
        Ok(())
    }
}

impl FromStr for Likelihood {
    type Err = Error;

    /// A likelihood by its name, with dispersions of middling size.
    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "gaussian" => Likelihood::Gaussian(Normal { variance: 0.1 }),
            "bernoulli" | "logit" => Likelihood::Bernoulli(Logit {}),
            "probit" => Likelihood::Probit(Probit {}),
            "hinge" => Likelihood::Hinge(Hinge { sharpness: 10.0 }),
            "poisson" => Likelihood::Poisson(Poisson {}),
            "negative-binomial" => Likelihood::NegativeBinomial(NegativeBinomial { size: 2.0 }),
            "gamma" => Likelihood::Gamma(Gamma { shape: 2.0 }),
            "inverse-gaussian" => Likelihood::InverseGaussian(InverseGaussian { shape: 2.0 }),
            "weibull" => Likelihood::Weibull(Weibull {
                shape: 1.0,
                fixed: false,
            }),
            "exponential" => Likelihood::Weibull(Weibull::exponential()),
            "student-t" => Likelihood::StudentT(StudentT {
                degrees: 4.0,
                scale: 0.3,
            }),
            other => {
                return Err(Error::Invalid(format!(
                    "unknown likelihood `{other}`; known are {}",
                    NAMES.join(", ")
                )));
            }
        })
    }
}

impl fmt::Display for Likelihood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
