//! Averages over a Gaussian belief about the latent value.
//!
//! The trapezoidal rule on the whole line converges faster than any power of its step for functions that are smooth in
//! a strip around the real axis (Trefethen and Weideman 2014): the error is about `e^(-2 pi d / h)` for a strip of half
//! width d and a step h. So every function names the distance over which it changes, and the step follows.

use super::density::Latent;
use super::special::{log_add, logistic, logistic_slope, normal_distribution};

/// Standard deviations on either side: the normal density is below 1e-17 of its peak outside.
const REACH: f64 = 8.8;
/// Widest step, in standard deviations: an error of `e^(-2 pi^2 / h^2)`, far below rounding.
const WIDEST: f64 = 0.5;
/// A step in units of the distance over which the function changes.
const SHARE: f64 = 0.4;
/// Most points of a rule.
const MOST: usize = 4000;

/// Points and weights of an average over a Gaussian.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    points: Vec<(f64, f64)>,
}

impl Rule {
    /// A rule for functions that change over distances of `resolution`.
    pub fn new(latent: Latent, resolution: f64) -> Self {
        let deviation = latent.variance.max(0.0).sqrt();
        if deviation == 0.0 {
            return Self {
                points: vec![(latent.mean, 1.0)],
            };
        }
        let step = WIDEST.min(SHARE * resolution / deviation);
        let half = ((REACH / step).ceil() as usize).min(MOST / 2) as i32;
        let step = REACH / f64::from(half);
        let mut points: Vec<(f64, f64)> = (-half..=half)
            .map(|k| {
                let z = f64::from(k) * step;
                (latent.mean + deviation * z, (-0.5 * z * z).exp())
            })
            .collect();
        let total: f64 = points.iter().map(|(_, weight)| weight).sum();
        for (_, weight) in &mut points {
            *weight /= total;
        }
        Self { points }
    }

    /// The average of a function.
    pub fn average(&self, function: impl Fn(f64) -> f64) -> f64 {
        self.points
            .iter()
            .map(|&(point, weight)| weight * function(point))
            .sum()
    }
}

/// The average of a function that changes over distances of `resolution`.
pub(super) fn average(latent: Latent, resolution: f64, function: impl Fn(f64) -> f64) -> f64 {
    Rule::new(latent, resolution).average(function)
}

/// The average of the logistic function over a Gaussian, to rounding.
///
/// A narrow Gaussian is summed as it is. For a wide one the logistic function is written as the chance that logistic
/// noise u exceeds -f, which turns the average into `sum_u logistic'(u) Phi((mean + u) / deviation)`: the sharp function
/// is then the one that is integrated over, and the same few points do for any variance.
pub(super) fn logistic_average(mean: f64, variance: f64) -> f64 {
    let deviation = variance.max(0.0).sqrt();
    if deviation < 1.5 {
        return average(Latent { mean, variance }, 1.0, logistic);
    }
    const STEP: f64 = 0.5;
    const STEPS: i32 = 76;
    let mut sum = 0.0;
    for k in -STEPS..=STEPS {
        let u = f64::from(k) * STEP;
        sum += logistic_slope(u) * normal_distribution((mean + u) / deviation);
    }
    STEP * sum
}

/// `log of the integral of e^(log_density(f)) N(f; latent)`, for a log density that is known to change over distances
/// of `resolution`; `peak` is where the product is largest, as far as known.
pub(super) fn log_average(
    latent: Latent,
    resolution: f64,
    peak: f64,
    log_density: impl Fn(f64) -> f64,
) -> f64 {
    let deviation = latent.variance.max(0.0).sqrt();
    if deviation == 0.0 {
        return log_density(latent.mean);
    }
    let at = |f: f64| {
        let z = (f - latent.mean) / deviation;
        let value = log_density(f) - 0.5 * z * z;
        if value.is_nan() {
            f64::NEG_INFINITY
        } else {
            value
        }
    };
    // The product is small beyond the belief's own reach, and beyond where it has fallen from its peak by e^40.
    let (low, high) = (
        latent.mean.min(peak) - REACH * deviation,
        latent.mean.max(peak) + REACH * deviation,
    );
    let mut step = (WIDEST * deviation).min(SHARE * resolution);
    step = step.max((high - low) / MOST as f64);
    let top = at(peak);
    let mut sum = top;
    let mut walk = |sign: f64, end: f64| {
        let own_side = (latent.mean - peak) * sign > 0.0;
        let mut k = 1.0;
        loop {
            let point = peak + sign * k * step;
            let value = at(point);
            sum = log_add(sum, value);
            // Towards the belief's mean a second peak may still come.
            let passed = !own_side || (point - latent.mean) * sign > 0.0;
            if (point - end) * sign > 0.0 || (passed && value < sum - 40.0) {
                break;
            }
            k += 1.0;
        }
    };
    walk(1.0, high);
    walk(-1.0, low);
    sum + (step / (deviation * (2.0 * std::f64::consts::PI).sqrt())).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logistic_average_is_right_for_any_variance() {
        // A thousand times finer trapezoid as the slow reference.
        let slow = |mean: f64, variance: f64| {
            let deviation = variance.sqrt();
            let step = (0.02_f64).min(0.02 / deviation);
            let count = (12.0 / step) as i64;
            let mut sum = 0.0;
            for k in -count..=count {
                let z = k as f64 * step;
                sum += logistic(mean + deviation * z) * (-0.5 * z * z).exp();
            }
            sum * step / (2.0 * std::f64::consts::PI).sqrt()
        };
        for mean in [-30.0, -4.0, -0.3, 0.0, 2.0, 11.0] {
            for variance in [1e-8, 0.1, 1.0, 2.2, 2.3, 9.0, 100.0, 1e4] {
                let error = logistic_average(mean, variance) - slow(mean, variance);
                assert!(error.abs() < 1e-12, "{mean} {variance} {error:e}");
            }
        }
        assert!((logistic_average(1.3, 0.0) - logistic(1.3)).abs() < 1e-16);
    }

    #[test]
    fn a_log_average_of_a_gaussian_is_the_convolution() {
        for (mean, variance, noise, y) in [
            (0.3, 2.0, 0.01, 1.0),
            (0.0, 1e-4, 4.0, 6.0),
            (5.0, 1.0, 0.5, -20.0),
        ] {
            let latent = Latent { mean, variance };
            let density = |f: f64| {
                super::super::special::log_normal_density((y - f) / f64::sqrt(noise))
                    - 0.5 * f64::ln(noise)
            };
            let peak = (mean / variance + y / noise) / (1.0 / variance + 1.0 / noise);
            let found = log_average(latent, f64::sqrt(noise), peak, density);
            let total = f64::sqrt(variance + noise);
            let exact = super::super::special::log_normal_density((y - mean) / total) - total.ln();
            assert!((found - exact).abs() < 1e-10, "{found} {exact}");
        }
    }
}
