//! Lifetimes with right censoring: Weibull, and exponential when its shape is 1.

use serde::{Deserialize, Serialize};

use super::Observation;
use super::count::{exponential_moment, exponential_variance};
use super::density::{Density, Derivatives, Dispersion, Latent, MOST_DISPERSIONS, Support};
use super::positive::above_zero;
use super::special::ln_gamma;
use crate::parameters::{Parameter, Role};

/// Weibull on the scale `e^f`: survival `exp(-(y / e^f)^shape)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weibull {
    /// c: above 1 the hazard grows with age, below 1 it falls.
    pub shape: f64,
    /// True when learning leaves the shape alone.
    #[serde(default)]
    pub fixed: bool,
}

impl Weibull {
    /// The exponential distribution: shape 1, and it stays so.
    pub fn exponential() -> Self {
        Self {
            shape: 1.0,
            fixed: true,
        }
    }
}

impl Density for Weibull {
    /// With `u = log y - f`, `z = e^(c u)` and d = 1 for an event, 0 for a censored row:
    /// `log p = d (log c - log y + c u) - z`, `g = c (z - d)`, `W = c^2 z`, `dW/df = -c^3 z`.
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let c = self.shape;
        let u = seen.value.ln() - latent;
        let z = (c * u).exp();
        let event = f64::from(seen.observed);
        let log = event * (c.ln() - seen.value.ln() + c * u) - z;
        Derivatives::concave(log, c * (z - event), c * c * z, -c * c * c * z)
    }

    fn dispersions(&self, seen: &Observation, latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        let c = self.shape;
        let u = seen.value.ln() - latent;
        let z = (c * u).exp();
        let event = f64::from(seen.observed);
        let own = Dispersion {
            log_density: event + c * u * (event - z),
            slope: c * (z - event) + c * c * u * z,
            curvature: c * c * z * (2.0 + c * u),
        };
        [own, Dispersion::default()]
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut shape = Parameter::positive("weibull.shape", Role::Hazard, self.shape);
        shape.fixed = self.fixed;
        vec![shape]
    }

    fn set_values(&mut self, values: &[f64]) {
        self.shape = values[0];
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        above_zero(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        let z = (self.shape * (value.ln() - latent)).exp();
        -(-z).exp_m1()
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let first = ln_gamma(1.0 + 1.0 / self.shape).exp();
        let second = ln_gamma(1.0 + 2.0 / self.shape).exp();
        let scatter = (second - first * first).max(0.0);
        (
            first * exponential_moment(latent, 1.0),
            scatter * exponential_moment(latent, 2.0)
                + first * first * exponential_variance(latent),
        )
    }

    fn resolution(&self, _value: f64) -> f64 {
        (1.0 / self.shape).min(1.0)
    }

    fn support(&self) -> Support {
        Support::Positive
    }
}
