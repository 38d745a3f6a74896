//! Draws from a joint Gaussian belief.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::Result;
use crate::gaussian::Joint;
use crate::linalg::{Factor, JitterPolicy, Matrix};

/// Draws `count` functions at the query points; column c is draw c. `noise` is the variance added to each point.
///
/// The covariance of close queries is singular to rounding, so more jitter is allowed than for conditioning: at most
/// 1e-4 of the mean variance, a hundredth of a standard deviation.
pub fn draw(joint: &Joint, noise: &[f64], count: usize, seed: u64) -> Result<Matrix> {
    let size = joint.covariance.nrows();
    let policy = JitterPolicy {
        start: 0.0,
        first: 1e-14,
        last: 1e-4,
    };
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let normals = Matrix::from_fn(size, count, |_, _| standard_normal(&mut random));
    let varies = (0..size).any(|i| joint.covariance[(i, i)] + noise[i] > 0.0);
    let mut draws = if varies {
        let factor = Factor::new(size, policy, |mut out| {
            out.copy_from(&joint.covariance);
            for i in 0..size {
                out[(i, i)] += noise[i];
            }
        })?;
        factor.colour(normals.as_ref())
    } else {
        Matrix::zeros(size, count)
    };
    for column in 0..count {
        for row in 0..size {
            draws[(row, column)] += joint.mean[(row, 0)];
        }
    }
    Ok(draws)
}

/// One standard normal number by the polar method: the same on every platform for a given generator.
pub(crate) fn standard_normal(random: &mut impl Rng) -> f64 {
    loop {
        let u: f64 = 2.0 * uniform(random) - 1.0;
        let v: f64 = 2.0 * uniform(random) - 1.0;
        let square = u * u + v * v;
        if square > 0.0 && square < 1.0 {
            return u * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// A number in [0, 1) with 53 random bits.
fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
