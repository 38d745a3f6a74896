//! Mixtures of linear experts under gates, one above the other: a soft decision tree (Jordan and Jacobs 1994; Tresp 2001,
//! *Committee Machines*, eq. 5 and 6).
//!
//! With one gate above all experts it is the mixture of experts of section 3.1 with linear parts. Rounds of expectation and
//! maximisation never lose: experts are weighted least squares, gates take Newton steps that are halved where they overshoot.

use quorate_gp::data::Inputs;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix};
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use super::gate::{log_sum, softmax};
use crate::error::{Error, Result};
use crate::member::{Tree, TreeShape};

/// Precision of every weight of an expert and of a gate before any row, for standardised inputs and target.
const EXPERT_DECAY: f64 = 1e-3;
const GATE_DECAY: f64 = 1e-2;
/// Before any row, a variance `s` has log density `-a log s - b / s`: no expert can shrink onto a few rows.
const VARIANCE_SHAPE: f64 = 1.0;
const VARIANCE_SCALE: f64 = 0.005;
/// How steeply a cut of a tree begins, in deviations of its column.
const STEEPNESS: f64 = 4.0;
/// Newton steps of a gate in each round, and halvings of each at most.
const STEPS: usize = 2;
const HALVINGS: usize = 20;

/// A linear expert: `y = w_0 + w'x` with Gaussian noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearExpert {
    /// The constant, then a weight for each input.
    pub weights: Vec<f64>,
    /// Variance of the noise.
    pub variance: f64,
    /// The share of the rows it is responsible for.
    pub share: f64,
}

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

/// What a node says of every row, and the nodes below it.
struct Told {
    /// Log density of the target.
    total: Vec<f64>,
    /// Log of gate times density, for each node below.
    parts: Vec<Vec<f64>>,
    children: Vec<Told>,
}

/// `w_0 + w'x`.
fn linear(weights: &[f64], row: &[f64]) -> f64 {
    let slopes = weights[1..].iter().zip(row);
    weights[0] + slopes.map(|(w, x)| w * x).sum::<f64>()
}

impl LinearExpert {
    fn new(inputs: usize, value: f64) -> Self {
        let mut weights = vec![0.0; inputs + 1];
        weights[0] = value;
        Self {
            weights,
            variance: 1.0,
            share: 0.0,
        }
    }

    fn log_prior(&self) -> f64 {
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        -0.5 * EXPERT_DECAY * squares
            - VARIANCE_SHAPE * self.variance.ln()
            - VARIANCE_SCALE / self.variance
    }

    /// Weighted least squares with the variance it has, then the variance.
    fn learn(&mut self, rows: TreeRows<'_>, counts: &[f64]) -> Result<()> {
        let size = self.weights.len();
        let mut gram = Matrix::zeros(size, size);
        let mut right = Matrix::zeros(size, 1);
        for (row, (count, target)) in counts.iter().zip(rows.targets).enumerate() {
            let x = with_constant(rows.inputs.row(row));
            let count = count / self.variance;
            for i in 0..size {
                right[(i, 0)] += count * target * x[i];
                for j in 0..=i {
                    gram[(i, j)] += count * x[i] * x[j];
                }
            }
        }
        let factor = Factor::new(size, JitterPolicy::default(), |mut out| {
            out.copy_from(&gram);
            for i in 0..size {
                out[(i, i)] += EXPERT_DECAY;
            }
        })?;
        factor.solve(right.as_mut());
        self.weights = right.col_as_slice(0).to_vec();
        let total: f64 = counts.iter().sum();
        let squares: f64 = (counts.iter().zip(rows.targets).enumerate())
            .map(|(row, (count, target))| {
                count * (target - linear(&self.weights, rows.inputs.row(row))).powi(2)
            })
            .sum();
        self.variance = (squares + 2.0 * VARIANCE_SCALE) / (total + 2.0 * VARIANCE_SHAPE);
        self.share = total / rows.weights.iter().sum::<f64>();
        Ok(())
    }
}

fn with_constant(row: &[f64]) -> Vec<f64> {
    std::iter::once(1.0).chain(row.iter().copied()).collect()
}

fn log_normal(error: f64, variance: f64) -> f64 {
    -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
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

impl Node {
    fn log_prior(&self) -> f64 {
        match self {
            Node::Expert(expert) => expert.log_prior(),
            Node::Gate { weights, children } => {
                let squares: f64 = weights.iter().map(|w| w * w).sum();
                let below: f64 = children.iter().map(Node::log_prior).sum();
                below - 0.5 * GATE_DECAY * squares
            }
        }
    }

    fn tell(&self, rows: TreeRows<'_>) -> Told {
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
    fn learn(&mut self, rows: TreeRows<'_>, told: &Told, counts: &[f64]) -> Result<()> {
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

    fn speak(&self, row: &[f64], share: f64, found: &mut Vec<(f64, f64, f64)>) {
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

/// The linear functions of a gate.
fn heights(weights: &[f64], row: &[f64]) -> Vec<f64> {
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
    each.sum::<f64>() - 0.5 * GATE_DECAY * squares
}

/// One Newton step of a gate towards the counts, halved until it gains.
fn learn_gate(weights: &mut Vec<f64>, rows: TreeRows<'_>, counts: &[Vec<f64>]) -> Result<()> {
    let size = weights.len();
    let width = rows.inputs.width() + 1;
    let mut slope = Matrix::from_fn(size, 1, |place, _| -GATE_DECAY * weights[place]);
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
            out[(i, i)] += GATE_DECAY;
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
