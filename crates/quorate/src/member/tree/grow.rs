//! Growing a tree: one cut at a time, the one after which the halves vary least.

use quorate_gp::data::Inputs;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::member::state::damaged;

/// How far a tree grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeShape {
    /// Cuts between the root and a leaf, at most.
    pub depth: usize,
    /// Least weight of a leaf; rows of weight 1 are counted.
    pub leaf: f64,
}

/// One node: a leaf, or a cut with two nodes below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Column and threshold of the cut, and the nodes left (not above the threshold) and right of it.
    pub cut: Option<(usize, f64, usize, usize)>,
    /// Weighted mean of each output.
    pub value: Vec<f64>,
    /// Total weight.
    pub weight: f64,
}

/// A grown tree; the first node is the root.
///
/// Classes are outputs of zeros and ones: the sum of their variances, `sum_c p_c (1 - p_c)`, is Gini's impurity, so that one
/// criterion serves regression and classification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// The nodes, each before those below it.
    pub nodes: Vec<Node>,
}

/// Values nearer than this are one value: no cut separates them.
const SAME: f64 = 1e-7;
/// Mean variance below which a node is pure.
const PURE: f64 = 1e-15;

struct Rows<'a> {
    inputs: Inputs<'a>,
    outputs: usize,
    targets: &'a [f64],
    weights: &'a [f64],
}

impl Tree {
    /// Grows a tree; `targets` holds `outputs` numbers for each row.
    ///
    /// # Panics
    /// When the lengths do not agree.
    pub fn grow(
        inputs: Inputs<'_>,
        outputs: usize,
        targets: &[f64],
        weights: &[f64],
        shape: TreeShape,
    ) -> Tree {
        assert_eq!(targets.len(), inputs.rows() * outputs);
        assert_eq!(weights.len(), inputs.rows());
        let rows = Rows {
            inputs,
            outputs,
            targets,
            weights,
        };
        let present = (0..inputs.rows()).filter(|&row| weights[row] > 0.0);
        let mut nodes = Vec::new();
        // Nodes still to be looked at: their rows, their depth, and where their parent waits for their number.
        let mut waiting = vec![(present.collect::<Vec<usize>>(), 0, None)];
        while let Some((members, depth, parent)) = waiting.pop() {
            let number = nodes.len();
            if let Some((above, is_right)) = parent {
                let node: &mut Node = &mut nodes[above];
                if let Some((_, _, left, right)) = &mut node.cut {
                    *(if is_right { right } else { left }) = number;
                }
            }
            let (value, weight, variance) = rows.describe(&members);
            let cut = (depth < shape.depth && variance > PURE && weight >= 2.0 * shape.leaf)
                .then(|| rows.best_cut(&members, &value, shape.leaf))
                .flatten();
            nodes.push(Node {
                cut: cut.map(|(column, threshold)| (column, threshold, 0, 0)),
                value,
                weight,
            });
            if let Some((column, threshold)) = cut {
                let (left, right) = members
                    .into_iter()
                    .partition(|&row| inputs.row(row)[column] <= threshold);
                waiting.push((right, depth + 1, Some((number, true))));
                waiting.push((left, depth + 1, Some((number, false))));
            }
        }
        Tree { nodes }
    }

    /// The leaf that a row falls into.
    pub fn leaf(&self, row: &[f64]) -> &Node {
        let mut node = &self.nodes[0];
        while let Some((column, threshold, left, right)) = node.cut {
            let below = if row[column] <= threshold {
                left
            } else {
                right
            };
            node = &self.nodes[below];
        }
        node
    }

    /// An error unless every row of so many columns comes to a leaf of so many outputs, which one of a damaged file need not.
    pub fn check(&self, columns: usize, outputs: usize) -> Result<()> {
        let sound = |(place, node): (usize, &Node)| {
            node.value.len() == outputs
                && node.cut.is_none_or(|(column, _, left, right)| {
                    let below = |child: usize| child > place && child < self.nodes.len();
                    column < columns && below(left) && below(right)
                })
        };
        if self.nodes.is_empty() || !self.nodes.iter().enumerate().all(sound) {
            return Err(damaged("a tree that leads nowhere"));
        }
        Ok(())
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.nodes.iter().filter(|node| node.cut.is_none()).count()
    }
}

impl Rows<'_> {
    fn target(&self, row: usize) -> &[f64] {
        &self.targets[row * self.outputs..(row + 1) * self.outputs]
    }

    /// Weighted mean of each output, total weight, and the mean over outputs of their variances.
    fn describe(&self, members: &[usize]) -> (Vec<f64>, f64, f64) {
        let weight: f64 = members.iter().map(|&row| self.weights[row]).sum();
        let mut value = vec![0.0; self.outputs];
        for &row in members {
            for (sum, target) in value.iter_mut().zip(self.target(row)) {
                *sum += self.weights[row] * target;
            }
        }
        let divisor = weight.max(f64::MIN_POSITIVE);
        value.iter_mut().for_each(|sum| *sum /= divisor);
        let mut scatter = 0.0;
        for &row in members {
            for (mean, target) in value.iter().zip(self.target(row)) {
                scatter += self.weights[row] * (target - mean).powi(2);
            }
        }
        (
            value,
            weight,
            scatter / divisor / self.outputs.max(1) as f64,
        )
    }

    /// Column and threshold after which the sum of squares within both sides is least: with sums s of the left side's
    /// targets about the node's mean, `sum s^2 (1 / W_left + 1 / W_right)` is largest. The first of several.
    fn best_cut(&self, members: &[usize], mean: &[f64], leaf: f64) -> Option<(usize, f64)> {
        let total: f64 = members.iter().map(|&row| self.weights[row]).sum();
        let mut best: Option<(f64, usize, f64)> = None;
        let mut order = members.to_vec();
        for column in 0..self.inputs.width() {
            let at = |row: usize| self.inputs.row(row)[column];
            order.sort_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
            let mut sums = vec![0.0; self.outputs];
            let mut left = 0.0;
            for pair in order.windows(2) {
                let weight = self.weights[pair[0]];
                left += weight;
                let own = self.target(pair[0]);
                for ((sum, target), mean) in sums.iter_mut().zip(own).zip(mean) {
                    *sum += weight * (target - mean);
                }
                let (low, high) = (at(pair[0]), at(pair[1]));
                let right = total - left;
                if high <= low + SAME || left < leaf || right < leaf {
                    continue;
                }
                let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
                let gain = squares * (1.0 / left + 1.0 / right);
                if best.is_none_or(|(most, _, _)| gain > most) {
                    let middle = low / 2.0 + high / 2.0;
                    // Rounding must not carry the threshold to the right side.
                    let threshold = if middle < high { middle } else { low };
                    best = Some((gain, column, threshold));
                }
            }
        }
        best.map(|(_, column, threshold)| (column, threshold))
    }
}
