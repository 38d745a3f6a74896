//! A network with one hidden layer: its output and the slope of that in every weight.

use quorate_gp::linalg::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// `f(x) = c + sum_j v_j tanh(b_j + sum_i w_ji x_i)`.
///
/// Weights stand in the order `b_0, w_00, .., b_1, w_10, .., c, v_0, v_1, ..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Inputs.
    pub inputs: usize,
    /// Hidden units.
    pub hidden: usize,
}

impl Network {
    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.hidden * (self.inputs + 1) + self.hidden + 1
    }

    fn unit(&self, weights: &[f64], unit: usize, row: &[f64]) -> f64 {
        let own = &weights[unit * (self.inputs + 1)..(unit + 1) * (self.inputs + 1)];
        let sum: f64 = own[1..].iter().zip(row).map(|(w, x)| w * x).sum();
        (own[0] + sum).tanh()
    }

    /// The output at one row of inputs.
    pub fn output(&self, weights: &[f64], row: &[f64]) -> f64 {
        let last = &weights[self.hidden * (self.inputs + 1)..];
        let hidden = (0..self.hidden).map(|unit| last[unit + 1] * self.unit(weights, unit, row));
        last[0] + hidden.sum::<f64>()
    }

    /// The output and its slope in every weight.
    pub fn slope(&self, weights: &[f64], row: &[f64]) -> (f64, Vec<f64>) {
        let last = &weights[self.hidden * (self.inputs + 1)..];
        let mut slope = Vec::with_capacity(self.weights());
        let units: Vec<f64> = (0..self.hidden)
            .map(|unit| self.unit(weights, unit, row))
            .collect();
        let mut output = last[0];
        for (unit, value) in units.iter().enumerate() {
            output += last[unit + 1] * value;
            let through = last[unit + 1] * (1.0 - value * value);
            slope.push(through);
            slope.extend(row.iter().map(|x| through * x));
        }
        slope.push(1.0);
        slope.extend(units);
        (output, slope)
    }

    /// Outputs and slopes at many rows, row after row: a column of the matrix for each weight.
    pub fn slopes(&self, weights: &[f64], rows: &[f64]) -> (Vec<f64>, Matrix) {
        let found: Vec<(f64, Vec<f64>)> = rows
            .par_chunks(self.inputs.max(1))
            .map(|row| self.slope(weights, row))
            .collect();
        let matrix = Matrix::from_fn(found.len(), self.weights(), |row, column| {
            found[row].1[column]
        });
        (found.iter().map(|(output, _)| *output).collect(), matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_small_steps() {
        let network = Network {
            inputs: 2,
            hidden: 3,
        };
        let weights: Vec<f64> = (0..network.weights())
            .map(|i| (i as f64 * 1.7).sin())
            .collect();
        let row = [0.4, -1.1];
        let (output, slope) = network.slope(&weights, &row);
        assert!((output - network.output(&weights, &row)).abs() < 1e-15);
        for (place, own) in slope.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = weights.clone();
                moved[place] += step;
                network.output(&moved, &row)
            };
            let central = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((central - own).abs() < 1e-9, "{place}: {central} {own}");
        }
    }
}
