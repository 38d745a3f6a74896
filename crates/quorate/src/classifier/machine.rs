//! The support vector machine as a member: each class against the others, probabilities by a sigmoid (Platt 1999).

use quorate_gp::data::{Classes, Dataset, InputColumn, Inputs, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel, tiles};
use quorate_gp::linalg::{Matrix, multiply};
use quorate_gp::posterior::{Margin, solve_margins};
use serde::{Deserialize, Serialize};

use super::{ClassRecipe, ClassSetting, Classifier, normalised};
use crate::error::Result;
use crate::fit::auto::with_categories;
use crate::member::State;
use crate::member::state::{damaged, lists_of_rows};

/// Costs of a lost margin and widths of the kernel that are tried, the widths in square roots of the number of columns.
const COSTS: [f64; 3] = [1.0, 10.0, 100.0];
const WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
/// Rows on which they are compared.
const TRIAL_ROWS: usize = 300;
const FOLDS: usize = 3;
/// Difference of primal and dual at which a machine is good enough for a member.
const TOLERANCE: f64 = 1e-4;
/// Sweeps at most: what is not settled then is near a corner of the programme that hardly moves decisions.
const SWEEPS: usize = 300;
/// Newton steps of a sigmoid.
const STEPS: usize = 100;

/// `p = 1 / (1 + exp(-(slope f + shift)))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sigmoid {
    /// How fast certainty grows with the decision value.
    pub slope: f64,
    /// Log odds at a decision value of 0.
    pub shift: f64,
}

impl Sigmoid {
    /// The sigmoid under which decisions of rows not seen are likeliest: (decision, of the class, weight). As if one more
    /// row of each side had been seen (Platt 1999, sec. 2.2), by Newton's method with halved steps (Lin, Lin and Weng 2007).
    pub fn fit(rows: &[(f64, bool, f64)]) -> Self {
        let sum = |own: bool| -> f64 {
            let side = rows.iter().filter(|row| row.1 == own);
            side.map(|row| row.2).sum()
        };
        let (with, without) = (sum(true), sum(false));
        let (high, low) = ((with + 1.0) / (with + 2.0), 1.0 / (without + 2.0));
        let cost = |slope: f64, shift: f64| -> f64 {
            let each = rows.iter().map(|(decision, own, weight)| {
                let x = slope * decision + shift;
                let target = if *own { high } else { low };
                weight * (x.max(0.0) + (-x.abs()).exp().ln_1p() - target * x)
            });
            each.sum()
        };
        let (mut slope, mut shift) = (0.0, ((with + 1.0) / (without + 1.0)).ln());
        let mut here = cost(slope, shift);
        for _ in 0..STEPS {
            // A trace on the diagonal keeps the two equations apart where decisions are all alike.
            let (mut aa, mut ab, mut bb) = (1e-9, 0.0, 1e-9);
            let (mut ga, mut gb) = (0.0, 0.0);
            for (decision, own, weight) in rows {
                let p = 1.0 / (1.0 + (-(slope * decision + shift)).exp());
                let target = if *own { high } else { low };
                let (error, bend) = (weight * (p - target), weight * p * (1.0 - p));
                ga += error * decision;
                gb += error;
                aa += bend * decision * decision;
                ab += bend * decision;
                bb += bend;
            }
            let determinant = aa * bb - ab * ab;
            if ga.abs() + gb.abs() < 1e-8 || determinant <= 0.0 {
                break;
            }
            let step = (
                -(bb * ga - ab * gb) / determinant,
                -(aa * gb - ab * ga) / determinant,
            );
            let mut length = 1.0;
            loop {
                let there = (slope + length * step.0, shift + length * step.1);
                let value = cost(there.0, there.1);
                if value < here || length < 1e-8 {
                    if value < here {
                        (slope, shift) = there;
                        here = value;
                    } else {
                        return Self { slope, shift };
                    }
                    break;
                }
                length *= 0.5;
            }
        }
        Self { slope, shift }
    }

    /// The probability at a decision value.
    pub fn at(&self, decision: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * decision + self.shift)).exp())
    }
}

/// Machines for each class against the others, on common rows.
#[derive(Clone, Debug)]
pub struct MachineMember {
    kernel: BoundKernel,
    rows: Dataset,
    /// A row for each distinct row, a column for each machine.
    weights: Matrix,
    sigmoids: Vec<Sigmoid>,
    classes: Classes,
}

/// Class of each row of a table.
fn codes(classes: &Classes, rows: &Dataset) -> Vec<usize> {
    let scales = classes.scales();
    let each = (0..rows.members().len()).map(|place| {
        let own: Vec<f64> = rows.own_targets(place).collect();
        classes.class_of(&own, &scales)
    });
    each.collect()
}

/// The rows of the programme of one class, of those members that are kept.
fn margins(
    rows: &Dataset,
    codes: &[usize],
    class: usize,
    kept: impl Fn(usize) -> bool,
) -> Vec<Margin> {
    let members = rows.members().iter().zip(codes);
    members
        .filter(|(member, _)| kept(member.group))
        .map(|(member, code)| {
            let sign = if *code == class { 1.0 } else { -1.0 };
            (member.group, sign, member.weight)
        })
        .collect()
}

/// Decisions about every distinct row by a machine that did not see its fold, for each class that has a machine.
fn left_out(covariance: &Matrix, rows: &Dataset, codes: &[usize], classes: &Classes) -> Matrix {
    let first = classes.count() - classes.outputs();
    let mut decisions = Matrix::zeros(rows.rows(), classes.outputs());
    for fold in 0..FOLDS {
        for output in 0..classes.outputs() {
            let own = margins(rows, codes, first + output, |group| group % FOLDS != fold);
            let found = solve_margins(covariance, &own, TOLERANCE, SWEEPS);
            for group in (fold..rows.rows()).step_by(FOLDS) {
                decisions[(group, output)] = found.latent[group];
            }
        }
    }
    decisions
}

