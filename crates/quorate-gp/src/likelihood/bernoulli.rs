//! Two classes: the logistic and the probit function of the latent value.

use serde::{Deserialize, Serialize};

use super::density::{Density, Derivatives, Latent, Support};
use super::quadrature::logistic_average;
use super::special::{logistic, logistic_slope, normal_distribution, normal_tail, softplus};
use super::{Observation, special};

/// `P(y = 1 | f) = 1 / (1 + e^-f)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logit {}

/// `P(y = 1 | f) = Phi(f)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probit {}

/// The cost of the support vector machine, its corner rounded: `log p(y | f) = -h(t f)`, t = +-1, with
/// `h(m) = log(1 + e^(s (1 - m))) / s`, which tends to `max(0, 1 - m)` as s grows (Tresp 2000, sec. 6.7; 2001, sec. 3).
///
/// It is no density: its two values do not sum to 1 (Sollich 2000). Probabilities come from their ratio,
/// `P(y = 1 | f) = logistic(h(-f) - h(f))`. The paper's constant is the variance of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hinge {
    /// s: how sharp the corner is.
    pub sharpness: f64,
}

pub(super) fn two_values(value: f64) -> Option<&'static str> {
    (value != 0.0 && value != 1.0).then_some("must be 0 or 1")
}

/// Distribution function of a target that is 1 with the given probability.
fn step(value: f64, probability: f64) -> f64 {
    match value {
        v if v < 0.0 => 0.0,
        v if v < 1.0 => 1.0 - probability,
        _ => 1.0,
    }
}

fn binary_moments(probability: f64) -> (f64, f64) {
    (probability, probability * (1.0 - probability))
}

impl Density for Logit {
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let pi = logistic(latent);
        let curvature = logistic_slope(latent);
        let slope = if seen.value > 0.5 {
            logistic(-latent)
        } else {
            -pi
        };
        Derivatives::concave(
            self.log_density(seen, latent),
            slope,
            curvature,
            curvature * (1.0 - 2.0 * pi),
        )
    }

    fn log_density(&self, seen: &Observation, latent: f64) -> f64 {
        -softplus(if seen.value > 0.5 { -latent } else { latent })
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        two_values(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        step(value, logistic(latent))
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        binary_moments(logistic_average(latent.mean, latent.variance))
    }

    fn resolution(&self, _value: f64) -> f64 {
        1.0
    }

    fn support(&self) -> Support {
        Support::Binary
    }
}

impl Density for Probit {
    /// With `t = +-1`, `m = t f` and `q = phi(m) / Phi(m)`: `g = t q`, `W = q (q + m)`, `dW/df = t q (1 - W - (q + m)^2)`.
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let sign = if seen.value > 0.5 { 1.0 } else { -1.0 };
        let (log, q, excess) = normal_tail(sign * latent);
        let curvature = q * excess;
        let third = sign * q * (1.0 - curvature - excess * excess);
        Derivatives::concave(log, sign * q, curvature, third)
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        two_values(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        step(value, normal_distribution(latent))
    }

    /// Rasmussen and Williams 2006, eq. 3.82.
    fn moments(&self, latent: Latent) -> (f64, f64) {
        binary_moments(normal_distribution(
            latent.mean / (1.0 + latent.variance).sqrt(),
        ))
    }

    fn resolution(&self, _value: f64) -> f64 {
        1.0
    }

    fn support(&self) -> Support {
        Support::Binary
    }
}

impl Hinge {
    fn cost(&self, margin: f64) -> f64 {
        softplus(self.sharpness * (1.0 - margin)) / self.sharpness
    }

    /// `P(y = 1 | f)`.
    pub(super) fn probability(&self, latent: f64) -> f64 {
        logistic(self.cost(-latent) - self.cost(latent))
    }
}

impl Density for Hinge {
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives {
        let sign = if seen.value > 0.5 { 1.0 } else { -1.0 };
        let s = self.sharpness;
        let inside = s * (1.0 - sign * latent);
        let weight = logistic(inside);
        let curvature = s * logistic_slope(inside);
        Derivatives::concave(
            -softplus(inside) / s,
            sign * weight,
            curvature,
            -sign * s * curvature * (1.0 - 2.0 * weight),
        )
    }

    fn complaint(&self, value: f64) -> Option<&'static str> {
        two_values(value)
    }

    fn distribution(&self, value: f64, latent: f64) -> f64 {
        step(value, self.probability(latent))
    }

    fn moments(&self, latent: Latent) -> (f64, f64) {
        let average = special_average(self, latent);
        binary_moments(average)
    }

    fn resolution(&self, _value: f64) -> f64 {
        (1.0 / self.sharpness).min(1.0)
    }

    fn support(&self) -> Support {
        Support::Binary
    }
}

fn special_average(hinge: &Hinge, latent: Latent) -> f64 {
    super::quadrature::average(latent, hinge.resolution(1.0), |f| hinge.probability(f))
}

/// `log P(y | f)` of a hinge as a probability: what the predictive density averages.
pub(super) fn hinge_log_probability(hinge: &Hinge, value: f64, latent: f64) -> f64 {
    let sign = if value > 0.5 { 1.0 } else { -1.0 };
    -special::softplus(sign * (hinge.cost(latent) - hinge.cost(-latent)))
}
