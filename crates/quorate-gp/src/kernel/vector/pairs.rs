//! Squared distances and inner products of every row of one side with rows of the other.
//!
//! Direct sums, one fused step a feature. Distances through a matrix product would lose the digits of close rows,
//! which a Matern kernel needs; and held in registers as below the direct sums run at the rate of a matrix product
//! up to hundreds of features. An entry depends on its two rows alone, never on its place in a block.

use pulp::{Arch, Simd, WithSimd};

use crate::kernel::side::Pair;

/// Columns of a patch computed together, so that each load of a row's feature serves several of them.
const TOGETHER: usize = 4;

/// Writes sum_d (a_d - b_d)^2 for every pair: no cancellation, exactly zero for equal rows.
pub(in crate::kernel) fn squared_distances(pair: &Pair<'_>, out: &mut [f64]) {
    Arch::new().dispatch(Accumulate::<true> { pair, out });
}

/// Writes sum_d a_d b_d for every pair.
pub(in crate::kernel) fn inner_products(pair: &Pair<'_>, out: &mut [f64]) {
    Arch::new().dispatch(Accumulate::<false> { pair, out });
}

struct Accumulate<'a, const SQUARED: bool> {
    pair: &'a Pair<'a>,
    out: &'a mut [f64],
}

impl<const SQUARED: bool> WithSimd for Accumulate<'_, SQUARED> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (rows, others) = (self.pair.rows, self.pair.columns);
        let stride = rows.stride();
        if stride == 0 {
            return;
        }
        for (group, out) in self.out.chunks_mut(TOGETHER * stride).enumerate() {
            let first = self.pair.range.start + group * TOGETHER;
            // The features of these columns side by side, where the sums below read them in order.
            let mut packed = [[0.0; TOGETHER]; PACKED];
            for start in (0..rows.features().max(1)).step_by(PACKED) {
                let features = start..(start + PACKED).min(rows.features());
                for (feature, place) in features.clone().zip(&mut packed) {
                    let source = others.feature(feature);
                    for (k, value) in place.iter_mut().enumerate() {
                        *value = source.get(first + k).copied().unwrap_or(0.0);
                    }
                }
                match out.len() / stride {
                    TOGETHER => {
                        sums::<S, SQUARED, TOGETHER>(simd, self.pair, features, &packed, out)
                    }
                    3 => sums::<S, SQUARED, 3>(simd, self.pair, features, &packed, out),
                    2 => sums::<S, SQUARED, 2>(simd, self.pair, features, &packed, out),
                    _ => sums::<S, SQUARED, 1>(simd, self.pair, features, &packed, out),
                }
            }
        }
    }
}

/// Features summed before the sums are written back: what the rows need of them stays in the first-level cache.
const PACKED: usize = 16;

/// The sums of a run of features for `J` columns, two vectors of rows at a time, held in registers.
#[inline(always)]
fn sums<S: Simd, const SQUARED: bool, const J: usize>(
    simd: S,
    pair: &Pair<'_>,
    features: std::ops::Range<usize>,
    packed: &[[f64; TOGETHER]; PACKED],
    out: &mut [f64],
) {
    let (out, _) = S::as_mut_simd_f64s(out);
    let height = out.len() / J;
    let is_first = features.start == 0;
    let mut i = 0;
    while i + 2 <= height {
        let mut sums = [[simd.splat_f64s(0.0); 2]; J];
        if !is_first {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = [out[j * height + i], out[j * height + i + 1]];
            }
        }
        for (feature, others) in features.clone().zip(packed) {
            let (rows, _) = S::as_simd_f64s(pair.rows.feature(feature));
            let a = [rows[i], rows[i + 1]];
            for j in 0..J {
                let b = simd.splat_f64s(others[j]);
                for k in 0..2 {
                    sums[j][k] = if SQUARED {
                        let difference = simd.sub_f64s(a[k], b);
                        simd.mul_add_f64s(difference, difference, sums[j][k])
                    } else {
                        simd.mul_add_f64s(a[k], b, sums[j][k])
                    };
                }
            }
        }
        for (j, sum) in sums.iter().enumerate() {
            out[j * height + i] = sum[0];
            out[j * height + i + 1] = sum[1];
        }
        i += 2;
    }
}
