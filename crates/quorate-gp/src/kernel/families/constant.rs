//! The constant kernel: 1 everywhere.

use super::correlation::Correlation;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};

/// 1 for every pair; its size is the variance of its term.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Constant;

impl Correlation for Constant {
    fn side(&self, _values: &[f64], inputs: Inputs<'_>) -> Side {
        Side::new(inputs.rows(), 0)
    }

    fn fill(&self, _: &[f64], _: &Pair<'_>, out: &mut [f64], _: Option<&mut [f64]>) {
        out.fill(1.0);
    }

    fn pull_back(
        &self,
        _: &[f64],
        _: &Pair<'_>,
        _: &[f64],
        _: &[f64],
        _: &mut [f64],
        _: &mut [f64],
    ) {
    }

    fn diagonal(&self, _: &[f64], _: &Side, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn pull_back_diagonal(&self, _: &[f64], _: &Side, _: &[f64], _: &mut [f64]) {}

    fn relevance(&self, _: &[f64]) -> Vec<f64> {
        Vec::new()
    }
}
