//! Errors that are not normal: some wide, a few that tell nothing.
//!
//! In units of their deviation, errors of real tables are a mixture: most are small, some are several times as wide, and
//! now and then a row has nothing to do with its neighbours, such as a copy of inputs with another target. Under one
//! normal density a single such row, seventy deviations off, outweighs ten thousand others. So an answer whose spread is learned is
//! a mixture of three normal densities about its mean, and intervals are those of the mixture.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::hyper::{Mixture, MixturePart};
use crate::mixture::log_sum;
use crate::prediction::{Prediction, standard_distribution};

/// Variance of a stray's error, standardised: that of the difference of two targets at random.
const STRAY_VARIANCE: f64 = 2.0;
/// Share of strays where rows show none: they may come yet, and must not make deviations much wider meanwhile.
const RAREST: f64 = 1e-8;
/// Variance of wide errors in units of the others', at most.
const WIDEST: f64 = 1e6;
/// Share of the rows left out that their 95 % intervals should hold: half a percent is what 4,000 rows can tell.
const HELD: RangeInclusive<f64> = 0.945..=0.955;
/// Log density per row that it may cost to have them held.
const DEAREST: f64 = 0.02;
/// Logarithm of the factor of the level that is tried for it, at most.
const FARTHEST: f64 = 1.5;

/// What errors beyond the usual ones are like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tails {
    /// Share of wide errors.
    pub wide: f64,
    /// Their variance, in units of that of usual errors.
    pub factor: f64,
    /// Share of strays, whose errors are as large as the difference of two targets.
    pub stray: f64,
}

/// Rows whose errors are looked at.
pub(super) struct Errors<'a> {
    /// Squared errors in units of the rows' variances.
    pub ratios: &'a [f64],
    /// The rows' variances, standardised.
    pub variances: &'a [f64],
    pub counts: &'a [f64],
}

/// Tails with the factor of the usual errors' variance that goes with them.
pub(super) struct Found {
    pub tails: Tails,
    pub level: f64,
}

impl Found {
    /// The likeliest, with intervals that hold what they say.
    pub fn new(errors: &Errors<'_>) -> Self {
        Self::likeliest(errors).held(errors)
    }

