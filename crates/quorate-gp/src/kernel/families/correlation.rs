//! What one named kernel computes: entries without a variance, and their pull-back.

use std::fmt::Debug;

use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};

/// One named kernel on its columns. `values` are always its own parameters, in their own units.
///
/// Patches of a block are stored column after column with padded rows; where a sensitivity is given, it is zero in
/// the padding.
pub(in crate::kernel) trait Correlation: Send + Sync + Debug {
    /// The features of the rows that the other methods want.
    fn side(&self, values: &[f64], inputs: Inputs<'_>) -> Side;

    /// Writes the entries of a patch of a block; `memo` receives what the pull-back wants to see again.
    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], memo: Option<&mut [f64]>);

    /// Adds sum_ij S_ij dk_ij / dtheta to the gradient of each of its coordinates. `sensitivity` is S and may be
    /// overwritten; `out` and `memo` are what `fill` wrote.
    fn pull_back(
        &self,
        values: &[f64],
        pair: &Pair<'_>,
        out: &[f64],
        memo: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    );

    /// Writes k(x, x) for each row.
    fn diagonal(&self, values: &[f64], side: &Side, out: &mut [f64]);

    /// Adds sum_i s_i dk(x_i, x_i) / dtheta to the gradient of each of its coordinates.
    fn pull_back_diagonal(
        &self,
        values: &[f64],
        side: &Side,
        sensitivity: &[f64],
        gradient: &mut [f64],
    );

    /// How strongly each of its columns counts: an inverse length scale, in the order of the columns.
    fn relevance(&self, values: &[f64]) -> Vec<f64>;
}
