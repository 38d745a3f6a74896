//! Where a search begins: the level of the targets, and how much they scatter around it.

use super::bernoulli::Hinge;
use super::{Likelihood, Observations};
use crate::parameters::Role;
use crate::{Error, Result};

/// Variance of the weak prior that keeps the level finite when all targets are alike.
const LEVEL_VARIANCE: f64 = 100.0;

impl Likelihood {
    /// The constant latent value that suits all rows best, under a weak prior: a common offset, so that the process only
    /// has to describe departures from it.
    ///
    /// ```
    /// use quorate_gp::likelihood::{Likelihood, Observation, Observations};
    ///
    /// let counts = Observations::each([2.0, 3.0, 4.0].map(Observation::of).to_vec())?;
    /// let level = "poisson".parse::<Likelihood>()?.level(&counts)?;
    /// assert!((level - 3.0_f64.ln()).abs() < 0.01);
    /// # Ok::<(), quorate_gp::Error>(())
    /// ```
    pub fn level(&self, seen: &Observations) -> Result<f64> {
        let total = |level: f64| {
            let mut sum = (
                -0.5 * level * level / LEVEL_VARIANCE,
                -level / LEVEL_VARIANCE,
                1.0 / LEVEL_VARIANCE,
            );
            for row in seen.rows() {
                let own = self.derivatives(row, level);
                sum.0 += row.weight * own.log_density;
                sum.1 += row.weight * own.slope;
                sum.2 += row.weight * own.curvature;
            }
            if sum.0.is_nan() {
                sum.0 = f64::NEG_INFINITY;
            }
            sum
        };
        // Rough levels first: far from the targets an exponential may overflow, or the curvature vanish.
        let mut level = self.rough_level(seen);
        let mut here = total(level);
        for _ in 0..200 {
            let mut step = here.1 / here.2;
            let mut next = total(level + step);
            let mut halvings = 0;
            while next.0 < here.0 && halvings < 60 {
                step *= 0.5;
                next = total(level + step);
                halvings += 1;
            }
            if next.0 < here.0 {
                break;
            }
            let gain = next.0 - here.0;
            level += step;
            here = next;
            if gain <= 1e-12 * (1.0 + here.0.abs()) {
                break;
            }
        }
        if here.0.is_finite() && level.is_finite() {
            Ok(level)
        } else {
            Err(Error::NotFinite {
                what: "the level of the targets",
            })
        }
    }

    fn rough_level(&self, seen: &Observations) -> f64 {
        let weight = seen.total_weight();
        let mean = |of: &dyn Fn(&super::Observation) -> f64| {
            seen.rows()
                .iter()
                .map(|row| row.weight * of(row))
                .sum::<f64>()
                / weight
        };
        match self.support() {
            super::Support::Binary => 0.0,
            super::Support::Real => mean(&|row| row.value - row.offset),
            super::Support::Count => {
                let (counts, exposure) = (mean(&|row| row.value), mean(&|row| row.offset.exp()));
                ((counts + 0.5 / weight) / exposure).ln()
            }
            super::Support::Positive => mean(&|row| row.value * (-row.offset).exp()).ln(),
        }
    }

    /// The same likelihood with dispersions that suit the scatter of the targets around a constant level.
    pub fn started(self, seen: &Observations) -> Result<Likelihood> {
        let free = |parameter: &crate::parameters::Parameter| !parameter.fixed;
        if !self.parameters().iter().any(free) || matches!(self, Likelihood::Hinge(Hinge { .. })) {
            return Ok(self);
        }
        // Half a dozen rounds: level at fixed dispersions, then one damped step in each dispersion.
        let mut own = self;
        for _ in 0..30 {
            let level = own.level(seen)?;
            let mut coordinates: Vec<f64> =
                own.parameters().iter().map(|p| p.coordinate()).collect();
            let mut moved = 0.0_f64;
            for (which, parameter) in own.parameters().iter().enumerate() {
                if parameter.fixed {
                    continue;
                }
                let slope_at = |shift: f64| -> Result<f64> {
                    let mut there = own;
                    let mut point = coordinates.clone();
                    point[which] += shift;
                    there.set_coordinates(&point)?;
                    let slope = |row: &super::Observation| {
                        let latent = level + row.offset;
                        row.weight * there.density().dispersions(row, latent)[which].log_density
                    };
                    Ok(seen.rows().iter().map(slope).sum())
                };
                let (here, ahead) = (slope_at(0.0)?, slope_at(1e-4)?);
                let curvature = (ahead - here) / 1e-4;
                let step = if curvature < 0.0 {
                    -here / curvature
                } else {
                    here.signum()
                };
                let step = step.clamp(-0.7, 0.7);
                // Dispersions far outside what data can tell are left at the edge.
                let (least, most) = match parameter.role {
                    Role::Hazard => (0.05, 40.0),
                    _ => (1e-2, 1e3),
                };
                let next = (coordinates[which] + step).clamp(f64::ln(least), f64::ln(most));
                moved = moved.max((next - coordinates[which]).abs());
                coordinates[which] = next;
            }
            own.set_coordinates(&coordinates)?;
            if moved < 1e-3 {
                break;
            }
        }
        Ok(own)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::normal_quantile;
    use crate::likelihood::{Observation, special};

    fn seen(values: &[f64]) -> Observations {
        Observations::each(values.iter().map(|&v| Observation::of(v)).collect()).unwrap()
    }

    #[test]
    fn levels_are_finite_even_when_all_targets_are_alike() {
        for (name, values) in [
            ("bernoulli", vec![1.0; 50]),
            ("probit", vec![0.0; 50]),
            ("poisson", vec![0.0; 50]),
            ("negative-binomial", vec![0.0; 20]),
            ("poisson", vec![1e6; 3]),
            ("gamma", vec![1e-9; 5]),
            ("weibull", vec![1e9; 5]),
            ("inverse-gaussian", vec![3.0; 5]),
            ("student-t", vec![1e4, 1e4 + 1.0]),
            ("hinge", vec![1.0; 5]),
        ] {
            let likelihood: Likelihood = name.parse().unwrap();
            let level = likelihood.level(&seen(&values)).unwrap();
            assert!(level.is_finite(), "{name} {level}");
        }
        let censored: Vec<Observation> = (1..5)
            .map(|v| Observation::of(f64::from(v)).censored())
            .collect();
        let level = "weibull"
            .parse::<Likelihood>()
            .unwrap()
            .level(&Observations::each(censored).unwrap());
        assert!(level.unwrap() > 1.0);
    }

    #[test]
    fn dispersions_start_near_what_the_targets_show() {
        // A gamma sample by quantiles: shape 4, mean 1.
        let values: Vec<f64> = (0..400)
            .map(|k| {
                let level = (f64::from(k) + 0.5) / 400.0;
                let gamma: Likelihood = Likelihood::Gamma(crate::likelihood::Gamma { shape: 4.0 });
                gamma.quantile(
                    crate::likelihood::Latent {
                        mean: 0.0,
                        variance: 0.0,
                    },
                    level,
                )
            })
            .collect();
        let found = "gamma"
            .parse::<Likelihood>()
            .unwrap()
            .started(&seen(&values))
            .unwrap();
        let Likelihood::Gamma(gamma) = found else {
            panic!()
        };
        assert!((gamma.shape - 4.0).abs() < 0.15, "{}", gamma.shape);
        assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-9);
        assert!(special::normal_distribution(normal_quantile(1e-4)) - 1e-4 < 1e-12);
    }
}
