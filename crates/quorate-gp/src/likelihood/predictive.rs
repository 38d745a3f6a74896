//! From a belief about the latent value to a prediction of the target.
//!
//! Means and variances are closed forms wherever the latent value enters through its exponential; everything else is an
//! average over the belief (see [`super::quadrature`]). Beliefs come with the row's offset added to their mean.

use super::density::{Latent, Support};
use super::quadrature::{Rule, log_average};
use super::special::normal_quantile;
use super::{Likelihood, Observation, bernoulli};

impl Likelihood {
    /// Mean of the target: the probability of class 1 for two classes.
    ///
    /// ```
    /// use quorate_gp::likelihood::{Latent, Likelihood};
    ///
    /// let poisson: Likelihood = "poisson".parse()?;
    /// let mean = poisson.mean(Latent { mean: 1.0, variance: 0.5 });
    /// assert!((mean - 1.25_f64.exp()).abs() < 1e-12);
    /// # Ok::<(), quorate_gp::Error>(())
    /// ```
    pub fn mean(&self, latent: Latent) -> f64 {
        self.density().moments(latent).0
    }

    /// Variance of the target, noise included.
    pub fn variance(&self, latent: Latent) -> f64 {
        self.density().moments(latent).1
    }

    /// `P(target <= value)`.
    pub fn distribution(&self, latent: Latent, value: f64) -> f64 {
        let density = self.density();
        match self.support() {
            Support::Binary => match value {
                v if v < 0.0 => 0.0,
                v if v < 1.0 => 1.0 - self.mean(latent),
                _ => 1.0,
            },
            Support::Positive | Support::Count if value < 0.0 => 0.0,
            _ => Rule::new(latent, density.resolution(value))
                .average(|f| density.distribution(value, f)),
        }
    }

    /// `P(target > value)`: the survival curve of a lifetime.
    pub fn survival(&self, latent: Latent, value: f64) -> f64 {
        1.0 - self.distribution(latent, value)
    }

    /// Log of the predictive density of a row: its density (its survival where it is censored) averaged over the belief.
    ///
    /// The belief is about the latent value alone; the row brings its offset. Weights do not count.
    pub fn log_predictive(&self, seen: &Observation, latent: Latent) -> f64 {
        let latent = Latent {
            mean: latent.mean + seen.offset,
            variance: latent.variance,
        };
        let density = self.density();
        match self {
            Likelihood::Gaussian(noise) => {
                let deviation = (latent.variance + noise.variance).sqrt();
                let z = (seen.value - latent.mean) / deviation;
                super::special::log_normal_density(z) - deviation.ln()
            }
            Likelihood::Probit(_) => {
                let sign = if seen.value > 0.5 { 1.0 } else { -1.0 };
                super::special::normal_tail(sign * latent.mean / (1.0 + latent.variance).sqrt()).0
            }
            Likelihood::Hinge(hinge) => {
                let resolution = density.resolution(seen.value);
                log_average(latent, resolution, latent.mean, |f| {
                    bernoulli::hinge_log_probability(hinge, seen.value, f)
                })
            }
            _ => {
                let peak = self.peak(seen, latent);
                log_average(latent, density.resolution(seen.value), peak, |f| {
                    density.derivatives(seen, f).log_density
                })
            }
        }
    }

