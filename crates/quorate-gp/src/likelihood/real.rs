//! Targets of either sign around the latent value: Gaussian, and Student-t for data with outliers.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

use super::Observation;
use super::density::{Density, Derivatives, Dispersion, Latent, MOST_DISPERSIONS, Support};
use super::special::{beta_reg, digamma, ln_gamma, log_normal_density, normal_distribution};
use crate::parameters::{Parameter, Role};

/// Gaussian noise; Laplace's method is exact for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normal {
    /// Variance of the noise.
    pub variance: f64,
}

/// Student-t noise.
///
/// Its log density is not concave, so the expected curvature `(nu + 1) / ((nu + 3) s^2)` takes the curvature's place:
/// Fisher scoring, with an evidence that stays smooth (Hartmann and Vanhatalo 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudentT {
    /// nu: the smaller, the heavier the tails.
    pub degrees: f64,
    /// s.
    pub scale: f64,
}

impl Density for Normal {
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let deviation = self.variance.sqrt();
        let z = (seen.value - latent) / deviation;
        Derivatives::concave(
            log_normal_density(z) - deviation.ln(),
            z / deviation,
            1.0 / self.variance,
            0.0,
        )
    }

    fn dispersions(&self, seen: &Observation, latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        let r = seen.value - latent;
        let own = Dispersion {
            log_density: 0.5 * r * r / self.variance - 0.5,
            slope: -r / self.variance,
            curvature: -1.0 / self.variance,
        };
        [own, Dispersion::default()]
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::positive(
            "noise.variance",
            Role::Noise,
            self.variance,
        )]
    }

    fn set_values(&mut self, values: &[f64]) {
        self.variance = values[0];
    }

    fn complaint(&self, _value: f64) -> Option<&'static str> {
        None
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        normal_distribution((value - latent) / self.variance.sqrt())
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        (latent.mean, latent.variance + self.variance)
    }

    fn resolution(&self, _value: f64) -> f64 {
        self.variance.sqrt()
    }

    fn support(&self) -> Support {
        Support::Real
    }
}

impl Density for StudentT {
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let (nu, s) = (self.degrees, self.scale);
        let r = seen.value - latent;
        let (spread, square) = (nu * s * s, r * r);
        let log = ln_gamma(0.5 * (nu + 1.0))
            - ln_gamma(0.5 * nu)
            - 0.5 * (PI * spread).ln()
            - 0.5 * (nu + 1.0) * (square / spread).ln_1p();
        let total = spread + square;
        Derivatives {
            log_density: log,
            slope: (nu + 1.0) * r / total,
            curvature: (nu + 1.0) / ((nu + 3.0) * s * s),
            curvature_slope: 0.0,
            observed_curvature: (nu + 1.0) * (spread - square) / (total * total),
        }
    }

    fn dispersions(&self, seen: &Observation, latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        let (nu, s) = (self.degrees, self.scale);
        let r = seen.value - latent;
        let (spread, square) = (nu * s * s, r * r);
        let total = spread + square;
        let curvature = (nu + 1.0) / ((nu + 3.0) * s * s);
        let half = 0.5 * (digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu));
        let degrees = Dispersion {
            log_density: nu * (half - 0.5 * (square / spread).ln_1p()) - 0.5
                + 0.5 * (nu + 1.0) * square / total,
            slope: nu * (r / total - (nu + 1.0) * r * s * s / (total * total)),
            curvature: nu * 2.0 / ((nu + 3.0) * (nu + 3.0) * s * s),
        };
        let scale = Dispersion {
            log_density: -1.0 + (nu + 1.0) * square / total,
            slope: -2.0 * (nu + 1.0) * r * spread / (total * total),
            curvature: -2.0 * curvature,
        };
        [degrees, scale]
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::positive("student-t.degrees", Role::Shape, self.degrees),
            Parameter::positive("student-t.scale", Role::Shape, self.scale),
        ]
    }

    fn set_values(&mut self, values: &[f64]) {
        self.degrees = values[0];
        self.scale = values[1];
    }

    fn complaint(&self, _value: f64) -> Option<&'static str> {
        None
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        let z = (value - latent) / self.scale;
        let tail = 0.5
            * beta_reg(
                0.5 * self.degrees,
                0.5,
                self.degrees / (self.degrees + z * z),
            );
        if z > 0.0 { 1.0 - tail } else { tail }
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let nu = self.degrees;
        let noise = if nu > 2.0 {
            self.scale * self.scale * nu / (nu - 2.0)
        } else {
            f64::INFINITY
        };
        (latent.mean, latent.variance + noise)
    }

    fn resolution(&self, _value: f64) -> f64 {
        self.scale * self.degrees.sqrt().min(1.0)
    }

    fn support(&self) -> Support {
        Support::Real
    }
}
