//! Breiman's waveforms: three classes, each a random mixture of two of three triangular waves.

use crate::draw::Draw;
use crate::process::{Outcome, Process, numbered};

/// Length of a wave.
pub const LENGTH: usize = 21;

/// The two waves that each class mixes.
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// The three base waves (Breiman, Friedman, Olshen and Stone 1984, Classification and Regression Trees, section 2.6.2):
/// h1(i) = max(6 - |i - 11|, 0), h2(i) = h1(i - 4), h3(i) = h1(i + 4), for i = 1 .. 21.
///
/// ```
/// let [first, second, third] = quorate_paper::base_waves();
/// assert_eq!((first[10], second[14], third[6]), (6.0, 6.0, 6.0));
/// ```
pub fn base_waves() -> [[f64; LENGTH]; 3] {
    [11.0, 15.0, 7.0].map(|peak: f64| {
        std::array::from_fn(|index| (6.0 - ((index + 1) as f64 - peak).abs()).max(0.0))
    })
}

/// u h_a + (1 - u) h_b plus noise on every input, u uniform, the class (0, 1 or 2) choosing the pair a, b.
pub struct Waveform {
    /// At least 21; the inputs behind those are standard normal and say nothing.
    pub inputs: usize,
    /// Standard deviation of the noise on the waves.
    pub noise: f64,
}

impl Process for Waveform {
    fn inputs(&self) -> Vec<String> {
        numbered(self.inputs)
    }

    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome {
        let waves = base_waves();
        let class = draw.below(PAIRS.len());
        let (a, b) = PAIRS[class];
        let share = draw.uniform();
        let (wave, rest) = inputs.split_at_mut(LENGTH);
        for (index, value) in wave.iter_mut().enumerate() {
            let mixture = share * waves[a][index] + (1.0 - share) * waves[b][index];
            *value = mixture + self.noise * draw.normal();
        }
        rest.fill_with(|| draw.normal());
        Outcome {
            target: class as f64,
            truth: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Stream;

    /// Probability density of a wave under a class, up to a factor: the integral over the share u by Simpson's rule.
    fn density(inputs: &[f64], class: usize) -> f64 {
        const STEPS: usize = 200;
        let waves = base_waves();
        let (a, b) = PAIRS[class];
        let at = |share: f64| {
            let square: f64 = (0..LENGTH)
                .map(|i| inputs[i] - share * waves[a][i] - (1.0 - share) * waves[b][i])
                .map(|residual| residual * residual)
                .sum();
            (-0.5 * square).exp()
        };
        (0..=STEPS)
            .map(|step| {
                let weight = match step {
                    0 | STEPS => 1.0,
                    odd if odd % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * at(step as f64 / STEPS as f64)
            })
            .sum()
    }

    #[test]
    fn the_best_possible_classifier_errs_on_about_fourteen_percent() {
        const ROWS: usize = 20_000;
        let process = Waveform {
            inputs: LENGTH,
            noise: 1.0,
        };
        let mut draw = Draw::new(11, Stream::Rows);
        let mut inputs = [0.0; LENGTH];
        let mut counts = [0; 3];
        let mut errors = 0;
        for _ in 0..ROWS {
            let class = process.row(&mut draw, &mut inputs).target as usize;
            counts[class] += 1;
            let densities = [0, 1, 2].map(|candidate| density(&inputs, candidate));
            let best = (0..3).max_by(|&a, &b| densities[a].total_cmp(&densities[b]));
            errors += usize::from(best != Some(class));
        }
        // Published: 0.14; five standard errors at 20,000 rows are 0.012.
        let rate = errors as f64 / ROWS as f64;
        assert!((0.128..0.152).contains(&rate), "error rate {rate}");
        for count in counts {
            let deviation = (ROWS as f64 * 2.0 / 9.0).sqrt();
            assert!((count as f64 - ROWS as f64 / 3.0).abs() < 5.0 * deviation);
        }
    }
}
