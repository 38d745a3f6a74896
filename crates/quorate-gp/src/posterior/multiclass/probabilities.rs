//! The softmax averaged over a Gaussian belief about all classes.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::ClassLatent;
use crate::Result;
use crate::likelihood::softmax;
use crate::linalg::{Factor, JitterPolicy, Matrix};
use crate::posterior::standard_normal;

/// Pairs of draws z and -z.
const PAIRS: usize = 1000;
/// Seed of the draws: the same for every model, so that the same belief gives the same probabilities.
const SEED: u64 = 2026;

/// Fixed draws with which beliefs are averaged: antithetic pairs, scaled so that each coordinate's variance is exactly 1.
///
/// The standard error of a probability p is at most `sqrt(p (1 - p) / 2000)`, about 0.011 where the belief knows nothing,
/// and far below that where it matters: what is linear in the latent values cancels within a pair.
#[derive(Clone, Debug)]
pub struct SoftmaxAverage {
    /// Classes x pairs.
    normals: Matrix,
}

impl SoftmaxAverage {
    /// Draws for so many classes.
    pub fn new(classes: usize) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(SEED);
        let mut normals = Matrix::from_fn(classes, PAIRS, |_, _| standard_normal(&mut random));
        for class in 0..classes {
            let square: f64 = (0..PAIRS).map(|p| normals[(class, p)].powi(2)).sum();
            let scale = (PAIRS as f64 / square).sqrt();
            for pair in 0..PAIRS {
                normals[(class, pair)] *= scale;
            }
        }
        Self { normals }
    }

    /// Class probabilities under a belief.
    pub fn of(&self, latent: &ClassLatent) -> Result<Vec<f64>> {
        let count = latent.mean.len();
        let mut total = vec![0.0; count];
        if (0..count).all(|c| latent.covariance[(c, c)] <= 0.0) {
            softmax(&latent.mean, &mut total);
            return Ok(total);
        }
        let policy = JitterPolicy {
            start: 0.0,
            first: 1e-14,
            last: 1e-4,
        };
        let factor = Factor::new(count, policy, |mut out| out.copy_from(&latent.covariance))?;
        let moves = factor.colour(self.normals.as_ref());
        let (mut f, mut pi) = (vec![0.0; count], vec![0.0; count]);
        for pair in 0..PAIRS {
            for sign in [1.0, -1.0] {
                for c in 0..count {
                    f[c] = latent.mean[c] + sign * moves[(c, pair)];
                }
                softmax(&f, &mut pi);
                for (sum, own) in total.iter_mut().zip(&pi) {
                    *sum += own;
                }
            }
        }
        let draws = 2.0 * PAIRS as f64;
        Ok(total.iter().map(|sum| sum / draws).collect())
    }
}
