//! The toy data of Latouche's thesis.

use crate::draw::Draw;
use crate::process::{Outcome, Process};

/// sin(2 pi x) (Latouche 2007, Distributed Machine Learning, section 2.3.1).
///
/// ```
/// assert!((quorate_paper::sine(0.25) - 1.0).abs() < 1e-15);
/// ```
pub fn sine(x: f64) -> f64 {
    (std::f64::consts::TAU * x).sin()
}

/// x uniform on [0, 2), y = sin(2 pi x) plus Gaussian noise.
pub struct Sine {
    pub noise: f64,
}

impl Process for Sine {
    fn inputs(&self) -> Vec<String> {
        vec!["x".into()]
    }

    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome {
        let x = draw.between(0.0, 2.0);
        inputs.fill(x);
        let truth = sine(x);
        Outcome {
            target: truth + self.noise * draw.normal(),
            truth: Some(truth),
        }
    }
}
