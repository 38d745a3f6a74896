//! The softmax averaged over a Gaussian belief about all classes.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use super::ClassLatent;
use crate::Result;
use crate::likelihood::{normal_quantile, softmax};
use crate::linalg::{Factor, JitterPolicy, Matrix};

/// Pairs of points z and -z.
const PAIRS: usize = 1024;
/// Seed of the scrambling: the same for every model, so that the same belief gives the same probabilities.
const SEED: u64 = 2026;

/// Fixed points with which beliefs are averaged: a scrambled Halton sequence (Owen 2017) through the normal quantile, each
/// point with its mirror image, so that what is linear in the latent values cancels.
///
/// Over random beliefs of 3, 6, 10 and 26 classes the largest error of a probability is about 0.0005, 0.001, 0.0015 and
/// 0.0025, a fifth to a half of what as many random draws give.
#[derive(Clone, Debug)]
pub struct SoftmaxAverage {
    /// Classes x pairs.
    normals: Matrix,
}

impl SoftmaxAverage {
    /// Points for so many classes.
    pub fn new(classes: usize) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(SEED);
        let mut normals = Matrix::zeros(classes, PAIRS);
        for (class, base) in primes(classes).into_iter().enumerate() {
            let scrambled = ScrambledDigits::new(base, &mut random);
            for pair in 0..PAIRS {
                normals[(class, pair)] = normal_quantile(scrambled.inverse(pair));
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

/// The digits of a number behind the point in reverse order, each place with a permutation of its own.
struct ScrambledDigits {
    base: usize,
    permutations: Vec<Vec<usize>>,
}

impl ScrambledDigits {
    fn new(base: usize, random: &mut ChaCha12Rng) -> Self {
        // Digits until a step is below rounding in what follows.
        let places = (28.0 / (base as f64).ln()).ceil() as usize;
        let shuffled = |_| {
            let mut digits: Vec<usize> = (0..base).collect();
            for last in (1..base).rev() {
                let place = (random.next_u64() % (last as u64 + 1)) as usize;
                digits.swap(last, place);
            }
            digits
        };
        Self {
            base,
            permutations: (0..places).map(shuffled).collect(),
        }
    }

    /// A number strictly between 0 and 1.
    fn inverse(&self, index: usize) -> f64 {
        let (mut rest, mut unit, mut sum) = (index, 1.0, 0.0);
        for digits in &self.permutations {
            unit /= self.base as f64;
            sum += unit * digits[rest % self.base] as f64;
            rest /= self.base;
        }
        (sum + 0.5 * unit).clamp(1e-12, 1.0 - 1e-12)
    }
}

fn primes(count: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(count);
    let mut next = 2;
    while found.len() < count {
        if found.iter().all(|prime| next % prime != 0) {
            found.push(next);
        }
        next += 1;
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::posterior::standard_normal;

    #[test]
    fn averages_agree_with_many_random_draws() {
        let mut random = ChaCha12Rng::seed_from_u64(5);
        for count in [2, 3, 10] {
            let average = SoftmaxAverage::new(count);
            let mean: Vec<f64> = (0..count).map(|_| standard_normal(&mut random)).collect();
            let root = Matrix::from_fn(count, count, |_, _| standard_normal(&mut random));
            let covariance = &root * root.transpose();
            let latent = ClassLatent {
                mean: mean.clone(),
                covariance,
            };
            let ours = average.of(&latent).unwrap();
            assert!((ours.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let draws = 100_000;
            let (mut total, mut pi) = (vec![0.0; count], vec![0.0; count]);
            for _ in 0..draws {
                let z: Vec<f64> = (0..count).map(|_| standard_normal(&mut random)).collect();
                let f: Vec<f64> = (0..count)
                    .map(|c| mean[c] + (0..count).map(|d| root[(c, d)] * z[d]).sum::<f64>())
                    .collect();
                softmax(&f, &mut pi);
                for c in 0..count {
                    total[c] += pi[c] / f64::from(draws);
                }
            }
            for c in 0..count {
                // Four standard errors of the draws, and our own error.
                let bound = 4.0 * (0.25 / f64::from(draws)).sqrt() + 0.003;
                assert!(
                    (ours[c] - total[c]).abs() < bound,
                    "{count} {c}: {} {}",
                    ours[c],
                    total[c]
                );
            }
        }
    }
}
