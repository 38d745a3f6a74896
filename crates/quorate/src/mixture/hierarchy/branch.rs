//! Gates of a soft tree: a softmax of linear functions, learned by Newton steps that never lose.

use quorate_gp::linalg::{Factor, JitterPolicy, Matrix};

use super::TreeRows;
use super::expert::{linear, with_constant};
use crate::error::Result;
use crate::mixture::gate::{log_sum, softmax};

/// Precision of every weight before any row, for standardised inputs.
pub const DECAY: f64 = 1e-2;
/// Halvings of a step at most.
const HALVINGS: usize = 20;

/// The linear functions of a gate.
pub fn heights(weights: &[f64], row: &[f64]) -> Vec<f64> {
    let each = weights.chunks_exact(row.len() + 1);
    each.map(|own| linear(own, row)).collect()
}

/// Expected log probability of the nodes below, with the gate's prior.
fn gate_value(weights: &[f64], rows: TreeRows<'_>, counts: &[Vec<f64>]) -> f64 {
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let each = (0..rows.inputs.rows()).map(|row| {
        let heights = heights(weights, rows.inputs.row(row));
        let all = log_sum(heights.iter().copied());
        let own = heights.iter().zip(counts);
        own.map(|(height, counts)| counts[row] * (height - all))
            .sum::<f64>()
    });
    each.sum::<f64>() - 0.5 * DECAY * squares
}

/// One Newton step of a gate towards the counts, halved until it gains.
pub fn learn_gate(weights: &mut Vec<f64>, rows: TreeRows<'_>, counts: &[Vec<f64>]) -> Result<()> {
    let size = weights.len();
    let width = rows.inputs.width() + 1;
    let mut slope = Matrix::from_fn(size, 1, |place, _| -DECAY * weights[place]);
    let mut curvature = Matrix::zeros(size, size);
    for row in 0..rows.inputs.rows() {
        let x = with_constant(rows.inputs.row(row));
        let shares = softmax(&heights(weights, rows.inputs.row(row)));
        let total: f64 = counts.iter().map(|own| own[row]).sum();
        for (child, share) in shares.iter().enumerate() {
            let gap = counts[child][row] - total * share;
            for i in 0..width {
                slope[(child * width + i, 0)] += gap * x[i];
            }
            for (other, rest) in shares.iter().enumerate().take(child + 1) {
                let own = if other == child { *share } else { 0.0 };
                let bend = total * (own - share * rest);
                for i in 0..width {
                    for j in 0..width {
                        curvature[(child * width + i, other * width + j)] += bend * x[i] * x[j];
                    }
                }
            }
        }
    }
    let factor = Factor::new(size, JitterPolicy::default(), |mut out| {
        out.copy_from(&curvature);
        for i in 0..size {
            out[(i, i)] += DECAY;
        }
    })?;
    factor.solve(slope.as_mut());
    let before = gate_value(weights, rows, counts);
    let mut length = 1.0;
    for _ in 0..HALVINGS {
        let moved: Vec<f64> = (weights.iter().zip(slope.col_as_slice(0)))
            .map(|(weight, step)| weight + length * step)
            .collect();
        if gate_value(&moved, rows, counts) >= before {
            *weights = moved;
            break;
        }
        length *= 0.5;
    }
    Ok(())
}
