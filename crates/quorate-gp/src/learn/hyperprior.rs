//! Which beliefs about the hyperparameters there are before any row.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Plausible, Quadratic};
use crate::Error;
use crate::parameters::{Parameter, Role};

/// A prior over the coordinates of all hyperparameters, independent for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Hyperprior {
    /// Flat over every plausible value ([`Plausible`]): the evidence decides alone.
    #[default]
    Weak,
    /// The same, but that a function which changes within a fraction of a deviation, and targets without noise, must be shown by more than a
    /// few rows: of thirty, evidence alone explains noise without any.
    Doubtful,
    /// Williams and Barber 1998, sec. 5: mean -3 and standard deviation 3 for the logarithm of each variance and of each
    /// inverse squared length scale `w`. A length scale is `w^-1/2`, so its logarithm has mean 1.5 and deviation 1.5.
    Broad,
    /// The same normal distribution for every coordinate (Latouche 2007, sec. 4.1.1, with mean 0).
    Normal {
        /// Mean of each coordinate.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
}

impl Hyperprior {
    /// The prior of one parameter's coordinate. A normal distribution is a plausible range of no width.
    pub fn of(&self, parameter: &Parameter) -> Plausible {
        let normal = |mean: f64, deviation: f64| Plausible::new(mean, mean, deviation);
        match (self, parameter.role) {
            (Hyperprior::Doubtful, Role::LengthScale) => {
                Plausible::new(f64::ln(0.3), f64::ln(1e4), 1.0)
            }
            // Steep enough to outweigh luck, and no steeper: some 20 rows of a map without noise tell that it has none.
            (Hyperprior::Doubtful, Role::Noise) => Plausible {
                steepest: 1.5,
                ..Plausible::new(f64::ln(0.01), f64::ln(1e2), 1.0)
            },
            (Hyperprior::Weak | Hyperprior::Doubtful, _) | (Hyperprior::Broad, Role::Embedding) => {
                Plausible::of(parameter)
            }
            (Hyperprior::Broad, Role::LengthScale | Role::Period) => normal(1.5, 1.5),
            (Hyperprior::Broad, _) => normal(-3.0, 3.0),
            (Hyperprior::Normal { mean, deviation }, _) => normal(*mean, *deviation),
        }
    }

    /// The prior of every parameter.
    pub fn all(&self, parameters: &[Parameter]) -> Vec<Plausible> {
        parameters
            .iter()
            .map(|parameter| self.of(parameter))
            .collect()
    }

    /// The log density of all free parameters as a quadratic; none for a prior that is not normal.
    pub fn quadratic(&self, parameters: &[Parameter]) -> Option<Quadratic> {
        if matches!(self, Hyperprior::Weak | Hyperprior::Doubtful) {
            return None;
        }
        let mut sum = Quadratic::none(parameters.len());
        for (i, parameter) in parameters.iter().enumerate().filter(|(_, p)| !p.fixed) {
            let prior = self.of(parameter);
            let precision = 1.0 / (prior.deviation * prior.deviation);
            sum.precision[i * parameters.len() + i] = precision;
            sum.vector[i] = precision * prior.low;
        }
        Some(sum)
    }
}

impl fmt::Display for Hyperprior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hyperprior::Weak => f.write_str("weak"),
            Hyperprior::Doubtful => f.write_str("doubtful"),
            Hyperprior::Broad => f.write_str("broad"),
            Hyperprior::Normal { mean, deviation } => write!(f, "normal:{mean},{deviation}"),
        }
    }
}

impl FromStr for Hyperprior {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "weak" => return Ok(Hyperprior::Weak),
            "doubtful" => return Ok(Hyperprior::Doubtful),
            "broad" => return Ok(Hyperprior::Broad),
            _ => {}
        }
        let numbers = text.strip_prefix("normal:").and_then(|rest| {
            let (mean, deviation) = rest.split_once(',')?;
            Some((mean.trim().parse().ok()?, deviation.trim().parse().ok()?))
        });
        match numbers {
            Some((mean, deviation))
                if f64::is_finite(mean) && f64::is_finite(deviation) && deviation > 0.0 =>
            {
                Ok(Hyperprior::Normal { mean, deviation })
            }
            _ => Err(Error::Invalid(format!(
                "unknown hyperprior `{text}`: choose weak, doubtful, broad, or normal:MEAN,DEVIATION like normal:0,2"
            ))),
        }
    }
}

impl TryFrom<String> for Hyperprior {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Hyperprior> for String {
    fn from(prior: Hyperprior) -> String {
        prior.to_string()
    }
}
