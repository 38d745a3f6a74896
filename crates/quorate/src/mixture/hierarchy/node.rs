//! Gates above nodes, experts below: what each says of rows, and how it learns.

use serde::{Deserialize, Serialize};

use super::TreeRows;
use super::branch::{DECAY, heights, learn_gate};
use super::expert::{LinearExpert, linear};
use crate::error::Result;
use crate::mixture::gate::{log_sum, softmax};

/// Newton steps of a gate in each round.
const STEPS: usize = 2;

/// A gate above nodes, or an expert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// An expert.
    Expert(LinearExpert),
    /// A softmax of linear functions, one for each node below.
    Gate {
        /// The constant and the weights of each node below, one after the other.
        weights: Vec<f64>,
        /// The nodes below.
        children: Vec<Node>,
    },
}

/// What a node says of every row, and the nodes below it.
pub struct Told {
    /// Log density of the target.
    pub total: Vec<f64>,
    /// Log of gate times density, for each node below.
    parts: Vec<Vec<f64>>,
    children: Vec<Told>,
}

impl Node {
    pub(super) fn log_prior(&self) -> f64 {
        match self {
            Node::Expert(expert) => expert.log_prior(),
            Node::Gate { weights, children } => {
                let squares: f64 = weights.iter().map(|w| w * w).sum();
                let below: f64 = children.iter().map(Node::log_prior).sum();
                below - 0.5 * DECAY * squares
            }
        }
    }

    pub(super) fn tell(&self, rows: TreeRows<'_>) -> Told {
        let count = rows.inputs.rows();
        match self {
            Node::Expert(expert) => Told {
                total: (0..count)
                    .map(|row| {
                        let error =
                            rows.targets[row] - linear(&expert.weights, rows.inputs.row(row));
                        log_normal(error, expert.variance)
                    })
                    .collect(),
                parts: Vec::new(),
                children: Vec::new(),
            },
            Node::Gate { weights, children } => {
                let below: Vec<Told> = children.iter().map(|child| child.tell(rows)).collect();
                let mut parts = vec![Vec::with_capacity(count); children.len()];
                let mut total = Vec::with_capacity(count);
                for row in 0..count {
                    let heights = heights(weights, rows.inputs.row(row));
                    let all = log_sum(heights.iter().copied());
                    let logs: Vec<f64> = (heights.iter().zip(&below))
                        .map(|(height, child)| height - all + child.total[row])
                        .collect();
                    total.push(log_sum(logs.iter().copied()));
                    for (part, log) in parts.iter_mut().zip(logs) {
                        part.push(log);
                    }
                }
                Told {
                    total,
                    parts,
                    children: below,
                }
            }
        }
    }

    /// The M-step of a node that is responsible for rows to this extent, and of all below it.
    pub(super) fn learn(&mut self, rows: TreeRows<'_>, told: &Told, counts: &[f64]) -> Result<()> {
        match self {
            Node::Expert(expert) => expert.learn(rows, counts),
            Node::Gate { weights, children } => {
                let below: Vec<Vec<f64>> = (told.parts.iter())
                    .map(|logs| {
                        let each = logs.iter().zip(&told.total).zip(counts);
                        each.map(|((log, total), count)| count * (log - total).exp())
                            .collect()
                    })
                    .collect();
                for ((child, told), counts) in children.iter_mut().zip(&told.children).zip(&below) {
                    child.learn(rows, told, counts)?;
                }
                for _ in 0..STEPS {
                    learn_gate(weights, rows, &below)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn speak(&self, row: &[f64], share: f64, found: &mut Vec<(f64, f64, f64)>) {
        match self {
            Node::Expert(expert) => {
                found.push((share, linear(&expert.weights, row), expert.variance));
            }
            Node::Gate { weights, children } => {
                let shares = softmax(&heights(weights, row));
                for (child, own) in children.iter().zip(shares) {
                    child.speak(row, share * own, found);
                }
            }
        }
    }
}

fn log_normal(error: f64, variance: f64) -> f64 {
    -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
}
