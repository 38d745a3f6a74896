//! The step of figure 1 in Mixtures of Gaussian Processes.

use crate::draw::Draw;
use crate::process::{Outcome, Process};

/// -1 left of zero, 1 from zero on (Tresp 2001, Mixtures of Gaussian Processes, fig. 1; the height is our choice).
///
/// ```
/// assert_eq!(quorate_paper::step(-0.1), -1.0);
/// assert_eq!(quorate_paper::step(0.0), 1.0);
/// ```
pub fn step(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

/// x standard normal, y the step, plus Gaussian noise if wished; the paper mentions none.
pub struct Step {
    pub noise: f64,
}

impl Process for Step {
    fn inputs(&self) -> Vec<String> {
        vec!["x".into()]
    }

    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome {
        let x = draw.normal();
        inputs.fill(x);
        let truth = step(x);
        Outcome {
            target: truth + self.noise * draw.normal(),
            truth: Some(truth),
        }
    }
}
