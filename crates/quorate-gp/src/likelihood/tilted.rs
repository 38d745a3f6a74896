//! Moments of a belief multiplied by the likelihood of what was seen: what expectation propagation matches.

use std::f64::consts::PI;

use super::density::Latent;
use super::special::normal_tail;
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
        let height = |f: f64| {
            let away = f - belief.mean;
            let told = seen
                .iter()
                .map(|row| row.weight * density.log_density(row, f + row.offset));
            told.sum::<f64>() - 0.5 * away * away * precision
        };
        let grid = Grid::new(seen, belief, (peak, here.2), self);
        let mut points = vec![(0.0, grid.place(grid.start).1)];
        for sign in [1.0, -1.0] {
            for k in 1..=MOST_POINTS {
                let (place, stretch) = grid.place(grid.start + sign * k as f64 * grid.step);
                let away = place - peak;
                let fall = height(place) - here.0;
                if fall.is_nan() {
                    break;
                }
                points.push((away, stretch * fall.exp()));
                if fall < NOTHING {
                    break;
                }
            }
        }
        let total: f64 = points.iter().map(|(_, weight)| weight).sum();
        let mean = points.iter().map(|(away, w)| away * w).sum::<f64>() / total;
        let squares = points.iter().map(|(away, w)| (away - mean).powi(2) * w);
        let scale = (2.0 * PI * belief.variance).sqrt();
        Tilted {
            log_normaliser: here.0 + (total * grid.step / scale).ln(),
            mean: peak + mean,
            variance: squares.sum::<f64>() / total,
        }
    }
}

/// Logarithm of a product, relative to its peak, beyond which it is not followed.
const NOTHING: f64 = -36.0;
const MOST_POINTS: usize = 20_000;

/// Places `f = centre + reach sinh t` at even steps of t: close where a likelihood turns, far apart where only the
/// belief is left, which may be a hundred times as wide.
///
/// A sigmoid has poles at pi times its resolution beside its centre; with that reach they lie at pi / 2 beside the line of t, and the
/// trapezoidal rule loses exp(-pi^2 / step) to them. To a belief `k` reaches wide or away it loses about
/// exp(-35) for steps of 0.18 / (1 + k / 3), less than rounding shows in either case.
struct Grid {
    centre: f64,
    reach: f64,
    step: f64,
    /// Where the peak is.
    start: f64,
}

impl Grid {
    fn new(
        seen: &[Observation],
        belief: Latent,
        (peak, curvature): (f64, f64),
        likelihood: &Likelihood,
    ) -> Self {
        let density = likelihood.density();
        let resolutions = seen.iter().map(|row| density.resolution(row.value));
        let resolution = resolutions.fold(1.0, f64::min);
        let centre = seen.first().map_or(peak, |row| -row.offset);
        let furthest = |own: f64, row: &Observation| own.max((row.offset + centre).abs());
        let turns = seen.iter().fold(0.0, furthest);
        let deviation = belief.variance.sqrt();
        let away = (belief.mean - centre).abs().max((peak - centre).abs());
        // Likelihoods that turn in several places want even steps: far from its centre a grid has none.
        let (reach, finest) = if turns == 0.0 {
            (PI * resolution, f64::INFINITY)
        } else {
            let reach = 20.0 * (deviation + away + turns);
            (reach, 0.3 * resolution / reach)
        };
        let start = ((peak - centre) / reach).asinh();
        let broad = away.hypot(reach) / deviation;
        let own = 0.5 / (curvature.sqrt() * reach * start.cosh());
        let step = (0.18 / (1.0 + broad / 3.0)).min(finest).min(own);
        Self {
            centre,
            reach,
            step: step.max(deviation / (400.0 * reach * start.cosh())),
            start,
        }
    }

    /// A place, and how far places are apart there in units of the step.
    fn place(&self, t: f64) -> (f64, f64) {
        let (up, down) = (0.5 * t.exp(), 0.5 * (-t).exp());
        (
            self.centre + self.reach * (up - down),
            self.reach * (up + down),
        )
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
    fn moments_are_those_of_a_very_fine_sum() {
        let likelihood: Likelihood = "bernoulli".parse().unwrap();
        let rows = |value: f64, offsets: &[f64], weight: f64| -> Vec<Observation> {
            let one = Observation::of(value).with_weight(weight);
            offsets.iter().map(|own| one.with_offset(*own)).collect()
        };
        let mut worst = 0.0_f64;
        for (mean, deviation) in [
            (0.0, 1.0),
            (0.0, 0.01),
            (3.0, 0.3),
            (-40.0, 4.0),
            (25.0, 2.0),
            (0.5, 30.0),
            (-300.0, 30.0),
            (90.0, 30.0),
            (-2.0, 300.0),
        ] {
            for seen in [
                rows(1.0, &[0.3], 1.0),
                rows(0.0, &[-2.0], 1.0),
                rows(1.0, &[0.0], 40.0),
                rows(1.0, &[0.5, -4.0, 6.0], 0.5),
            ] {
                let belief = Latent {
                    mean,
                    variance: deviation * deviation,
                };
                let found = likelihood.tilted(&seen, belief);
                let slow = slowly(&likelihood, &seen, belief);
                worst = worst
                    .max(
                        (found.log_normaliser - slow.log_normaliser).abs()
                            / (1.0 + slow.log_normaliser.abs()),
                    )
                    .max((found.mean - slow.mean).abs() / slow.variance.sqrt())
                    .max((found.variance / slow.variance - 1.0).abs());
                assert!(worst < 1e-9, "{belief:?} {seen:?}: {found:?} {slow:?}");
            }
        }
    }

    /// Half a million even steps over all that a belief and the shift of a likelihood can reach.
    fn slowly(likelihood: &Likelihood, seen: &[Observation], belief: Latent) -> Tilted {
        const STEPS: usize = 500_000;
        let deviation = belief.variance.sqrt();
        let weight: f64 = seen.iter().map(|row| row.weight).sum();
        let reach = 12.0 * deviation + weight.min(10.0) * belief.variance.min(1e3);
        let (low, step) = (belief.mean - reach, 2.0 * reach / STEPS as f64);
        let logarithm = |f: f64| {
            let away = (f - belief.mean) / deviation;
            let own = |row: &Observation| {
                row.weight
                    * likelihood
                        .density()
                        .derivatives(row, f + row.offset)
                        .log_density
            };
            -0.5 * away * away + seen.iter().map(own).sum::<f64>()
        };
        let places: Vec<f64> = (0..=STEPS).map(|k| low + k as f64 * step).collect();
        let values: Vec<f64> = places.iter().map(|f| logarithm(*f)).collect();
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = values.iter().map(|value| (value - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mean = places.iter().zip(&weights).map(|(f, w)| f * w).sum::<f64>() / total;
        let squares = places
            .iter()
            .zip(&weights)
            .map(|(f, w)| (f - mean).powi(2) * w);
        Tilted {
            log_normaliser: top + (total * step / (2.0 * PI * belief.variance).sqrt()).ln(),
            mean,
            variance: squares.sum::<f64>() / total,
        }
    }

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