    /// By expectation and maximisation.
    fn likeliest(errors: &Errors<'_>) -> Self {
        const ROUNDS: usize = 200;
        let rows: f64 = errors.counts.iter().sum();
        let mut sorted = errors.ratios.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // The median of a squared standard normal is 0.455.
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0) / 0.455;
        let mut found = Self {
            tails: Tails {
                wide: 0.05,
                factor: 10.0,
                stray: 1.0 / rows.max(2.0),
            },
            level: median.max(1e-9),
        };
        for _ in 0..ROUNDS {
            let (mut usual, mut wide, mut stray) = ([0.0; 2], [0.0; 2], 0.0);
            for row in 0..errors.ratios.len() {
                let [a, b, c] = found.responsibilities(errors, row);
                let (count, error) = (errors.counts[row], errors.ratios[row]);
                usual = [usual[0] + count * a, usual[1] + count * a * error];
                wide = [wide[0] + count * b, wide[1] + count * b * error];
                stray += count * c;
            }
            found.level = (usual[1] / usual[0]).max(1e-9);
            let factor = wide[1] / wide[0] / found.level;
            found.tails.factor = factor.clamp(1.0, WIDEST);
            found.tails.wide = (wide[0] / rows).clamp(1e-6, 0.5);
            found.tails.stray = (stray / rows).clamp(RAREST, 0.05);
            if !(found.level.is_finite() && factor.is_finite()) {
                found.level = 1.0;
                found.tails.factor = 1.0;
                break;
            }
        }
        found
    }

    /// Moves the level until 95 % intervals hold about as many rows as they say, where that costs next to no density.
    ///
    /// The likeliest level of errors that are no mixture of normal densities need not have the right intervals: a target
    /// that is zero in most rows errs by just about one deviation there, and hardly ever by two.
    fn held(self, errors: &Errors<'_>) -> Self {
        let held = self.coverage(errors);
        if HELD.contains(&held) || held.is_nan() {
            return self;
        }
        let aim = held.clamp(*HELD.start(), *HELD.end());
        let sign = (aim - held).signum();
        let moved = |distance: f64| Self {
            level: self.level * (sign * distance).exp(),
            tails: self.tails,
        };
        let (mut short, mut far) = (0.0, FARTHEST);
        for _ in 0..30 {
            let middle = 0.5 * (short + far);
            let reached = sign * (moved(middle).coverage(errors) - aim) >= 0.0;
            *(if reached { &mut far } else { &mut short }) = middle;
        }
        let there = moved(far);
        let rows: f64 = errors.counts.iter().sum();
        let price = there.losses(errors).sum::<f64>() - self.losses(errors).sum::<f64>();
        if price <= DEAREST * rows { there } else { self }
    }

    /// Share of the rows that lie within their 95 % intervals.
    fn coverage(&self, errors: &Errors<'_>) -> f64 {
        let within = |row: &usize| {
            let nearer = self.parts(errors, *row).map(|(share, variance)| {
                let reach = (errors.ratios[*row] / variance).sqrt();
                share * (2.0 * standard_distribution(reach) - 1.0)
            });
            nearer.iter().sum::<f64>() <= 0.95
        };
        let inside = (0..errors.ratios.len()).filter(within);
        inside.map(|row| errors.counts[row]).sum::<f64>() / errors.counts.iter().sum::<f64>()
    }

    /// Share of each part, and its variance in units of the row's.
    fn parts(&self, errors: &Errors<'_>, row: usize) -> [(f64, f64); 3] {
        let Tails {
            wide,
            factor,
            stray,
        } = self.tails;
        let own = errors.variances[row] * self.level;
        [
            (1.0 - wide - stray, self.level),
            (wide, self.level * factor),
            (stray, STRAY_VARIANCE.max(own) / errors.variances[row]),
        ]
    }

    /// Logarithms of share times density of the three parts, of an error in units of its row's deviation.
    fn logarithms(&self, errors: &Errors<'_>, row: usize) -> [f64; 3] {
        self.parts(errors, row).map(|(share, variance)| {
            share.ln() - 0.5 * (variance.ln() + errors.ratios[row] / variance)
        })
    }

    fn responsibilities(&self, errors: &Errors<'_>, row: usize) -> [f64; 3] {
        let logs = self.logarithms(errors, row);
        let all = log_sum(logs.into_iter());
        logs.map(|log| (log - all).exp())
    }

    /// What each row loses: its negative log density, without what no spread changes.
    pub fn losses<'a>(&'a self, errors: &'a Errors<'a>) -> impl Iterator<Item = f64> + 'a {
        (0..errors.ratios.len())
            .map(|row| -errors.counts[row] * log_sum(self.logarithms(errors, row).into_iter()))
    }

    /// How much of each squared error counts where usual errors are asked for: that of a wide one less, that of a stray
    /// next to nothing.
    pub fn weights<'a>(&'a self, errors: &'a Errors<'a>) -> impl Iterator<Item = f64> + 'a {
        (0..errors.ratios.len()).map(|row| {
            let [usual, wide, stray] = self.responsibilities(errors, row);
            let own = errors.variances[row] * self.level;
            usual + wide / self.tails.factor + stray * own / STRAY_VARIANCE.max(own)
        })
    }
}

impl Tails {
    /// Variance of a new observation's noise, about a function of variance `latent`, in units of the target's variance.
    pub fn noise(&self, latent: f64, noise: f64) -> f64 {
        let parts = self.parts(latent, noise, 1.0);
        parts.iter().map(|(share, noise)| share * noise).sum()
    }

    /// Share and noise of each part; `unit` is the variance of the targets.
    fn parts(&self, latent: f64, noise: f64, unit: f64) -> [(f64, f64); 3] {
        let usual = latent + noise;
        [
            (1.0 - self.wide - self.stray, noise),
            (self.wide, usual * self.factor - latent),
            (self.stray, (STRAY_VARIANCE * unit).max(usual) - latent),
        ]
    }

    /// Makes the mixture of a prediction whose variances are those of usual errors; `unit` is the variance of the targets.
    pub(super) fn add(&self, prediction: &mut Prediction, unit: f64) {
        let mut mixture = Mixture {
            components: vec![MixturePart::default(); 3],
        };
        for row in 0..prediction.mean.len() {
            let latent = prediction.latent_variance[row];
            let parts = self.parts(latent, prediction.noise_variance[row], unit);
            for ((share, noise), own) in parts.into_iter().zip(&mut mixture.components) {
                own.share.push(share);
                own.mean.push(prediction.mean[row]);
                own.variance.push(latent);
                own.noise.push(noise);
            }
            let noises = parts.iter().map(|(share, noise)| share * noise);
            prediction.noise_variance[row] = noises.sum();
        }
        prediction.mixture = Some(mixture);
    }

