//! A classification tree that says how sure it is.

use quorate_gp::data::{Classes, Dataset, Inputs};
use quorate_gp::linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::{ClassRecipe, ClassSetting, Classifier, shares};
use crate::error::Result;
use crate::member::{Expansion, State, Tree, TreeShape};

/// Least weights of a leaf that are tried.
const LEAVES: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
const FOLDS: usize = 3;
/// Deep enough for any table; the leaves' weight decides.
const DEPTH: usize = 64;
/// Rows that the training rows' shares count as in a leaf (Cestnik 1990): a leaf of few rows is not sure of itself.
const PRIOR_ROWS: f64 = 1.0;

/// A tree with the classes' shares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TreeClassifier {
    tree: Tree,
    expansion: Expansion,
    shares: Vec<f64>,
}

impl TreeClassifier {
    /// Grows a tree. The weight of its leaves is the one with the least log loss in cross-validation.
    pub fn fit(expansion: Expansion, classes: &Classes, rows: &Dataset) -> Result<Self> {
        let values = expansion.apply(rows.inputs());
        let inputs = Inputs::new(&values, rows.rows(), expansion.width())?;
        let told = shares(classes, rows);
        let mut best = (f64::INFINITY, LEAVES[0]);
        for leaf in LEAVES {
            let loss = cross_validated(inputs, rows.weights(), &told, classes, leaf);
            if loss < best.0 {
                best = (loss, leaf);
            }
        }
        let shape = TreeShape {
            depth: DEPTH,
            leaf: best.1,
        };
        Ok(Self {
            tree: Tree::grow(inputs, classes.count(), &told, rows.weights(), shape),
            expansion,
            shares: classes.shares().to_vec(),
        })
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }
}

/// Probability of a class in the leaf of a row.
fn probability(tree: &Tree, row: &[f64], class: usize, share: f64) -> f64 {
    let leaf = tree.leaf(row);
    (leaf.weight * leaf.value[class] + PRIOR_ROWS * share) / (leaf.weight + PRIOR_ROWS)
}

/// Log loss of rows in turn left out; infinite where there are too few.
fn cross_validated(
    inputs: Inputs<'_>,
    weights: &[f64],
    told: &[f64],
    classes: &Classes,
    leaf: f64,
) -> f64 {
    let (rows, count) = (inputs.rows(), classes.count());
    if rows < 2 * FOLDS {
        return f64::INFINITY;
    }
    let shape = TreeShape { depth: DEPTH, leaf };
    let mut loss = 0.0;
    for fold in 0..FOLDS {
        let kept: Vec<f64> = (0..rows)
            .map(|row| {
                if row % FOLDS == fold {
                    0.0
                } else {
                    weights[row]
                }
            })
            .collect();
        let tree = Tree::grow(inputs, count, told, &kept, shape);
        for row in (fold..rows).step_by(FOLDS) {
            for (class, share) in classes.shares().iter().enumerate() {
                let seen = told[row * count + class];
                if seen > 0.0 {
                    let p = probability(&tree, inputs.row(row), class, *share);
                    loss -= weights[row] * seen * p.max(f64::MIN_POSITIVE).ln();
                }
            }
        }
    }
    loss
}

impl Classifier for TreeClassifier {
    fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let values = self.expansion.apply(query);
        let width = self.expansion.width();
        let row = |row: usize| &values[row * width..(row + 1) * width];
        Ok(Matrix::from_fn(
            query.rows(),
            self.shares.len(),
            |place, class| probability(&self.tree, row(place), class, self.shares[class]),
        ))
    }

    fn state(&self) -> Result<State> {
        State::new(self, Vec::new())
    }
}

struct Growing {
    expansion: Expansion,
    classes: Classes,
}

impl ClassRecipe for Growing {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Classifier>> {
        let fitted = TreeClassifier::fit(self.expansion.clone(), &self.classes, rows)?;
        Ok(Box::new(fitted))
    }
}

pub fn prepare(setting: &ClassSetting<'_>, _rows: &Dataset) -> Result<Box<dyn ClassRecipe>> {
    Ok(Box::new(Growing {
        expansion: Expansion::of(setting.columns),
        classes: setting.classes.clone(),
    }))
}

pub fn restore(state: &State) -> Result<Box<dyn Classifier>> {
    let tree: TreeClassifier = state.read()?;
    tree.tree.check(tree.expansion.width(), tree.shares.len())?;
    Ok(Box::new(tree))
}
