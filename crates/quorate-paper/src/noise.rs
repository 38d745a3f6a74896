//! Targets that nothing explains: an honest model predicts their mean and deviation, and no more.

use crate::draw::Draw;
use crate::process::{Outcome, Process, numbered};

/// Standard normal inputs, and Gaussian targets that do not depend on them.
pub struct Noise {
    pub inputs: usize,
    pub noise: f64,
}

impl Process for Noise {
    fn inputs(&self) -> Vec<String> {
        numbered(self.inputs)
    }

    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome {
        inputs.fill_with(|| draw.normal());
        Outcome {
            target: self.noise * draw.normal(),
            truth: Some(0.0),
        }
    }
}
