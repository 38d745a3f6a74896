//! Mixtures of Gaussians: densities of inputs behind gates, and of inputs and target together.
//!
//! `P(i) P(x | i)` divided by its sum is a gate (Tresp 2001, *Committee Machines*, eq. 7), for experts that were trained on
//! rows of their own too; the conditional of a mixture over `(x, y)` is a mixture of linear experts (sec. 3.2.2).

use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, dot};
use serde::{Deserialize, Serialize};

use super::gate::{log_sum, softmax};
use crate::error::{Error, Result};

/// Gaussians with shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianMixture {
    /// Share of each.
    pub shares: Vec<f64>,
    /// Mean of each.
    pub means: Vec<Vec<f64>>,
    /// Covariance of each, row after row.
    pub covariances: Vec<Vec<f64>>,
}

/// When expectation and maximisation end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DensitySettings {
    /// Rounds at most.
    pub rounds: usize,
    /// Gain of the mean log density below which they end.
    pub gain: f64,
    /// What is added to every variance in each round.
    pub ridge: f64,
}

impl Default for DensitySettings {
    fn default() -> Self {
        Self {
            rounds: 200,
            gain: 1e-6,
            ridge: 1e-6,
        }
    }
}

/// One Gaussian, factored.
struct Ready<'a> {
    share: f64,
    mean: &'a [f64],
    factor: Factor,
}

impl Ready<'_> {
    /// Log of share times density.
    fn log_density(&self, row: &[f64]) -> f64 {
        let mut gap = Matrix::from_fn(row.len(), 1, |i, _| row[i] - self.mean[i]);
        self.factor.whiten_block(gap.as_mut());
        let gap = gap.col_as_slice(0);
        let constant = row.len() as f64 * (2.0 * std::f64::consts::PI).ln();
        self.share.ln() - 0.5 * (dot(gap, gap) + constant + self.factor.log_determinant())
    }
}

impl GaussianMixture {
    /// Number of numbers in a row.
    pub fn width(&self) -> usize {
        self.means.first().map_or(0, Vec::len)
    }

    /// Gaussians around the given means, each with the covariance of all rows and an equal share.
    pub fn around(means: Vec<Vec<f64>>, rows: &[f64], ridge: f64) -> Self {
        let width = means.first().map_or(1, Vec::len).max(1);
        let count = rows.len() / width;
        let all = weighted_gaussian(rows, width, &vec![1.0; count], ridge);
        Self {
            shares: vec![1.0 / means.len().max(1) as f64; means.len()],
            covariances: vec![all.1; means.len()],
            means,
        }
    }

