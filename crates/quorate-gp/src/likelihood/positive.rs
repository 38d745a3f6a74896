//! Positive quantities with mean `mu = e^f`: Gamma and inverse Gaussian.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

use super::Observation;
use super::count::{exponential_moment, exponential_variance};
use super::density::{Density, Derivatives, Dispersion, Latent, MOST_DISPERSIONS, Support};
use super::special::{
    digamma, gamma_lower, ln_gamma, log_normal_density, normal_distribution, normal_tail,
};
use crate::parameters::{Parameter, Role};

/// Gamma: variance `mu^2 / shape`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gamma {
    /// a.
    pub shape: f64,
}

/// Inverse Gaussian: variance `mu^3 / shape`.
///
/// Its curvature `lambda (2 y - mu) / mu^2` is negative for targets below half their mean, so its expectation
/// `lambda / mu` takes its place: Fisher scoring, with an evidence that stays smooth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InverseGaussian {
    /// lambda, in units of the target.
    pub shape: f64,
}

pub(super) fn above_zero(value: f64) -> Option<&'static str> {
    (value <= 0.0).then_some("must be above 0")
}

impl Density for Gamma {
    /// With `u = log y - f` and `z = e^u`: `log p = a (log a - 1) - log Gamma(a) - log y - a (z - 1 - u)`. What depends on f
    /// stands alone: in a sum of terms as large as `a log a` its digits would be lost where the shape is large.
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let (y, a) = (seen.value, self.shape);
        let u = y.ln() - latent;
        let (z, excess) = (u.exp(), u.exp_m1());
        let log = a * (a.ln() - 1.0) - ln_gamma(a) - y.ln() - a * (excess - u);
        Derivatives::concave(log, a * excess, a * z, -a * z)
    }

    fn dispersions(&self, seen: &Observation, latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        let a = self.shape;
        let u = seen.value.ln() - latent;
        let excess = u.exp_m1();
        let own = Dispersion {
            log_density: a * (a.ln() - digamma(a) - (excess - u)),
            slope: a * excess,
            curvature: a * u.exp(),
        };
        [own, Dispersion::default()]
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::positive("gamma.shape", Role::Shape, self.shape)]
    }

    fn set_values(&mut self, values: &[f64]) {
        self.shape = values[0];
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        above_zero(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        gamma_lower(self.shape, self.shape * value * (-latent).exp())
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let mean = exponential_moment(latent, 1.0);
        let square = exponential_moment(latent, 2.0);
        (mean, square / self.shape + exponential_variance(latent))
    }

    fn resolution(&self, _value: f64) -> f64 {
        (1.0 / self.shape).sqrt().min(1.0)
    }

    fn support(&self) -> Support {
        Support::Positive
    }
}

impl Density for InverseGaussian {
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let (y, lambda) = (seen.value, self.shape);
        let inverse = (-latent).exp();
        let misfit = y * inverse - 1.0;
        let log = 0.5 * (lambda / (2.0 * PI * y.powi(3))).ln() - 0.5 * lambda * misfit * misfit / y;
        let curvature = lambda * inverse;
        Derivatives {
            log_density: log,
            slope: curvature * misfit,
            curvature,
            curvature_slope: -curvature,
            observed_curvature: curvature * (2.0 * y * inverse - 1.0),
        }
    }

    fn dispersions(&self, seen: &Observation, latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        let (y, lambda) = (seen.value, self.shape);
        let inverse = (-latent).exp();
        let misfit = y * inverse - 1.0;
        let own = Dispersion {
            log_density: 0.5 - 0.5 * lambda * misfit * misfit / y,
            slope: lambda * inverse * misfit,
            curvature: lambda * inverse,
        };
        [own, Dispersion::default()]
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::positive(
            "inverse-gaussian.shape",
            Role::Shape,
            self.shape,
        )]
    }

    fn set_values(&mut self, values: &[f64]) {
        self.shape = values[0];
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        above_zero(value)
    }

    /// `Phi(r (y/mu - 1)) + e^(2 lambda/mu) Phi(-r (y/mu + 1))` with `r = sqrt(lambda / y)` (Shuster 1968); the second
    /// term through logarithms, because the exponential overflows where Phi underflows.
    fn distribution(&self, value: f64, latent: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        let root = (self.shape / value).sqrt();
        let ratio = value * (-latent).exp();
        if !ratio.is_finite() {
            return 1.0;
        }
        let below = -root * (ratio + 1.0);
        // 2 lambda/mu + log phi(below) = log phi(root (ratio - 1)), so nothing large is ever subtracted.
        let (_, q, _) = normal_tail(below);
        let second = log_normal_density(root * (ratio - 1.0)) - q.ln();
        (normal_distribution(root * (ratio - 1.0)) + second.exp()).min(1.0)
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let mean = exponential_moment(latent, 1.0);
        let cube = exponential_moment(latent, 3.0);
        (mean, cube / self.shape + exponential_variance(latent))
    }

    fn resolution(&self, value: f64) -> f64 {
        (value / self.shape).sqrt().clamp(0.02, 0.5)
    }

    fn support(&self) -> Support {
        Support::Positive
    }
}
