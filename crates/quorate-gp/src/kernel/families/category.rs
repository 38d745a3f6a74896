//! Kernels of category levels: exchangeable, and low-rank with learned embeddings.

use super::correlation::Correlation;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};
use crate::kernel::vector::{self, Function, Function2};

/// exp(-sum_d [a_d != b_d] / l_d): any two different levels are equally alike.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Exchangeable {
    pub columns: Vec<usize>,
    pub ard: bool,
}

/// w when the levels differ, else 0.
#[derive(Clone, Copy)]
struct Differs(f64);

impl Function2 for Differs {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> f64 {
        if x == y { 0.0 } else { self.0 }
    }
}

#[derive(Clone, Copy)]
struct ExpOfMinus;

impl Function for ExpOfMinus {
    #[inline(always)]
    fn at(self, x: f64) -> f64 {
        vector::exp(-x)
    }
}

impl Exchangeable {
    fn length_scale(&self, values: &[f64], feature: usize) -> f64 {
        values[if self.ard { feature } else { 0 }]
    }
}

impl Correlation for Exchangeable {
    fn side(&self, _: &[f64], inputs: Inputs<'_>) -> Side {
        Side::scaled(inputs, &self.columns, |_| 1.0)
    }

    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], _: Option<&mut [f64]>) {
        out.fill(0.0);
        let stride = pair.rows.stride().max(1);
        for feature in 0..self.columns.len() {
            let differs = Differs(self.length_scale(values, feature).recip());
            let rows = pair.rows.feature(feature);
            for (j, column) in pair.range.clone().zip(out.chunks_mut(stride)) {
                vector::add_at(differs, rows, pair.columns.feature(feature)[j], column);
            }
        }
        vector::apply(ExpOfMinus, out);
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
            // d/d ln l of -1 / l is 1 / l.
            let differs = Differs(self.length_scale(values, feature).recip());
            let rows = pair.rows.feature(feature);
            let place = if self.ard { feature } else { 0 };
            for (j, weights) in pair.range.clone().zip(sensitivity.chunks(stride)) {
                let other = pair.columns.feature(feature)[j];
                gradient[place] += vector::weighted_sum_at(differs, rows, other, weights);
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

/// w_a . w_b + kappa [a = b] for levels with embeddings w of a given rank; its parameters are the embeddings, level
/// after level, and kappa. A level never seen has the mean embedding.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Embedded {
    pub column: usize,
    pub levels: usize,
    pub rank: usize,
}

impl Embedded {
    fn kappa(&self, values: &[f64]) -> f64 {
        values[self.levels * self.rank]
    }

    /// A level's code; anything beyond the known levels is the unseen one.
    fn code(&self, value: f64) -> usize {
        (value as usize).min(self.levels)
    }

    /// Mean embedding, one coordinate.
    fn mean(&self, values: &[f64], k: usize) -> f64 {
        let sum: f64 = (0..self.levels)
            .map(|level| values[level * self.rank + k])
            .sum();
        sum / self.levels.max(1) as f64
    }

    /// Adds the derivative by one coordinate of a level's embedding, spread over all levels for the unseen one.
    fn add(&self, gradient: &mut [f64], level: f64, k: usize, value: f64) {
        let level = self.code(level);
        if level < self.levels {
            gradient[level * self.rank + k] += value;
        } else {
            for level in 0..self.levels {
                gradient[level * self.rank + k] += value / self.levels as f64;
            }
        }
    }
}

/// w when the levels are the same, else 0.
#[derive(Clone, Copy)]
struct Same(f64);

impl Function2 for Same {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> f64 {
        if x == y { self.0 } else { 0.0 }
    }
}

impl Correlation for Embedded {
    fn side(&self, values: &[f64], inputs: Inputs<'_>) -> Side {
        let means: Vec<f64> = (0..self.rank).map(|k| self.mean(values, k)).collect();
        let codes: Vec<usize> = (0..inputs.rows())
            .map(|row| self.code(inputs.row(row)[self.column]))
            .collect();
        let mut side = Side::new(inputs.rows(), self.rank);
        for (k, mean) in means.iter().enumerate() {
            for (place, &level) in side.feature_mut(k).iter_mut().zip(&codes) {
                *place = match level < self.levels {
                    true => values[level * self.rank + k],
                    false => *mean,
                };
            }
        }
        side.marked(|row| codes[row] as f64)
    }

    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], _: Option<&mut [f64]>) {
        vector::inner_products(pair, out);
        let same = Same(self.kappa(values));
        let stride = pair.rows.stride().max(1);
        for (j, column) in pair.range.clone().zip(out.chunks_mut(stride)) {
            vector::add_at(same, pair.rows.marks(), pair.columns.marks()[j], column);
        }
    }

    fn pull_back(
        &self,
        values: &[f64],
        pair: &Pair<'_>,
        _: &[f64],
        _: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        let (rows, others) = (pair.rows, pair.columns);
        let same = Same(self.kappa(values));
        let stride = rows.stride().max(1);
        let mut row_sums = vec![0.0; stride];
        for k in 0..self.rank {
            row_sums.fill(0.0);
            for (j, weights) in pair.range.clone().zip(sensitivity.chunks(stride)) {
                vector::add_scaled(others.feature(k)[j], weights, &mut row_sums);
                let by_column = vector::dot(weights, rows.feature(k));
                self.add(gradient, others.marks()[j], k, by_column);
            }
            for (level, sum) in rows.marks().iter().zip(&row_sums).take(rows.rows()) {
                self.add(gradient, *level, k, *sum);
            }
        }
        for (j, weights) in pair.range.clone().zip(sensitivity.chunks(stride)) {
            let other = others.marks()[j];
            gradient[self.levels * self.rank] +=
                vector::weighted_sum_at(same, rows.marks(), other, weights);
        }
    }

    fn diagonal(&self, values: &[f64], side: &Side, out: &mut [f64]) {
        out.fill(0.0);
        for k in 0..self.rank {
            for (out, w) in out.iter_mut().zip(side.feature(k)) {
                *out += w * w;
            }
        }
        for out in out {
            *out += self.kappa(values);
        }
    }

    fn pull_back_diagonal(
        &self,
        values: &[f64],
        side: &Side,
        sensitivity: &[f64],
        gradient: &mut [f64],
    ) {
        for k in 0..self.rank {
            let rows = sensitivity.iter().zip(side.feature(k)).zip(side.marks());
            for ((weight, w), level) in rows {
                self.add(gradient, *level, k, 2.0 * weight * w);
            }
        }
        gradient[self.levels * self.rank] += self.kappa(values) * sensitivity.iter().sum::<f64>();
    }

    fn relevance(&self, values: &[f64]) -> Vec<f64> {
        // Root mean square distance of the embeddings from their mean: how far levels stand apart.
        let squares: f64 = (0..self.rank)
            .map(|k| {
                let mean = self.mean(values, k);
                let squared = |level: usize| (values[level * self.rank + k] - mean).powi(2);
                (0..self.levels).map(squared).sum::<f64>()
            })
            .sum();
        vec![(squares / self.levels.max(1) as f64 + self.kappa(values)).sqrt()]
    }
}