    /// Where density times belief is largest, by damped scoring steps.
    fn peak(&self, seen: &Observation, latent: Latent) -> f64 {
        let density = self.density();
        if latent.variance <= 0.0 {
            return latent.mean;
        }
        let precision = 1.0 / latent.variance;
        let at = |f: f64| {
            let own = density.derivatives(seen, f);
            let away = f - latent.mean;
            let value = own.log_density - 0.5 * away * away * precision;
            (
                if value.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    value
                },
                own.slope - away * precision,
                own.curvature + precision,
            )
        };
        let mut peak = latent.mean;
        let mut here = at(peak);
        for _ in 0..100 {
            let mut step = here.1 / here.2;
            let mut next = at(peak + step);
            let mut halvings = 0;
            while next.0 < here.0 && halvings < 50 {
                step *= 0.5;
                next = at(peak + step);
                halvings += 1;
            }
            if next.0 <= here.0 {
                break;
            }
            peak += step;
            let gain = next.0 - here.0;
            here = next;
            if gain < 1e-8 {
                break;
            }
        }
        peak
    }

    /// The smallest target (of its kind) that is not exceeded with probability `level`.
    pub fn quantile(&self, latent: Latent, level: f64) -> f64 {
        let level = level.clamp(0.0, 1.0);
        match self.support() {
            Support::Binary => f64::from(1.0 - self.mean(latent) < level),
            Support::Count => self.count_quantile(latent, level),
            Support::Positive if level == 0.0 => 0.0,
            _ if level == 1.0 => f64::INFINITY,
            Support::Real if level == 0.0 => f64::NEG_INFINITY,
            Support::Positive => {
                let guess = latent.mean + normal_quantile(level) * (latent.variance + 0.5).sqrt();
                let log =
                    increasing_root(guess, 0.5, |u| self.distribution(latent, u.exp()) - level);
                log.exp()
            }
            Support::Real => {
                let (mean, variance) = self.density().moments(latent);
                let deviation = if variance.is_finite() {
                    variance.sqrt()
                } else {
                    1.0 + latent.variance.sqrt()
                };
                let guess = mean + normal_quantile(level) * deviation;
                increasing_root(guess, 0.5 * deviation, |y| {
                    self.distribution(latent, y) - level
                })
            }
        }
    }

    fn count_quantile(&self, latent: Latent, level: f64) -> f64 {
        /// Counts beyond this are not told apart by a number of this width.
        const MOST: f64 = 9e15;
        if level >= 1.0 {
            return f64::INFINITY;
        }
        // Sums that end below 1 by rounding must still be reached.
        let reached = |count: f64| self.distribution(latent, count) >= level - 1e-13;
        if reached(0.0) {
            return 0.0;
        }
        let guess =
            latent.mean + normal_quantile(level.clamp(1e-12, 1.0 - 1e-12)) * latent.variance.sqrt();
        let mut step = 1.0_f64;
        let (mut low, mut high) = (0.0, guess.exp().ceil().clamp(1.0, MOST));
        if reached(high) {
            while low < high - step && reached(high - step) {
                high -= step;
                step *= 2.0;
            }
            low = f64::max(low, high - step);
        } else {
            low = high;
            while high < MOST && !reached(high) {
                low = high;
                high += step;
                step *= 2.0;
            }
        }
        while high - low > 1.0 {
            let middle = (0.5 * (low + high)).floor();
            if reached(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

/// The root of an increasing function: a bracket grown around the guess, then regula falsi with the Illinois rule.
fn increasing_root(guess: f64, width: f64, function: impl Fn(f64) -> f64) -> f64 {
    let mut step = width;
    let (mut low, mut high) = (guess, guess);
    let (mut at_low, mut at_high) = (function(guess), 0.0);
    if at_low < 0.0 {
        for _ in 0..200 {
            high += step;
            step *= 2.0;
            at_high = function(high);
            if at_high >= 0.0 || at_high.is_nan() {
                break;
            }
            (low, at_low) = (high, at_high);
        }
    } else {
        at_high = at_low;
        for _ in 0..200 {
            low -= step;
            step *= 2.0;
            at_low = function(low);
            if at_low < 0.0 || at_low.is_nan() {
                break;
            }
            (high, at_high) = (low, at_low);
        }
    }
    let mut last_side = 0;
    for _ in 0..200 {
        if high - low <= 1e-12 * (1.0 + low.abs().max(high.abs())) {
            break;
        }
        let share = at_low / (at_low - at_high);
        let middle = if share > 1e-3 && share < 1.0 - 1e-3 {
            low + share * (high - low)
        } else {
            0.5 * (low + high)
        };
        let value = function(middle);
        if value.abs() < 1e-15 {
            return middle;
        }
        if value < 0.0 {
            (low, at_low) = (middle, value);
            if last_side == -1 {
                at_high *= 0.5;
            }
            last_side = -1;
        } else {
            (high, at_high) = (middle, value);
            if last_side == 1 {
                at_low *= 0.5;
            }
            last_side = 1;
        }
    }
    0.5 * (low + high)
}
