//! Mixtures of linear experts under gates, one above the other: a soft decision tree (Jordan and Jacobs 1994; Tresp 2001,
//! *Committee Machines*, eq. 5 and 6).
//!
//! With one gate above all experts it is the mixture of experts of section 3.1 with linear parts. Rounds of expectation and
//! maximisation never lose: experts are weighted least squares, gates take Newton steps that are halved where they overshoot.

mod branch;
mod expert;
mod node;

use quorate_gp::data::Inputs;
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::member::{Tree, TreeShape};
use branch::learn_gate;
pub use expert::LinearExpert;
pub use node::Node;

/// How steeply a cut of a tree begins, in deviations of its column.
const STEEPNESS: f64 = 4.0;

/// Rows for a soft tree: inputs without a constant, targets, and how often each row counts.
#[derive(Clone, Copy)]
pub struct TreeRows<'a> {
    /// The inputs.
    pub inputs: Inputs<'a>,
    /// The targets.
    pub targets: &'a [f64],
    /// How often each row counts.
    pub weights: &'a [f64],
}

/// A soft decision tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftTree {
    /// Number of inputs.
    pub inputs: usize,
    /// The top.
    pub root: Node,
}

impl SoftTree {
    /// One gate above as many experts as there are groups of rows, which decide where each begins.
    pub fn flat(rows: TreeRows<'_>, groups: &[usize], experts: usize) -> Result<Self> {
        let inputs = rows.inputs.width();
        let mut root = Node::Gate {
            weights: vec![0.0; experts * (inputs + 1)],
            children: (0..experts)
                .map(|_| Node::Expert(LinearExpert::new(inputs, 0.0)))
                .collect(),
        };
        // Soft groups, so that no expert starts with fewer rows than it has weights.
        let own = 0.8;
        let others = (1.0 - own) / (experts.max(2) - 1) as f64;
        let counts: Vec<Vec<f64>> = (0..experts)
            .map(|expert| {
                let each = groups.iter().zip(rows.weights);
                each.map(|(group, weight)| weight * if *group == expert { own } else { others })
                    .collect()
            })
            .collect();
        if let Node::Gate { weights, children } = &mut root {
            for (child, counts) in children.iter_mut().zip(&counts) {
                if let Node::Expert(expert) = child {
                    expert.learn(rows, counts)?;
                }
            }
            for _ in 0..5 {
                learn_gate(weights, rows, &counts)?;
            }
        }
        Ok(Self { inputs, root })
    }

    /// A hard tree made soft: its cuts become gates, its leaves experts that say the leaf's mean (CART; sec. 3.2.1).
    pub fn from_cuts(rows: TreeRows<'_>, depth: usize) -> Self {
        let inputs = rows.inputs.width();
        let least = (3 * (inputs + 1)) as f64;
        let shape = TreeShape { depth, leaf: least };
        let hard = Tree::grow(rows.inputs, 1, rows.targets, rows.weights, shape);
        fn soften(hard: &Tree, place: usize, inputs: usize) -> Node {
            let node = &hard.nodes[place];
            match node.cut {
                None => Node::Expert(LinearExpert::new(inputs, node.value[0])),
                Some((column, threshold, left, right)) => {
                    let mut weights = vec![0.0; 2 * (inputs + 1)];
                    weights[inputs + 1] = -STEEPNESS * threshold;
                    weights[inputs + 2 + column] = STEEPNESS;
                    Node::Gate {
                        weights,
                        children: vec![soften(hard, left, inputs), soften(hard, right, inputs)],
                    }
                }
            }
        }
        Self {
            inputs,
            root: soften(&hard, 0, inputs),
        }
    }

    /// Rounds of expectation and maximisation; with the penalised log likelihood at the start of each, which never falls.
    pub fn climb(
        mut self,
        rows: TreeRows<'_>,
        rounds: usize,
        gain: f64,
        watch: &dyn Watch,
    ) -> Result<(Self, Vec<f64>)> {
        if rows.inputs.width() != self.inputs
            || rows.targets.len() != rows.inputs.rows()
            || rows.weights.len() != rows.inputs.rows()
        {
            return Err(Error::Spec(
                "the rows of a soft tree have another shape than it".into(),
            ));
        }
        let enough = gain * rows.weights.iter().sum::<f64>();
        let mut path: Vec<f64> = Vec::new();
        for round in 0..rounds {
            watch.check()?;
            watch.progress("softening a tree", round, rounds);
            let told = self.root.tell(rows);
            let density = told.total.iter().zip(rows.weights);
            let value =
                density.map(|(log, weight)| log * weight).sum::<f64>() + self.root.log_prior();
            let better = path.last().map_or(f64::INFINITY, |last| value - last);
            path.push(value);
            if better < enough {
                break;
            }
            self.root.learn(rows, &told, rows.weights)?;
        }
        Ok((self, path))
    }

    /// Share, mean and variance of every expert at a row, from the first leaf to the last.
    pub fn voices(&self, row: &[f64]) -> Vec<(f64, f64, f64)> {
        let mut found = Vec::new();
        self.root.speak(row, 1.0, &mut found);
        found
    }

    /// The experts, from the first leaf to the last.
    pub fn experts(&self) -> Vec<&LinearExpert> {
        fn collect<'a>(node: &'a Node, found: &mut Vec<&'a LinearExpert>) {
            match node {
                Node::Expert(expert) => found.push(expert),
                Node::Gate { children, .. } => {
                    children.iter().for_each(|child| collect(child, found));
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.root, &mut found);
        found
    }
}
