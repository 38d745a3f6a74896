//! The sites of expectation propagation: one Gaussian factor for each latent value, found by matching moments.

use super::mixing::Mixing;
use crate::likelihood::{Latent, Likelihood, Observations, Tilted};
use crate::linalg::{Factor, Matrix, MatrixRef, dot, symmetric_times};
use crate::posterior::laplace::{factor_scaled, scaled_solve};

use crate::{Error, Result};

const MOST_SWEEPS: usize = 300;
/// Sweeps end when no marginal moves by more than this share of its deviation.
const SETTLED: f64 = 1e-9;
/// Sweeps are mixed from where they move no marginal by more.
const NEAR: f64 = 0.1;

/// Sites at a fixed point, and what was computed there.
#[derive(Clone, Debug)]
pub(crate) struct Sites {
    /// `b = (I - R K) nu`, with which the mean at a query is `k*' b`.
    pub weights: Vec<f64>,
    /// `tau^1/2`.
    pub root: Vec<f64>,
    /// Factor of `I + D K D`, `D = tau^1/2`.
    pub factor: Factor,
    /// `L^-1` of that factor.
    pub inverse: Matrix,
    /// Means and variances of the latent values.
    pub marginals: Vec<Latent>,
    pub log_evidence: f64,
    pub sweeps: usize,
}

/// Finds the fixed point under the covariance K (both halves written).
///
/// All sites are moved together between two factorisations (parallel updates with damping), instead of one after the
/// other with a rank-one update each as in Rasmussen and Williams 2006, alg. 3.5: the fixed point is the same, and the
/// work is done in matrix products. Damping grows when the sweeps stop approaching each other; near the fixed point they are mixed.
pub(crate) fn find_sites(
    covariance: MatrixRef<'_>,
    likelihood: &Likelihood,
    seen: &Observations,
) -> Result<Sites> {
    let size = covariance.nrows();
    let mut tau = vec![0.0; size];
    let mut nu = vec![0.0; size];
    let mut memory = (Matrix::zeros(size, size), Matrix::zeros(size, size));
    let mut mixing = Mixing::default();
    let (mut share, mut last) = (1.0_f64, f64::INFINITY);
    for sweep in 1..=MOST_SWEEPS {
        let root: Vec<f64> = tau.iter().map(|t: &f64| t.sqrt()).collect();
        let factor = factor_scaled(covariance, &root, memory.0)?;
        let inverse = factor.inverse_lower_in(memory.1);
        let spread = symmetric_times(covariance, &nu);
        let back = scaled_solve(&root, &factor, &spread);
        let weights: Vec<f64> = nu.iter().zip(&back).map(|(n, r)| n - r).collect();
        let mean = symmetric_times(covariance, &weights);
        let variance = marginal_variances(covariance, &root, &tau, &factor, &inverse);
        let marginals: Vec<Latent> = mean
            .iter()
            .zip(&variance)
            .map(|(&mean, &variance)| Latent { mean, variance })
            .collect();
        let (cavities, tilted) = match_moments(likelihood, seen, &marginals, &tau, &nu)?;
        let mut moved = 0.0_f64;
        for i in 0..size {
            moved = moved.max((tilted[i].mean - mean[i]).abs() / variance[i].sqrt());
            moved = moved.max((tilted[i].variance / variance[i] - 1.0).abs());
        }
        if moved < SETTLED {
            let log_evidence = log_evidence(&factor, &marginals, &cavities, &tilted, &tau, &nu);
            if !log_evidence.is_finite() {
                return Err(Error::NotFinite {
                    what: "the evidence of expectation propagation",
                });
            }
            return Ok(Sites {
                weights,
                root,
                factor,
                inverse,
                marginals,
                log_evidence,
                sweeps: sweep,
            });
        }
        // Far away the map is anything but linear, and memory leads astray.
        if moved > NEAR || moved > last {
            mixing = Mixing::default();
        }
        if moved > 0.9 * last && moved > NEAR {
            share = (0.7 * share).max(0.1);
        }
        last = moved;
        let mut way = vec![0.0; 2 * size];
        let mut weights = vec![0.0; 2 * size];
        for i in 0..size {
            let cavity = &cavities[i];
            way[i] = 1.0 / tilted[i].variance - 1.0 / cavity.variance - tau[i];
            way[size + i] =
                tilted[i].mean / tilted[i].variance - cavity.mean / cavity.variance - nu[i];
            weights[i] = variance[i];
            weights[size + i] = variance[i].sqrt();
        }
        let next = mixing.next([tau, nu].concat(), way, share, &weights);
        // A log-concave likelihood never takes precision away; a remainder below zero is rounding or a step too far.
        tau = next[..size].iter().map(|own| own.max(0.0)).collect();
        nu = next[size..].to_vec();
        memory = (factor.into_matrix(), inverse);
    }
    Err(Error::NotConverged {
        what: "expectation propagation",
        steps: MOST_SWEEPS,
    })
}

