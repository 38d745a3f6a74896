//! The periodic kernel.

use super::correlation::Correlation;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};
use crate::kernel::vector::{self, Function, Function2};

/// exp(-2 sum_d sin^2(pi (x_d - x'_d) / p_d) / l_d^2), one period per column (Rasmussen and Williams
/// 2006, eq. 4.31, for each column).
///
/// Its parameters are the length scales (one, or one per column) and then the periods of the number columns. A
/// missing-value indicator has no period: missing and present are half a turn apart.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Periodic {
    pub columns: Vec<usize>,
    /// For each column, its rank among the periods; none for an indicator.
    pub periods: Vec<Option<usize>>,
    pub ard: bool,
}

/// sin^2(pi (x - y) f) w for a frequency f and a weight w.
#[derive(Clone, Copy)]
struct Swing {
    frequency: f64,
    weight: f64,
}

impl Function2 for Swing {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> f64 {
        let sine = vector::sin_pi((x - y) * self.frequency);
        self.weight * sine * sine
    }
}

/// Derivative of -2 sin^2(pi t) w by ln p: 2 w sin(2 pi t) pi t with t = (x - y) f.
#[derive(Clone, Copy)]
struct PeriodSlope {
    frequency: f64,
    weight: f64,
}

impl Function2 for PeriodSlope {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> f64 {
        let t = (x - y) * self.frequency;
        2.0 * self.weight * vector::sin_pi(2.0 * t) * (std::f64::consts::PI * t)
    }
}

#[derive(Clone, Copy)]
struct ExpOfTwice;

impl Function for ExpOfTwice {
    #[inline(always)]
    fn at(self, x: f64) -> f64 {
        vector::exp(-2.0 * x)
    }
}

impl Periodic {
    fn length_scales(&self) -> usize {
        if self.ard { self.columns.len() } else { 1 }
    }

    fn length_scale(&self, values: &[f64], feature: usize) -> f64 {
        values[if self.ard { feature } else { 0 }]
    }

    fn swing(&self, values: &[f64], feature: usize) -> Swing {
        let frequency = match self.periods[feature] {
            Some(rank) => values[self.length_scales() + rank].recip(),
            None => 0.5,
        };
        let length_scale = self.length_scale(values, feature);
        Swing {
            frequency,
            weight: (length_scale * length_scale).recip(),
        }
    }
}

impl Correlation for Periodic {
    fn side(&self, _: &[f64], inputs: Inputs<'_>) -> Side {
        Side::scaled(inputs, &self.columns, |_| 1.0)
    }

    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], _: Option<&mut [f64]>) {
        out.fill(0.0);
        let stride = pair.rows.stride().max(1);
        for feature in 0..self.columns.len() {
            let swing = self.swing(values, feature);
            let rows = pair.rows.feature(feature);
            for (j, column) in pair.range.clone().zip(out.chunks_mut(stride)) {
                let other = pair.columns.feature(feature)[j];
                vector::add_at(swing, rows, other, column);
            }
        }
        vector::apply(ExpOfTwice, out);
    }

    fn pull_back(
        &self,
        values: &[f64],
        pair: &Pair<'_>,
        out: &[f64],
        _: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        vector::multiply(sensitivity, out);
        let stride = pair.rows.stride().max(1);
        for feature in 0..self.columns.len() {
            let swing = self.swing(values, feature);
            let slope = PeriodSlope {
                frequency: swing.frequency,
                weight: swing.weight,
            };
            let rows = pair.rows.feature(feature);
            let (mut by_length, mut by_period) = (0.0, 0.0);
            for (j, weights) in pair.range.clone().zip(sensitivity.chunks(stride)) {
                let other = pair.columns.feature(feature)[j];
                by_length += vector::weighted_sum_at(swing, rows, other, weights);
                if self.periods[feature].is_some() {
                    by_period += vector::weighted_sum_at(slope, rows, other, weights);
                }
            }
            // d/d ln l of -2 s^2 / l^2 is 4 s^2 / l^2.
            gradient[if self.ard { feature } else { 0 }] += 4.0 * by_length;
            if let Some(rank) = self.periods[feature] {
                gradient[self.length_scales() + rank] += by_period;
            }
        }
    }

    fn diagonal(&self, _: &[f64], _: &Side, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn pull_back_diagonal(&self, _: &[f64], _: &Side, _: &[f64], _: &mut [f64]) {}

    fn relevance(&self, values: &[f64]) -> Vec<f64> {
        (0..self.columns.len())
            .map(|feature| self.length_scale(values, feature).recip())
            .collect()
    }
}
