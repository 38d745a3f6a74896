//! What generators of numbers have in common.

use crate::draw::Draw;

/// One drawn row, apart from its inputs.
pub struct Outcome {
    /// The target as a table would show it.
    pub target: f64,
    /// The target without noise, where that means something.
    pub truth: Option<f64>,
}

/// A way of drawing rows of numbers.
pub trait Process {
    /// Names of the input columns.
    fn inputs(&self) -> Vec<String>;

    /// Draws one row: fills its inputs and returns its target.
    fn row(&self, draw: &mut Draw, inputs: &mut [f64]) -> Outcome;
}

/// `x1`, `x2`, .. for as many inputs.
pub fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|index| format!("x{index}")).collect()
}
