//! The kernel of a wide neural network with error-function units (arcsine kernel).

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::correlation::Correlation;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};
use crate::kernel::vector::{self, Function2};

/// (2 / pi) asin((w x.x' + b) / sqrt((w x.x + b + 1) (w x'.x' + b + 1))) (Rasmussen and Williams 2006,
/// eq. 4.29, where w and b are twice the variances of weights and bias); its parameters are w and b.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Network {
    pub columns: Vec<usize>,
}

/// One column of a block: the parameters and the squared norm of the column's row.
#[derive(Clone, Copy)]
struct Column {
    weight: f64,
    bias: f64,
    norm: f64,
}

/// What value and slopes share, from t = x.x' and a = x.x.
#[derive(Clone, Copy)]
struct Angle {
    /// w t + b.
    top: f64,
    /// w a + b + 1, and the same of the column.
    row: f64,
    other: f64,
    /// (w a + b + 1) (w a' + b + 1) - (w t + b)^2.
    gap: f64,
}

impl Column {
    #[inline(always)]
    fn angle(self, t: f64, a: f64) -> Angle {
        let Column { weight, bias, norm } = self;
        // The gap is a sum of terms that are not negative; written as the difference of two products it would
        // vanish for long rows, and the arcsine is steep there.
        let spread = (a * norm - t * t).max(0.0);
        let apart = (a + norm - 2.0 * t).max(0.0);
        let least = weight * (a + norm) + 2.0 * bias + 1.0;
        Angle {
            top: weight * t + bias,
            row: weight * a + bias + 1.0,
            other: weight * norm + bias + 1.0,
            gap: weight * weight * spread + weight * bias * apart + least,
        }
    }
}

#[derive(Clone, Copy)]
struct Value(Column);

impl Function2 for Value {
    #[inline(always)]
    fn at(self, t: f64, a: f64) -> f64 {
        let angle = self.0.angle(t, a);
        let bottom = angle.row * angle.other;
        let z = angle.top / bottom.sqrt();
        let size = z.abs();
        // Above one half: asin z = pi / 2 - 2 asin sqrt((1 - z) / 2), with 1 - z = (1 - z^2) / (1 + z).
        let half_angle = (0.5 * (angle.gap / bottom) / (1.0 + size)).sqrt();
        let is_small = size <= 0.5;
        let arc = vector::asin_half(if is_small { size } else { half_angle });
        let arc = if is_small { arc } else { FRAC_PI_2 - 2.0 * arc };
        FRAC_2_PI * arc.copysign(z)
    }
}

/// dk / d ln w.
#[derive(Clone, Copy)]
struct WeightSlope(Column);

impl Function2 for WeightSlope {
    #[inline(always)]
    fn at(self, t: f64, a: f64) -> f64 {
        let angle = self.0.angle(t, a);
        let shares = a / angle.row + self.0.norm / angle.other;
        let slope = t - 0.5 * angle.top * shares;
        FRAC_2_PI * self.0.weight * slope / angle.gap.sqrt()
    }
}

/// dk / d ln b.
#[derive(Clone, Copy)]
struct BiasSlope(Column);

impl Function2 for BiasSlope {
    #[inline(always)]
    fn at(self, t: f64, a: f64) -> f64 {
        let angle = self.0.angle(t, a);
        let shares = angle.row.recip() + angle.other.recip();
        let slope = 1.0 - 0.5 * angle.top * shares;
        FRAC_2_PI * self.0.bias * slope / angle.gap.sqrt()
    }
}

fn column(values: &[f64], norm: f64) -> Column {
    Column {
        weight: values[0],
        bias: values[1],
        norm,
    }
}

impl Correlation for Network {
    fn side(&self, _: &[f64], inputs: Inputs<'_>) -> Side {
        Side::scaled(inputs, &self.columns, |_| 1.0).with_norms()
    }

    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], memo: Option<&mut [f64]>) {
        let mut scratch = Vec::new();
        let products = memo.unwrap_or_else(|| {
            scratch.resize(pair.len(), 0.0);
            &mut scratch
        });
        vector::inner_products(pair, products);
        let stride = pair.rows.stride().max(1);
        let columns = out.chunks_mut(stride).zip(products.chunks(stride));
        for (j, (out, products)) in pair.range.clone().zip(columns) {
            let value = Value(column(values, pair.columns.marks()[j]));
            vector::map_pairs(value, products, pair.rows.marks(), out);
        }
    }

    fn pull_back(
        &self,
        values: &[f64],
        pair: &Pair<'_>,
        _: &[f64],
        memo: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        let stride = pair.rows.stride().max(1);
        let columns = memo.chunks(stride).zip(sensitivity.chunks(stride));
        for (j, (products, weights)) in pair.range.clone().zip(columns) {
            let column = column(values, pair.columns.marks()[j]);
            let norms = pair.rows.marks();
            gradient[0] += vector::weighted_sum(WeightSlope(column), products, norms, weights);
            gradient[1] += vector::weighted_sum(BiasSlope(column), products, norms, weights);
        }
    }

    fn diagonal(&self, values: &[f64], side: &Side, out: &mut [f64]) {
        let rows = out.len();
        for (out, &norm) in out.iter_mut().zip(&side.marks()[..rows]) {
            *out = Value(column(values, norm)).at(norm, norm);
        }
    }

    fn pull_back_diagonal(
        &self,
        values: &[f64],
        side: &Side,
        sensitivity: &[f64],
        gradient: &mut [f64],
    ) {
        for (weight, &norm) in sensitivity.iter().zip(side.marks()) {
            let column = column(values, norm);
            gradient[0] += weight * WeightSlope(column).at(norm, norm);
            gradient[1] += weight * BiasSlope(column).at(norm, norm);
        }
    }

    fn relevance(&self, values: &[f64]) -> Vec<f64> {
        vec![values[0].sqrt(); self.columns.len()]
    }
}
