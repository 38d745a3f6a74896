//! Moments of a belief multiplied by the likelihood of what was seen: what expectation propagation matches.

use super::density::Latent;
use super::special::{log_add, normal_tail};
use super::{Likelihood, Observation};

/// Normaliser and moments of `belief(f) * p(seen | f)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tilted {
    /// Logarithm of the normaliser.
    pub log_normaliser: f64,
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
}

impl Likelihood {
    /// The moments after everything that was seen of one latent value, weights included; `belief` is about the latent
    /// value alone.
    ///
    /// Closed form for one probit row (Rasmussen and Williams 2006, eq. 3.58), the trapezoidal rule otherwise.
    pub fn tilted(&self, seen: &[Observation], belief: Latent) -> Tilted {
        if let (Likelihood::Probit(_), [row]) = (self, seen)
            && row.weight == 1.0
        {
            return probit(row, belief);
        }
        let density = self.density();
        let precision = 1.0 / belief.variance;
        // Value, slope and curvature of the log product.
        let at = |f: f64| {
            let away = f - belief.mean;
            let mut sum = (-0.5 * away * away * precision, -away * precision, precision);
            for row in seen {
                let own = density.derivatives(row, f + row.offset);
                sum.0 += row.weight * own.log_density;
                sum.1 += row.weight * own.slope;
                sum.2 += row.weight * own.curvature;
            }
            if sum.0.is_nan() {
                sum.0 = f64::NEG_INFINITY;
            }
            sum
        };
        let mut peak = belief.mean;
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
            if gain < 1e-10 {
                break;
            }
        }
        let resolution = seen
            .iter()
            .map(|row| density.resolution(row.value))
            .fold(1.0, f64::min);
        let deviation = belief.variance.sqrt();
        let step = (0.25 * deviation)
            .min(0.3 * resolution)
            .min(0.35 / here.2.sqrt())
            .max(deviation / 400.0);
        let mut total = f64::NEG_INFINITY;
        let mut points = vec![(0.0, here.0)];
        for sign in [1.0, -1.0] {
            let mut k = 1.0;
            loop {
                let away = sign * k * step;
                let value = at(peak + away).0;
                points.push((away, value));
                if value < here.0 - 42.0 || k > 20_000.0 {
                    break;
                }
                k += 1.0;
            }
        }
        for &(_, value) in &points {
            total = log_add(total, value);
        }
        let mean: f64 = points
            .iter()
            .map(|&(away, value)| away * (value - total).exp())
            .sum();
        let variance: f64 = points
            .iter()
            .map(|&(away, value)| (away - mean).powi(2) * (value - total).exp())
            .sum();
        Tilted {
            log_normaliser: total + (step / (deviation * (2.0 * std::f64::consts::PI).sqrt())).ln(),
            mean: peak + mean,
            variance,
        }
    }
}

fn probit(row: &Observation, belief: Latent) -> Tilted {
    let sign = if row.value > 0.5 { 1.0 } else { -1.0 };
    let total = 1.0 + belief.variance;
    let z = sign * (belief.mean + row.offset) / total.sqrt();
    let (log_normaliser, q, excess) = normal_tail(z);
    Tilted {
        log_normaliser,
        mean: belief.mean + sign * belief.variance * q / total.sqrt(),
        variance: belief.variance - belief.variance * belief.variance * q * excess / total,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_agrees_with_the_closed_form_of_probit() {
        let likelihood: Likelihood = "probit".parse().unwrap();
        for (mean, variance) in [
            (0.0, 1.0),
            (3.0, 0.1),
            (-6.0, 9.0),
            (1.0, 100.0),
            (2.0, 1e-4),
        ] {
            for value in [0.0, 1.0] {
                let belief = Latent { mean, variance };
                let row = Observation::of(value).with_offset(0.2);
                let exact = likelihood.tilted(&[row], belief);
                // Two half copies go through the rule.
                let half = row.with_weight(0.5);
                let found = likelihood.tilted(&[half, half], belief);
                assert!(
                    (found.log_normaliser - exact.log_normaliser).abs() < 1e-9,
                    "{belief:?} {found:?} {exact:?}"
                );
                assert!(
                    (found.mean - exact.mean).abs() < 1e-8 * (1.0 + exact.mean.abs()),
                    "{belief:?}"
                );
                assert!(
                    (found.variance / exact.variance - 1.0).abs() < 1e-8,
                    "{belief:?} {found:?} {exact:?}"
                );
            }
        }
    }
}
