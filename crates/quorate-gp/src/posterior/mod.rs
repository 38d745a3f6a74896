//! What is believed about the latent function after seeing the rows.

pub(crate) mod exact;
pub(crate) mod laplace;
mod latent;
mod leave_one_out;
mod machine;
pub(crate) mod multiclass;
pub(crate) mod outputs;
pub(crate) mod propagation;
mod sample;

pub(crate) use sample::standard_normal;

pub use exact::ExactPosterior;
pub use laplace::{Condensed, LaplacePosterior, Working};
pub use leave_one_out::LeaveOneOut;
pub use machine::{Margin, MarginSolution, SupportVectorMachine, solve_margins};
pub use multiclass::{ClassLatent, MulticlassPosterior, SoftmaxAverage};
pub use outputs::{target_matrix, within_groups};
pub use propagation::PropagationPosterior;
pub use sample::draw;

use crate::Result;
use crate::data::Inputs;
use crate::gaussian::{Joint, Marginals};
use crate::linalg::Matrix;

/// Beliefs about the latent function at query points, before and after seeing the rows.
pub trait Predict: Send + Sync {
    /// Before seeing the rows.
    fn prior(&self, query: Inputs<'_>) -> Marginals;
    /// Mean and variance at each query point.
    fn marginals(&self, query: Inputs<'_>) -> Result<Marginals>;
    /// Mean and covariance of all query points together.
    fn joint(&self, query: Inputs<'_>) -> Result<Joint>;
}

/// Beliefs whose outputs share their variance: means row after row, one variance for each row.
pub fn same_for_all(means: &[f64], variances: &[f64], outputs: usize) -> Marginals {
    let mean = |row: usize, output: usize| means[row * outputs + output];
    Marginals {
        mean: Matrix::from_fn(variances.len(), outputs, mean),
        variance: Matrix::from_fn(variances.len(), outputs, |row, _| variances[row]),
    }
}
