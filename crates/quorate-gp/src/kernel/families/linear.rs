//! Kernels of the inner product: linear and polynomial.

use super::correlation::Correlation;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};
use crate::kernel::vector::{self, Function};

/// sum_d x_d x'_d, or sum_d x_d x'_d / l_d^2 with one length scale per column.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Linear {
    pub columns: Vec<usize>,
    pub ard: bool,
}

impl Correlation for Linear {
    fn side(&self, values: &[f64], inputs: Inputs<'_>) -> Side {
        Side::scaled(inputs, &self.columns, |feature| match self.ard {
            true => values[feature].recip(),
            false => 1.0,
        })
        .with_norms()
    }

    fn fill(&self, _: &[f64], pair: &Pair<'_>, out: &mut [f64], _: Option<&mut [f64]>) {
        vector::inner_products(pair, out);
    }

    fn pull_back(
        &self,
        _: &[f64],
        pair: &Pair<'_>,
        _: &[f64],
        _: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        let mut sums = vec![0.0; gradient.len()];
        vector::weighted_products(pair, sensitivity, &mut sums);
        for (gradient, sum) in gradient.iter_mut().zip(sums) {
            *gradient -= 2.0 * sum;
        }
    }

    fn diagonal(&self, _: &[f64], side: &Side, out: &mut [f64]) {
        out.copy_from_slice(&side.marks()[..out.len()]);
    }

    fn pull_back_diagonal(
        &self,
        _: &[f64],
        side: &Side,
        sensitivity: &[f64],
        gradient: &mut [f64],
    ) {
        for (feature, gradient) in gradient.iter_mut().enumerate() {
            let x = &side.feature(feature)[..sensitivity.len()];
            *gradient -= 2.0 * vector::weighted_sum(Product, x, x, sensitivity);
        }
    }

    fn relevance(&self, values: &[f64]) -> Vec<f64> {
        match self.ard {
            true => values.iter().map(|value| value.recip()).collect(),
            false => vec![1.0; self.columns.len()],
        }
    }
}

#[derive(Clone, Copy)]
struct Product;

impl vector::Function2 for Product {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> f64 {
        x * y
    }
}

/// (offset + sum_d x_d x'_d)^degree; its one parameter is the offset.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Polynomial {
    pub columns: Vec<usize>,
    pub degree: usize,
}

#[derive(Clone, Copy)]
struct Plus(f64);

impl Function for Plus {
    #[inline(always)]
    fn at(self, x: f64) -> f64 {
        x + self.0
    }
}

impl Polynomial {
    /// Sums `sensitivity` times the derivative by ln offset, given the bases offset + x.x'.
    fn offset_slope(&self, offset: f64, base: &[f64], sensitivity: &mut [f64]) -> f64 {
        for _ in 1..self.degree {
            vector::multiply(sensitivity, base);
        }
        self.degree as f64 * offset * vector::sum(sensitivity)
    }
}

impl Correlation for Polynomial {
    fn side(&self, _: &[f64], inputs: Inputs<'_>) -> Side {
        Side::scaled(inputs, &self.columns, |_| 1.0).with_norms()
    }

    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], memo: Option<&mut [f64]>) {
        let mut scratch = Vec::new();
        let base = memo.unwrap_or_else(|| {
            scratch.resize(pair.len(), 0.0);
            &mut scratch
        });
        vector::inner_products(pair, base);
        vector::apply(Plus(values[0]), base);
        out.copy_from_slice(base);
        for _ in 1..self.degree {
            vector::multiply(out, base);
        }
    }

    fn pull_back(
        &self,
        values: &[f64],
        _: &Pair<'_>,
        _: &[f64],
        memo: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        gradient[0] += self.offset_slope(values[0], memo, sensitivity);
    }

    fn diagonal(&self, values: &[f64], side: &Side, out: &mut [f64]) {
        let rows = out.len();
        for (out, norm) in out.iter_mut().zip(&side.marks()[..rows]) {
            let base = norm + values[0];
            *out = (1..self.degree).fold(base, |power, _| power * base);
        }
    }

    fn pull_back_diagonal(
        &self,
        values: &[f64],
        side: &Side,
        sensitivity: &[f64],
        gradient: &mut [f64],
    ) {
        let mut base = side.marks()[..sensitivity.len()].to_vec();
        vector::apply(Plus(values[0]), &mut base);
        gradient[0] += self.offset_slope(values[0], &base, &mut sensitivity.to_vec());
    }

    fn relevance(&self, _: &[f64]) -> Vec<f64> {
        vec![1.0; self.columns.len()]
    }
}
