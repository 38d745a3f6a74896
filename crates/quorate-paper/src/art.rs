//! The artificial data of two papers: a map made of five normalised Gaussian bumps.

use crate::draw::{Draw, Stream};
use crate::process::{Outcome, Process, numbered};

/// Heights of the bumps unless told otherwise (Tresp 2000, The Generalized Bayesian Committee Machine, App. C).
const HEIGHTS: [f64; 5] = [1.16, -0.63, -0.08, 0.35, -0.70];
/// Width of every bump unless told otherwise, sigma_a in the same place.
const WIDTH: f64 = 0.36;

/// Five normalised Gaussian basis functions with given centres.
#[derive(Clone, Debug)]
pub struct Bumps {
    centres: Vec<[f64; 5]>,
    heights: [f64; 5],
    width: f64,
}

impl Bumps {
    /// Bumps whose centres are drawn uniformly from the unit hypercube [0, 1]^inputs, as the paper says, while the
    /// inputs of its rows fill [-1, 1]^inputs.
    pub fn draw(inputs: usize, seed: u64) -> Self {
        let mut draw = Draw::new(seed, Stream::Function);
        let centres = (0..inputs)
            .map(|_| std::array::from_fn(|_| draw.uniform()))
            .collect();
        Self::with_centres(centres)
    }

    /// Bumps with the given centres: for each input, its value at the five centres.
    pub fn with_centres(centres: Vec<[f64; 5]>) -> Self {
        Self {
            centres,
            heights: HEIGHTS,
            width: WIDTH,
        }
    }

    /// The same with bumps of another width.
    pub fn with_width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The same with bumps of other heights.
    pub fn with_heights(self, heights: [f64; 5]) -> Self {
        Self { heights, ..self }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.centres.len()
    }

    /// The map sum_j a_j g_j(x) / sum_j g_j(x) with g_j(x) = exp(-|x - centre_j|^2 / (2 sigma_a^2)) (GBCM, App. C).
    ///
    /// Every exponent is measured from the largest one, which cancels in the quotient: in many dimensions all bumps
    /// would otherwise underflow together.
    pub fn value(&self, input: &[f64]) -> f64 {
        let mut exponents = [0.0; 5];
        for (value, centres) in input.iter().zip(&self.centres) {
            for (exponent, centre) in exponents.iter_mut().zip(centres) {
                *exponent -= (value - centre).powi(2) / (2.0 * self.width * self.width);
            }
        }
        let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bumps = exponents.map(|exponent| (exponent - largest).exp());
        let weighted: f64 = self.heights.iter().zip(bumps).map(|(a, g)| a * g).sum();
        weighted / bumps.iter().sum::<f64>()
    }
}

/// Rows on the map: the noisy value itself (Mixtures of Gaussian Processes, table 1), or its sign as a class.
pub struct Art {
    pub bumps: Bumps,
    /// Standard deviation of the noise.
    pub noise: f64,
    pub classes: bool,
}

impl Process for Art {
    fn inputs(&self) -> Vec<String> {
        numbered(self.bumps.inputs())
    }

    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome {
        inputs.fill_with(|| draw.between(-1.0, 1.0));
        let truth = self.bumps.value(inputs);
        let noisy = truth + self.noise * draw.normal();
        let target = if self.classes {
            // (1 + sign) / 2 of App. C.
            f64::from(noisy > 0.0)
        } else {
            noisy
        };
        Outcome {
            target,
            truth: Some(truth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_the_formula_of_the_appendix() {
        // One input, centres 0, 0.25, 0.5, 0.75, 1, asked at 0.25: squared distances 1/16, 0, 1/16, 1/4, 9/16.
        let bumps = Bumps::with_centres(vec![[0.0, 0.25, 0.5, 0.75, 1.0]]);
        let two_squares = 2.0 * 0.36_f64 * 0.36;
        let near = (-0.0625 / two_squares).exp();
        let far = (-0.25 / two_squares).exp();
        let farthest = (-0.5625 / two_squares).exp();
        let above = 1.16 * near - 0.63 - 0.08 * near + 0.35 * far - 0.70 * farthest;
        let below = near + 1.0 + near + far + farthest;
        assert!((bumps.value(&[0.25]) - above / below).abs() < 1e-14);
        // The same with a calculator: near 0.785742, far 0.381171, farthest 0.114162.
        assert!((bumps.value(&[0.25]) - 0.272_098_3 / 3.066_817_5).abs() < 1e-7);
    }

    #[test]
    fn at_equal_distance_from_all_centres_the_map_is_the_mean_height() {
        let bumps = Bumps::with_centres(vec![[0.5; 5]; 3]);
        let mean = (1.16 - 0.63 - 0.08 + 0.35 - 0.70) / 5.0;
        assert!((bumps.value(&[0.1, -0.9, 0.4]) - mean).abs() < 1e-15);
    }

    #[test]
    fn far_from_every_centre_the_nearest_bump_decides() {
        let bumps = Bumps::with_centres(vec![[0.0, 0.2, 0.4, 0.6, 0.8]; 60]);
        // Without the shift every bump would be exp(-23,000) = 0 and the quotient not a number.
        assert!((bumps.value(&[-9.0; 60]) - 1.16).abs() < 1e-12);
    }
}