impl MachineMember {
    fn fit(kernel: &BoundKernel, classes: &Classes, rows: &Dataset) -> Self {
        let codes = codes(classes, rows);
        let covariance = tiles::block(kernel, rows.inputs(), rows.inputs());
        let decisions = left_out(&covariance, rows, &codes, classes);
        let first = classes.count() - classes.outputs();
        let mut weights = Matrix::zeros(rows.rows(), classes.outputs());
        let mut sigmoids = Vec::new();
        for output in 0..classes.outputs() {
            let own = margins(rows, &codes, first + output, |_| true);
            let found = solve_margins(&covariance, &own, TOLERANCE, SWEEPS);
            for (group, weight) in found.weights.into_iter().enumerate() {
                weights[(group, output)] = weight;
            }
            let judged = own.iter();
            let judged: Vec<(f64, bool, f64)> = judged
                .map(|&(group, sign, weight)| (decisions[(group, output)], sign > 0.0, weight))
                .collect();
            sigmoids.push(Sigmoid::fit(&judged));
        }
        Self {
            kernel: kernel.clone(),
            rows: rows.clone(),
            weights,
            sigmoids,
            classes: classes.clone(),
        }
    }
}

impl Classifier for MachineMember {
    fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let cross = tiles::block(&self.kernel, query, self.rows.inputs());
        let decisions = multiply(cross.as_ref(), self.weights.as_ref());
        let first = self.classes.count() - self.sigmoids.len();
        let found = Matrix::from_fn(query.rows(), self.classes.count(), |row, class| {
            match class < first {
                // Of two classes the second has a machine.
                true => 1.0 - self.sigmoids[0].at(decisions[(row, 0)]),
                false => self.sigmoids[class - first].at(decisions[(row, class - first)]),
            }
        });
        Ok(normalised(found))
    }

    fn state(&self) -> Result<State> {
        let stored = Stored {
            kernel: self.kernel.kernel(),
            columns: self.kernel.columns().to_vec(),
            sigmoids: self.sigmoids.clone(),
            classes: self.classes.clone(),
        };
        let mut numbers = lists_of_rows(&self.rows);
        let columns = 0..self.weights.ncols();
        numbers.extend(columns.map(|column| self.weights.col_as_slice(column).to_vec()));
        State::new(&stored, numbers)
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    kernel: Kernel,
    columns: Vec<InputColumn>,
    sigmoids: Vec<Sigmoid>,
    classes: Classes,
}

struct Solving {
    kernel: BoundKernel,
    classes: Classes,
}

impl ClassRecipe for Solving {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Classifier>> {
        let fitted = MachineMember::fit(&self.kernel, &self.classes, rows);
        Ok(Box::new(fitted))
    }
}

/// A squared exponential and a constant: what the margin is lost for, the width, and an offset (Tresp 2000, sec. 6.7).
fn kernel(columns: &[InputColumn], cost: f64, width: f64) -> Result<BoundKernel> {
    let length = width * (columns.len() as f64).sqrt();
    let radial = with_categories(columns, &format!("se(length_scale={length})"));
    let kernel: Kernel = format!("{cost} * {radial} + {cost} * constant").parse()?;
    Ok(kernel.bind(columns)?)
}

pub fn prepare(setting: &ClassSetting<'_>, rows: &Dataset) -> Result<Box<dyn ClassRecipe>> {
    let trial = rows.select(&random_rows(rows.rows(), TRIAL_ROWS, setting.seed));
    let classes = setting.classes;
    let codes = codes(classes, &trial);
    let first = classes.count() - classes.outputs();
    let mut best: Option<(f64, BoundKernel)> = None;
    for width in WIDTHS {
        for cost in COSTS {
            setting.watch.check()?;
            let bound = kernel(setting.columns, cost, width)?;
            let covariance = tiles::block(&bound, trial.inputs(), trial.inputs());
            let decisions = left_out(&covariance, &trial, &codes, classes);
            // Margins lost on rows not seen: errors alone are too few to compare by.
            let mut lost = 0.0;
            for output in 0..classes.outputs() {
                for (group, sign, weight) in margins(&trial, &codes, first + output, |_| true) {
                    let margin = sign * decisions[(group, output)];
                    lost += weight * (1.0 - margin).clamp(0.0, 2.0);
                }
            }
            if best.as_ref().is_none_or(|(least, _)| lost < *least) {
                best = Some((lost, bound));
            }
        }
    }
    let kernel = match best {
        Some((_, kernel)) => kernel,
        None => kernel(setting.columns, COSTS[0], WIDTHS[1])?,
    };
    Ok(Box::new(Solving {
        kernel,
        classes: classes.clone(),
    }))
}

pub fn restore(state: &State) -> Result<Box<dyn Classifier>> {
    let stored: Stored = state.read()?;
    let outputs = stored.classes.outputs();
    let rows = state.rows(0, stored.columns.len(), outputs)?;
    let mut weights = Matrix::zeros(rows.rows(), outputs);
    for output in 0..outputs {
        let list = state.list(4 + output)?;
        if list.len() != rows.rows() {
            return Err(damaged("its support vectors"));
        }
        for (row, weight) in list.iter().enumerate() {
            weights[(row, output)] = *weight;
        }
    }
    if stored.sigmoids.len() != outputs {
        return Err(damaged("its sigmoids"));
    }
    Ok(Box::new(MachineMember {
        kernel: stored.kernel.bind(&stored.columns)?,
        rows,
        weights,
        sigmoids: stored.sigmoids,
        classes: stored.classes,
    }))
}