    fn ready(&self) -> Result<Vec<Ready<'_>>> {
        let width = self.width();
        let each = self.means.iter().zip(&self.covariances).zip(&self.shares);
        each.map(|((mean, covariance), &share)| {
            let factor = Factor::new(width, JitterPolicy::default(), |mut out| {
                for column in 0..width {
                    for row in column..width {
                        out[(row, column)] = covariance[row * width + column];
                    }
                }
            })?;
            Ok(Ready {
                share,
                mean,
                factor,
            })
        })
        .collect()
    }

    /// Log density of each row.
    pub fn log_densities(&self, rows: &[f64]) -> Result<Vec<f64>> {
        let each = self.ready()?;
        let told = |row: &[f64]| log_sum(each.iter().map(|own| own.log_density(row)));
        Ok(rows.chunks_exact(self.width().max(1)).map(told).collect())
    }

    /// Rounds of expectation and maximisation from here; with the mean log density at the start of each. Weights count
    /// rows.
    pub fn climb(
        mut self,
        rows: &[f64],
        weights: &[f64],
        settings: DensitySettings,
    ) -> Result<(Self, Vec<f64>)> {
        let width = self.width();
        if width == 0 || rows.len() != weights.len() * width || weights.is_empty() {
            return Err(Error::Spec(
                "a mixture of Gaussians needs rows as wide as its means".into(),
            ));
        }
        let total: f64 = weights.iter().sum();
        let mut path: Vec<f64> = Vec::new();
        for _ in 0..settings.rounds {
            let each = self.ready()?;
            let mut counts = vec![Vec::with_capacity(weights.len()); each.len()];
            let mut density = 0.0;
            for (row, weight) in rows.chunks_exact(width).zip(weights) {
                let logs: Vec<f64> = each.iter().map(|own| own.log_density(row)).collect();
                density += weight * log_sum(logs.iter().copied());
                for (own, share) in counts.iter_mut().zip(softmax(&logs)) {
                    own.push(weight * share);
                }
            }
            let density = density / total;
            let gain = path.last().map_or(f64::INFINITY, |last| density - last);
            path.push(density);
            if gain < settings.gain {
                break;
            }
            self = Self {
                shares: Vec::new(),
                means: Vec::new(),
                covariances: Vec::new(),
            };
            for counts in &counts {
                let (mean, covariance) = weighted_gaussian(rows, width, counts, settings.ridge);
                self.shares.push(counts.iter().sum::<f64>() / total);
                self.means.push(mean);
                self.covariances.push(covariance);
            }
            // A Gaussian that nobody belongs to would leave the others' shares without a sum.
            let sum: f64 = self.shares.iter().sum();
            for share in &mut self.shares {
                *share = (*share / sum).max(f64::MIN_POSITIVE);
            }
        }
        Ok((self, path))
    }

    /// The last number of a row given the others: a mixture of linear experts whose gate is eq. 7.
    pub fn conditional(&self, rows: &[f64]) -> Result<Vec<LinearVoices>> {
        let width = self.width();
        let last = width - 1;
        let mut experts = Vec::new();
        for (mean, covariance) in self.means.iter().zip(&self.covariances) {
            let factor = Factor::new(last, JitterPolicy::default(), |mut out| {
                for column in 0..last {
                    for row in column..last {
                        out[(row, column)] = covariance[row * width + column];
                    }
                }
            })?;
            let across = Matrix::from_fn(last, 1, |i, _| covariance[last * width + i]);
            let mut slope = across.clone();
            factor.solve(slope.as_mut());
            let told = dot(slope.col_as_slice(0), across.col_as_slice(0));
            let variance = (covariance[width * width - 1] - told).max(0.0);
            experts.push((mean, factor, slope, variance));
        }
        let voices = rows.chunks_exact(last.max(1)).map(|row| {
            let mut found = LinearVoices::default();
            let mut logs = Vec::new();
            for ((mean, factor, slope, variance), share) in experts.iter().zip(&self.shares) {
                let gap: Vec<f64> = row.iter().zip(*mean).map(|(x, m)| x - m).collect();
                found
                    .means
                    .push(mean[last] + dot(slope.col_as_slice(0), &gap));
                found.variances.push(*variance);
                let mut gap = Matrix::from_fn(last, 1, |i, _| gap[i]);
                factor.whiten_block(gap.as_mut());
                let square = dot(gap.col_as_slice(0), gap.col_as_slice(0));
                logs.push(share.ln() - 0.5 * (square + factor.log_determinant()));
            }
            found.shares = softmax(&logs);
            found
        });
        Ok(voices.collect())
    }
}

/// What linear experts say of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearVoices {
    /// Share of each.
    pub shares: Vec<f64>,
    /// Mean of each.
    pub means: Vec<f64>,
    /// Variance of each.
    pub variances: Vec<f64>,
}

/// Shares of experts at rows, where each expert has a density of the inputs it was trained on (eq. 7).
pub fn density_gate(
    shares: &[f64],
    densities: &[GaussianMixture],
    rows: &[f64],
) -> Result<Vec<Vec<f64>>> {
    let each: Vec<Vec<f64>> = densities
        .iter()
        .map(|density| density.log_densities(rows))
        .collect::<Result<_>>()?;
    let count = each.first().map_or(0, Vec::len);
    Ok((0..count)
        .map(|row| {
            let logs: Vec<f64> = shares
                .iter()
                .zip(&each)
                .map(|(share, logs)| share.ln() + logs[row])
                .collect();
            softmax(&logs)
        })
        .collect())
}

/// Mean and covariance of weighted rows; a tiny count is added, so that a Gaussian without rows stays finite.
fn weighted_gaussian(
    rows: &[f64],
    width: usize,
    counts: &[f64],
    ridge: f64,
) -> (Vec<f64>, Vec<f64>) {
    let total = counts.iter().sum::<f64>() + 10.0 * f64::EPSILON;
    let mut mean = vec![0.0; width];
    for (row, count) in rows.chunks_exact(width).zip(counts) {
        for (sum, value) in mean.iter_mut().zip(row) {
            *sum += count * value;
        }
    }
    mean.iter_mut().for_each(|sum| *sum /= total);
    let mut covariance = vec![0.0; width * width];
    for (row, count) in rows.chunks_exact(width).zip(counts) {
        for i in 0..width {
            let gap = count * (row[i] - mean[i]);
            for j in 0..width {
                covariance[i * width + j] += gap * (row[j] - mean[j]);
            }
        }
    }
    for (place, entry) in covariance.iter_mut().enumerate() {
        *entry /= total;
        if place % (width + 1) == 0 {
            *entry += ridge;
        }
    }
    (mean, covariance)
}
