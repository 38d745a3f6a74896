//! What the tests of latent functions share: a kernel, rows that look random, and targets of every likelihood.
#![allow(clippy::unwrap_used)]

use quorate_gp::data::{ColumnKind, Dataset, InputColumn};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::likelihood::{
    Extras, Gamma, InverseGaussian, Likelihood, NegativeBinomial, Normal, Observations, StudentT,
    Weibull,
};

pub const WIDTH: usize = 2;

pub fn kernel(text: &str) -> BoundKernel {
    let column = |name: &str| InputColumn {
        name: name.into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    let kernel: Kernel = text.parse().unwrap();
    kernel.bind(&[column("a"), column("b")]).unwrap()
}

pub const KERNEL: &str = "1.3 * se(ard, length_scale=[0.9, 1.7]) + 0.2 * constant";

/// Numbers that look random and are the same everywhere.
pub fn scattered(count: usize, salt: u64) -> Vec<f64> {
    let mut state = salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 33) as f64 / (1u64 << 31) as f64) * 2.0 - 1.0
        })
        .collect()
}

pub fn inputs(rows: usize) -> Vec<f64> {
    scattered(rows * WIDTH, 7).iter().map(|v| 2.0 * v).collect()
}

/// Targets that each likelihood can produce, drawn by quantiles of a smooth function of the inputs.
pub fn problem(likelihood: &Likelihood, rows: usize) -> (Dataset, Observations) {
    let x = inputs(rows);
    let chance = scattered(rows, 11);
    let values: Vec<f64> = (0..rows)
        .map(|row| {
            let f = (1.5 * x[2 * row]).sin() + 0.5 * x[2 * row + 1];
            let level = (0.5 * (chance[row] + 1.0)).clamp(0.01, 0.99);
            let belief = quorate_gp::likelihood::Latent {
                mean: f,
                variance: 0.0,
            };
            likelihood.quantile(belief, level)
        })
        .collect();
    let offsets: Vec<f64> = scattered(rows, 13).iter().map(|v| 0.3 * v).collect();
    let observed: Vec<bool> = (0..rows)
        .map(|row| !(likelihood.takes_censoring() && row % 4 == 0))
        .collect();
    let data = Dataset::new(x, WIDTH, values, None, None).unwrap();
    let extras = Extras {
        offset: Some(&offsets),
        observed: Some(&observed),
    };
    let seen = Observations::of(&data, extras).unwrap();
    (data, seen)
}

pub fn likelihoods() -> Vec<Likelihood> {
    let mut all: Vec<Likelihood> = ["bernoulli", "probit", "poisson", "exponential", "hinge"]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    all.push(Likelihood::Gaussian(Normal { variance: 0.3 }));
    all.push(Likelihood::NegativeBinomial(NegativeBinomial { size: 1.7 }));
    all.push(Likelihood::Gamma(Gamma { shape: 2.5 }));
    all.push(Likelihood::InverseGaussian(InverseGaussian { shape: 2.0 }));
    all.push(Likelihood::Weibull(Weibull {
        shape: 1.6,
        fixed: false,
    }));
    all.push(Likelihood::StudentT(StudentT {
        degrees: 3.0,
        scale: 0.4,
    }));
    all
}

pub fn coordinates(kernel: &BoundKernel, likelihood: &Likelihood) -> Vec<f64> {
    let own = likelihood.parameters();
    let all = kernel.parameters().into_iter().chain(own);
    all.map(|p| p.coordinate()).collect()
}
