//! Friedman's first regression function: two inputs that interact, three that do not, and the rest without effect.

use crate::draw::Draw;
use crate::process::{Outcome, Process, numbered};

/// 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 (Friedman 1991, Multivariate adaptive regression splines).
///
/// ```
/// let value = quorate_paper::friedman(&[0.5, 1.0, 0.0, 0.3, 0.2]);
/// assert!((value - (10.0 + 5.0 + 3.0 + 1.0)).abs() < 1e-12);
/// ```
///
/// # Panics
/// With fewer than five inputs.
pub fn friedman(x: &[f64]) -> f64 {
    10.0 * (std::f64::consts::PI * x[0] * x[1]).sin()
        + 20.0 * (x[2] - 0.5).powi(2)
        + 10.0 * x[3]
        + 5.0 * x[4]
}

/// Inputs uniform on [0, 1), y the function plus Gaussian noise.
pub struct Friedman {
    /// At least five.
    pub inputs: usize,
    pub noise: f64,
}

impl Process for Friedman {
    fn inputs(&self) -> Vec<String> {
        numbered(self.inputs)
    }

    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome {
        inputs.fill_with(|| draw.uniform());
        let truth = friedman(inputs);
        Outcome {
            target: truth + self.noise * draw.normal(),
            truth: Some(truth),
        }
    }
}
