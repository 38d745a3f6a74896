//! A regression tree that says how sure it is.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::Predict;
use serde::{Deserialize, Serialize};

use super::{Tree, TreeShape};
use crate::error::Result;
use crate::member::{Expansion, Member, Recipe, Setting, State};

/// Least weights of a leaf that are tried.
const LEAVES: [f64; 4] = [2.0, 5.0, 15.0, 45.0];
const FOLDS: usize = 3;
/// Deep enough for any table; the leaves' weight decides.
const DEPTH: usize = 64;

/// A tree with the error it makes on rows it has not seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TreeMember {
    tree: Tree,
    expansion: Expansion,
    noise: f64,
    prior_variance: f64,
}

impl TreeMember {
    /// Grows a tree. The weight of its leaves is the one with the least error in cross-validation, and that error is its
    /// noise: within a leaf a tree cannot tell what varies from what is noise.
    pub fn fit(expansion: Expansion, rows: &Dataset, prior_variance: f64) -> Result<Self> {
        let values = expansion.apply(rows.inputs());
        let inputs = Inputs::new(&values, rows.rows(), expansion.width())?;
        let mut best = (f64::INFINITY, LEAVES[0]);
        for leaf in LEAVES {
            let error = cross_validated(inputs, rows, leaf);
            if error < best.0 {
                best = (error, leaf);
            }
        }
        let shape = TreeShape {
            depth: DEPTH,
            leaf: best.1,
        };
        let noise = if best.0.is_finite() {
            best.0
        } else {
            prior_variance
        };
        Ok(Self {
            tree: Tree::grow(inputs, 1, rows.targets(), rows.weights(), shape),
            expansion,
            noise: noise.max(1e-10 * prior_variance),
            prior_variance,
        })
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }
}

/// Mean squared error of rows in turn left out; infinite where there are too few.
fn cross_validated(inputs: Inputs<'_>, rows: &Dataset, leaf: f64) -> f64 {
    if rows.rows() < 2 * FOLDS {
        return f64::INFINITY;
    }
    let shape = TreeShape { depth: DEPTH, leaf };
    let mut sum = rows.scatter().iter().sum::<f64>();
    for fold in 0..FOLDS {
        let kept: Vec<f64> = (0..rows.rows())
            .map(|row| match row % FOLDS == fold {
                true => 0.0,
                false => rows.weights()[row],
            })
            .collect();
        let tree = Tree::grow(inputs, 1, rows.targets(), &kept, shape);
        for row in (fold..rows.rows()).step_by(FOLDS) {
            let error = rows.targets()[row] - tree.leaf(inputs.row(row)).value[0];
            sum += rows.weights()[row] * error * error;
        }
    }
    sum / rows.total_weight()
}

impl Predict for TreeMember {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |_, _| self.prior_variance),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        let values = self.expansion.apply(query);
        let leaves: Vec<(f64, f64)> = values
            .chunks_exact(self.expansion.width().max(1))
            .map(|row| {
                let leaf = self.tree.leaf(row);
                // The mean of a leaf's rows is known as well as a mean of so many is.
                let variance = self.noise / leaf.weight.max(1.0);
                (leaf.value[0], variance.min(self.prior_variance))
            })
            .collect();
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| leaves[row].0),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| leaves[row].1),
        })
    }

    fn joint(&self, _query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        Err(quorate_gp::Error::Invalid(
            "a tree has no covariance between queries".into(),
        ))
    }
}

impl Member for TreeMember {
    fn noise_variance(&self) -> f64 {
        self.noise
    }

    fn state(&self) -> Result<State> {
        State::new(self, Vec::new())
    }
}

pub fn restore(state: &State) -> Result<Box<dyn Member>> {
    let tree: TreeMember = state.read()?;
    tree.tree.check(tree.expansion.width(), 1)?;
    Ok(Box::new(tree))
}

struct Growing {
    expansion: Expansion,
    prior_variance: f64,
}

impl Recipe for Growing {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let fitted = TreeMember::fit(self.expansion.clone(), rows, self.prior_variance)?;
        Ok(Box::new(fitted))
    }
}

pub fn prepare(setting: &Setting<'_>, rows: &Dataset) -> Result<Box<dyn Recipe>> {
    let targets = rows.targets().iter().zip(rows.weights());
    let squares: f64 = targets
        .map(|(target, weight)| weight * target * target)
        .sum();
    let scatter: f64 = rows.scatter().iter().sum();
    let variance = (squares + scatter) / rows.total_weight();
    Ok(Box::new(Growing {
        expansion: Expansion::of(setting.columns),
        prior_variance: variance.max(1e-10),
    }))
}
