//! Weighted sums over pairs, one per feature: the heart of the pull-back to length scales.

use pulp::{Simd, WithSimd};

use super::dispatch;
use crate::kernel::side::Pair;

/// Features summed together, so that each load of a weight serves several of them.
const TOGETHER: usize = 4;

/// Adds sum_ij w_ij (a_id - b_jd)^2 to `sums[d]` for every feature d: directly, so nothing cancels.
pub(in crate::kernel) fn weighted_squares(pair: &Pair<'_>, weights: &[f64], sums: &mut [f64]) {
    dispatch(Weighted::<true> {
        pair,
        weights,
        sums,
    });
}

/// Adds sum_ij w_ij a_id b_jd to `sums[d]` for every feature d.
pub(in crate::kernel) fn weighted_products(pair: &Pair<'_>, weights: &[f64], sums: &mut [f64]) {
    dispatch(Weighted::<false> {
        pair,
        weights,
        sums,
    });
}

struct Weighted<'a, const SQUARED: bool> {
    pair: &'a Pair<'a>,
    weights: &'a [f64],
    sums: &'a mut [f64],
}

impl<const SQUARED: bool> WithSimd for Weighted<'_, SQUARED> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (group, sums) in self.sums.chunks_mut(TOGETHER).enumerate() {
            let first = group * TOGETHER;
            match <&mut [f64; TOGETHER]>::try_from(&mut *sums) {
                Ok(sums) => {
                    features::<S, SQUARED, TOGETHER>(simd, self.pair, self.weights, first, sums)
                }
                Err(_) => {
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let one = std::array::from_mut(sum);
                        features::<S, SQUARED, 1>(simd, self.pair, self.weights, first + k, one);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn features<S: Simd, const SQUARED: bool, const D: usize>(
    simd: S,
    pair: &Pair<'_>,
    weights: &[f64],
    first: usize,
    sums: &mut [f64; D],
) {
    let stride = pair.rows.stride();
    if stride == 0 {
        return;
    }
    let rows: [&[S::f64s]; D] =
        std::array::from_fn(|k| S::as_simd_f64s(pair.rows.feature(first + k)).0);
    let mut lanes = [[simd.splat_f64s(0.0); 2]; D];
    for (j, weights) in pair.range.clone().zip(weights.chunks(stride)) {
        let (weights, _) = S::as_simd_f64s(weights);
        let others: [S::f64s; D] =
            std::array::from_fn(|k| simd.splat_f64s(pair.columns.feature(first + k)[j]));
        let mut i = 0;
        while i + 2 <= weights.len() {
            for k in 0..D {
                for half in 0..2 {
                    let (one, other) = if SQUARED {
                        let difference = simd.sub_f64s(rows[k][i + half], others[k]);
                        (difference, difference)
                    } else {
                        (rows[k][i + half], others[k])
                    };
                    let weighted = simd.mul_f64s(weights[i + half], one);
                    lanes[k][half] = simd.mul_add_f64s(weighted, other, lanes[k][half]);
                }
            }
            i += 2;
        }
    }
    for k in 0..D {
        sums[k] += simd.reduce_sum_f64s(simd.add_f64s(lanes[k][0], lanes[k][1]));
    }
}