    pub(super) fn is_sound(&self) -> bool {
        let shares = [self.wide, self.stray];
        shares.iter().all(|share| (0.0..=0.6).contains(share))
            && self.wide + self.stray < 1.0
            && (1.0..=WIDEST).contains(&self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::standard_quantile;

    /// Errors of normal parts, at equal shares of each; every tenth is six times as wide.
    fn ratios() -> Vec<f64> {
        let normal = |row: usize, of: usize| standard_quantile((row as f64 + 0.5) / of as f64);
        let usual = (0..3600).map(|row| 0.5 * normal(row, 3600).powi(2));
        let wide = (0..400).map(|row| 18.0 * normal(row, 400).powi(2));
        usual.chain(wide).collect()
    }

    #[test]
    fn parts_that_made_the_errors_are_found() {
        let ratios = ratios();
        let errors = Errors {
            ratios: &ratios,
            variances: &vec![1e-4; ratios.len()],
            counts: &vec![1.0; ratios.len()],
        };
        let found = Found::new(&errors);
        assert!((found.level / 0.5 - 1.0).abs() < 0.05, "{}", found.level);
        assert!((found.tails.wide - 0.1).abs() < 0.01);
        assert!((found.tails.factor / 36.0 - 1.0).abs() < 0.15);
        assert!(found.tails.is_sound());
        // The density of all rows is that of the mixture: better than that of any one normal.
        let mean = ratios.iter().sum::<f64>() / 4000.0;
        let normal: f64 = ratios.iter().map(|e| 0.5 * (mean.ln() + e / mean)).sum();
        assert!(found.losses(&errors).sum::<f64>() < normal - 1000.0);
    }

    #[test]
    fn intervals_hold_what_they_say_where_errors_are_no_mixture() {
        // Most rows err by about one deviation, as where a target is zero and its answers are nearly that.
        let normal = |row: usize, of: usize| standard_quantile((row as f64 + 0.5) / of as f64);
        let close = (0..2600).map(|row| (1.0 + 0.15 * normal(row, 2600)).powi(2));
        let ratios: Vec<f64> = close
            .chain((0..1400).map(|row| 1.6 * normal(row, 1400).powi(2)))
            .collect();
        let errors = Errors {
            ratios: &ratios,
            variances: &vec![1e-4; ratios.len()],
            counts: &vec![1.0; ratios.len()],
        };
        let likeliest = Found::likeliest(&errors);
        let held = Found::new(&errors);
        let (before, after) = (likeliest.coverage(&errors), held.coverage(&errors));
        assert!(before > 0.96, "{before}");
        assert!((after - 0.955).abs() < 1e-3, "{after}");
        let loss = |own: &Found| own.losses(&errors).sum::<f64>() / 4000.0;
        assert!(loss(&held) - loss(&likeliest) < DEAREST);
        assert!(loss(&held) > loss(&likeliest));
    }

    #[test]
    fn a_stray_costs_little_and_the_variance_is_that_of_the_mixture() {
        let tails = Tails {
            wide: 0.02,
            factor: 9.0,
            stray: 0.001,
        };
        let mut told = Prediction {
            mean: vec![5.0],
            latent_variance: vec![0.3],
            noise_variance: vec![0.7],
            ..Prediction::default()
        };
        tails.add(&mut told, 400.0);
        let mixture = told.mixture.clone().unwrap_or_default();
        let (mean, variance) = mixture.moments(0);
        assert!((mean - 5.0).abs() < 1e-12 && (variance - told.variance(false)[0]).abs() < 1e-12);
        assert!((variance - (0.979 + 0.02 * 9.0 + 0.001 * 800.0)).abs() < 1e-12);
        let unit = 400.0;
        assert!(
            (tails.noise(0.3 / unit, 0.7 / unit) - told.noise_variance[0] / unit).abs() < 1e-12
        );
        assert!(mixture.log_density(0, 65.0) > -15.0);
    }
}
