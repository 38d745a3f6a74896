//! Squared distances and inner products of every row of one side with rows of the other.

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
        let stride = self.pair.rows.stride();
        if stride == 0 {
            return;
        }
        let first = self.pair.range.start;
        let groups = self.out.chunks_mut(TOGETHER * stride).enumerate();
        for (group, out) in groups {
            let start = first + group * TOGETHER;
            match out.len() / stride {
                TOGETHER => columns::<S, SQUARED, TOGETHER>(simd, self.pair, start, out),
                count => {
                    for (k, column) in out.chunks_mut(stride).enumerate().take(count) {
                        columns::<S, SQUARED, 1>(simd, self.pair, start + k, column);
                    }
                }
            }
        }
    }
}

/// `J` columns from `start`: two vectors of rows at a time, sums held in registers.
#[inline(always)]
fn columns<S: Simd, const SQUARED: bool, const J: usize>(
    simd: S,
    pair: &Pair<'_>,
    start: usize,
    out: &mut [f64],
) {
    let (rows, others) = (pair.rows, pair.columns);
    let (out, _) = S::as_mut_simd_f64s(out);
    let height = out.len() / J;
    let mut i = 0;
    while i + 2 <= height {
        let mut sums = [[simd.splat_f64s(0.0); 2]; J];
        for d in 0..rows.features() {
            let (feature, _) = S::as_simd_f64s(rows.feature(d));
            let a = [feature[i], feature[i + 1]];
            let b = &others.feature(d)[start..start + J];
            for j in 0..J {
                let b = simd.splat_f64s(b[j]);
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
