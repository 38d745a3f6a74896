//! Random numbers from one portable generator.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

/// Which of a seed's independent streams to draw from.
#[derive(Clone, Copy)]
pub enum Stream {
    /// The rows of a table.
    Rows = 0,
    /// The function that the rows follow.
    Function = 1,
    /// The models that learn from the rows.
    Models = 2,
}

/// A source of random numbers.
pub struct Draw {
    generator: ChaCha12Rng,
}

impl Draw {
    pub fn new(seed: u64, stream: Stream) -> Self {
        let mut generator = ChaCha12Rng::seed_from_u64(seed);
        generator.set_stream(stream as u64);
        Self { generator }
    }

    /// Uniform on [0, 1): the upper 53 bits, each value a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.generator.next_u64() >> 11) as f64 * STEP
    }

    /// Uniform on [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform on 0, 1, .., count - 1. The bias of the plain product is below 2^-53 times the count.
    pub fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Standard normal (Box and Muller 1958). The sine partner is thrown away: every draw then uses exactly two
    /// uniform numbers, whatever was drawn before.
    pub fn normal(&mut self) -> f64 {
        // 1 - u is in (0, 1], so that the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_and_normal_numbers_have_their_moments() {
        const COUNT: usize = 200_000;
        let mut draw = Draw::new(3, Stream::Rows);
        let uniform: Vec<f64> = (0..COUNT).map(|_| draw.uniform()).collect();
        let normal: Vec<f64> = (0..COUNT).map(|_| draw.normal()).collect();
        let moment = |values: &[f64], power: i32| {
            values.iter().map(|value| value.powi(power)).sum::<f64>() / COUNT as f64
        };
        // Five standard errors of each moment: sqrt(variance of z^k / COUNT).
        let allowed = |variance: f64| 5.0 * (variance / COUNT as f64).sqrt();
        assert!(uniform.iter().all(|value| (0.0..1.0).contains(value)));
        assert!((moment(&uniform, 1) - 0.5).abs() < allowed(1.0 / 12.0));
        assert!((moment(&uniform, 2) - 1.0 / 3.0).abs() < allowed(4.0 / 45.0));
        assert!(moment(&normal, 1).abs() < allowed(1.0));
        assert!((moment(&normal, 2) - 1.0).abs() < allowed(2.0));
        assert!(moment(&normal, 3).abs() < allowed(15.0));
        assert!((moment(&normal, 4) - 3.0).abs() < allowed(96.0));
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let rows = Draw::new(3, Stream::Rows).uniform();
        let function = Draw::new(3, Stream::Function).uniform();
        assert!(rows != function);
    }
}
