//! Counts with mean `mu = e^f`: Poisson, and negative binomial for counts that scatter more.

use serde::{Deserialize, Serialize};

use super::Observation;
use super::density::{Density, Derivatives, Dispersion, Latent, MOST_DISPERSIONS, Support};
use super::special::{
    gamma_lower, ln_gamma, log_rising, negative_binomial_distribution, stirling_rest,
};
use crate::parameters::{Parameter, Role};

/// Poisson counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Poisson {}

/// Negative binomial counts of variance `mu + mu^2 / size`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NegativeBinomial {
    /// r: the larger, the nearer to Poisson.
    pub size: f64,
}

fn whole(value: f64) -> Option<&'static str> {
    (value < 0.0 || value.fract() != 0.0).then_some("must be a count: 0, 1, 2, ...")
}

/// `E e^(k f)` for a Gaussian f.
pub(super) fn exponential_moment(latent: Latent, k: f64) -> f64 {
    (k * latent.mean + 0.5 * k * k * latent.variance).exp()
}

/// `var e^f` for a Gaussian f, exact when it is small.
pub(super) fn exponential_variance(latent: Latent) -> f64 {
    exponential_moment(latent, 1.0).powi(2) * latent.variance.exp_m1()
}

impl Density for Poisson {
    /// Through `d = f - log y`, in which large counts near their mean lose no digits: `log p = y (d + 1 - e^d) + log p(y | y)`.
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let (y, mu) = (seen.value, latent.exp());
        if y == 0.0 {
            return Derivatives::concave(-mu, -mu, mu, mu);
        }
        let away = latent - y.ln();
        let excess = away.exp_m1();
        let log = y * (away - excess) - stirling_rest(y);
        Derivatives::concave(log, -y * excess, mu, mu)
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        whole(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        if value < 0.0 {
            0.0
        } else {
            1.0 - gamma_lower(value.floor() + 1.0, latent.exp())
        }
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let mean = exponential_moment(latent, 1.0);
        (mean, mean + exponential_variance(latent))
    }

    fn resolution(&self, value: f64) -> f64 {
        1.0 / (1.0 + value.max(0.0)).sqrt()
    }

    fn support(&self) -> Support {
        Support::Count
    }
}

impl NegativeBinomial {
    /// `mu / (r + mu)` and `r / (r + mu)`, without overflow for any latent value.
    fn shares(&self, latent: f64) -> (f64, f64) {
        let ratio = latent - self.size.ln();
        (
            super::special::logistic(ratio),
            super::special::logistic(-ratio),
        )
    }
}

impl Density for NegativeBinomial {
    /// With shares `p = mu / (r + mu)` and `q = 1 - p`: `g = y q - r p`, `W = (y + r) p q`, `dW/df = W (q - p)`.
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let (y, r) = (seen.value, self.size);
        let (p, q) = self.shares(latent);
        let ratio = latent - r.ln();
        let log = log_rising(r, y).0
            - ln_gamma(y + 1.0)
            - r * super::special::softplus(ratio)
            - y * super::special::softplus(-ratio);
        let curvature = (y + r) * p * q;
        Derivatives::concave(log, y * q - r * p, curvature, curvature * (q - p))
    }

    /// With respect to log r: `dp = -p q`, `dq = p q`.
    fn dispersions(&self, seen: &Observation, latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        let (y, r) = (seen.value, self.size);
        let (p, q) = self.shares(latent);
        let ratio = latent - r.ln();
        let log_density =
            r * (log_rising(r, y).1 - super::special::softplus(ratio)) + r * p - y * q;
        let own = Dispersion {
            log_density,
            slope: (y + r) * p * q - r * p,
            curvature: r * p * q + (y + r) * p * q * (p - q),
        };
        [own, Dispersion::default()]
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::positive(
            "negative-binomial.size",
            Role::Shape,
            self.size,
        )]
    }

    fn set_values(&mut self, values: &[f64]) {
        self.size = values[0];
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        whole(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        let (p, q) = self.shares(latent);
        match value {
            v if v < 0.0 => 0.0,
            _ if q <= 0.0 => 0.0,
            _ if p <= 0.0 => 1.0,
            v => negative_binomial_distribution(self.size, v.floor(), q),
        }
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let mean = exponential_moment(latent, 1.0);
        let square = exponential_moment(latent, 2.0);
        (
            mean,
            mean + square / self.size + exponential_variance(latent),
        )
    }

    fn resolution(&self, value: f64) -> f64 {
        let y = 1.0 + value.max(0.0);
        (1.0 / y + 1.0 / self.size).sqrt().min(1.0)
    }

    fn support(&self) -> Support {
        Support::Count
    }
}