/// `Sigma_ii` of `Sigma = K - K R K`: from `D Sigma D = I - B^-1` where the site says anything, else from its column.
fn marginal_variances(
    covariance: MatrixRef<'_>,
    root: &[f64],
    tau: &[f64],
    factor: &Factor,
    inverse: &Matrix,
) -> Vec<f64> {
    let weak: Vec<usize> = (0..tau.len())
        .filter(|&i| tau[i] * covariance[(i, i)] < 1e-3)
        .collect();
    let mut columns = Matrix::from_fn(tau.len(), weak.len(), |row, c| {
        root[row] * covariance[(row, weak[c])]
    });
    factor.whiten(columns.as_mut());
    let mut variances: Vec<f64> = (0..tau.len())
        .map(|i| {
            let own = &inverse.col_as_slice(i)[i..];
            (1.0 - dot(own, own)) / tau[i]
        })
        .collect();
    for (c, &i) in weak.iter().enumerate() {
        let column = columns.col_as_slice(c);
        variances[i] = covariance[(i, i)] - dot(column, column);
    }
    variances
}

/// Each marginal without its own site, and the moments after its own likelihood.
fn match_moments(
    likelihood: &Likelihood,
    seen: &Observations,
    marginals: &[Latent],
    tau: &[f64],
    nu: &[f64],
) -> Result<(Vec<Latent>, Vec<Tilted>)> {
    let mut cavities = Vec::with_capacity(tau.len());
    let mut tilted = Vec::with_capacity(tau.len());
    for (i, marginal) in marginals.iter().enumerate() {
        let precision = 1.0 / marginal.variance - tau[i];
        let cavity = Latent {
            mean: (marginal.mean / marginal.variance - nu[i]) / precision,
            variance: 1.0 / precision,
        };
        if !(cavity.variance > 0.0 && cavity.variance.is_finite() && cavity.mean.is_finite()) {
            return Err(Error::NotFinite {
                what: "a cavity of expectation propagation",
            });
        }
        tilted.push(likelihood.tilted(seen.of_group(i), cavity));
        cavities.push(cavity);
    }
    Ok((cavities, tilted))
}

/// Rasmussen and Williams 2006, eq. 3.73-3.74, with `nu' Sigma nu = nu' mean`.
fn log_evidence(
    factor: &Factor,
    marginals: &[Latent],
    cavities: &[Latent],
    tilted: &[Tilted],
    tau: &[f64],
    nu: &[f64],
) -> f64 {
    let mut sum = -0.5 * factor.log_determinant();
    for i in 0..tau.len() {
        let cavity = &cavities[i];
        let (t, total) = (1.0 / cavity.variance, 1.0 / cavity.variance + tau[i]);
        sum += tilted[i].log_normaliser
            + 0.5 * (tau[i] * cavity.variance).ln_1p()
            + 0.5 * nu[i] * marginals[i].mean
            - 0.5 * nu[i] * nu[i] / total
            + 0.5 * cavity.mean * t / total * (tau[i] * cavity.mean - 2.0 * nu[i]);
    }
    sum
}
