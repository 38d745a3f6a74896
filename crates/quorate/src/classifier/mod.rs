//! Members that tell classes apart: whatever gives probabilities of classes at query points.
//!
//! As with [`crate::member`], a [`ClassKind`] is prepared on all rows and the [`ClassRecipe`] it returns is fitted to the rows
//! of each member. Rows are a [`Dataset`] whose outputs stand for classes ([`shares`] reads them). Every kind there is stands
//! in [`CLASSIFIERS`]: a new one is a file here and a line of that table.

mod logistic;
mod machine;
mod process;
mod tree;

pub use logistic::{Logistic, LogisticMember};
pub use machine::{MachineMember, Sigmoid};
pub use process::ProcessClassifier;
pub use tree::TreeClassifier;

use quorate_gp::data::{Classes, Dataset, InputColumn, Inputs};
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;

use crate::error::Result;
use crate::member::State;

/// A fitted member that tells classes apart.
pub trait Classifier: Send + Sync {
    /// Probability of each class at each query: a row for each query, a column for each class.
    fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix>;

    /// All that is needed to make the member again.
    fn state(&self) -> Result<State>;
}

/// What members of a kind have in common; fits one to rows of its own.
pub trait ClassRecipe: Send + Sync {
    /// A member that has seen these rows.
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Classifier>>;
}

/// What a kind may look at while it is prepared.
#[derive(Clone, Copy)]
pub struct ClassSetting<'a> {
    /// What the columns of the inputs hold.
    pub columns: &'a [InputColumn],
    /// The classes behind the outputs.
    pub classes: &'a Classes,
    /// Seed of everything random.
    pub seed: u64,
    /// Who watches.
    pub watch: &'a dyn Watch,
}

/// A kind of member that tells classes apart.
#[derive(Clone, Copy, Debug)]
pub struct ClassKind {
    /// What people type.
    pub name: &'static str,
    /// One sentence about it.
    pub sentence: &'static str,
    /// Learns from all rows what members of the kind have in common.
    pub prepare: fn(&ClassSetting<'_>, &Dataset) -> Result<Box<dyn ClassRecipe>>,
    /// Makes a member again from its state.
    pub restore: fn(&State) -> Result<Box<dyn Classifier>>,
}

type Prepare = fn(&ClassSetting<'_>, &Dataset) -> Result<Box<dyn ClassRecipe>>;
type Restore = fn(&State) -> Result<Box<dyn Classifier>>;

const fn line(
    name: &'static str,
    sentence: &'static str,
    prepare: Prepare,
    restore: Restore,
) -> ClassKind {
    ClassKind {
        name,
        sentence,
        prepare,
        restore,
    }
}

/// Every kind of member that tells classes apart.
#[rustfmt::skip]
pub const CLASSIFIERS: [ClassKind; 6] = [
    line("gp", "Gaussian process on +1 and -1, hyperparameters shared", process::prepare, process::restore),
    line("linear", "Bayesian logistic regression, size of the weights by the evidence", logistic::prepare_linear, logistic::restore),
    line("quadratic", "the same with squares and products of the inputs", logistic::prepare_quadratic, logistic::restore),
    line("rbf", "the same on radial basis functions around shared centres", logistic::prepare_radial, logistic::restore),
    line("tree", "classification tree, size of its leaves by cross-validation", tree::prepare, tree::restore),
    line("svm", "support vector machine, width and cost by cross-validation, probabilities by a sigmoid", machine::prepare, machine::restore),
];

/// The kind of that name.
pub fn class_kind(name: &str) -> Option<&'static ClassKind> {
    CLASSIFIERS.iter().find(|kind| kind.name == name)
}

/// Share of each class in each distinct row, row after row.
pub fn shares(classes: &Classes, rows: &Dataset) -> Vec<f64> {
    let scales = classes.scales();
    let mut found = Vec::with_capacity(rows.rows() * classes.count());
    for row in 0..rows.rows() {
        let raw = scales.iter().enumerate().map(|(output, scale)| {
            let target = scale.undo(rows.targets_of(output)[row]);
            (0.5 * (1.0 + target)).clamp(0.0, 1.0)
        });
        let start = found.len();
        found.extend(raw);
        if classes.outputs() < classes.count() {
            // One output serves two classes: the second's.
            found.insert(start, 1.0 - found[start]);
        }
    }
    found
}

/// Scales each row of numbers that are not negative to a sum of 1; equal shares where there is nothing.
pub(crate) fn normalised(mut rows: Matrix) -> Matrix {
    let classes = rows.ncols();
    for row in 0..rows.nrows() {
        let total: f64 = (0..classes).map(|class| rows[(row, class)]).sum();
        for class in 0..classes {
            rows[(row, class)] = match total > 0.0 && total.is_finite() {
                true => rows[(row, class)] / total,
                false => 1.0 / classes as f64,
            };
        }
    }
    rows
}
