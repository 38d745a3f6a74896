//! Loops over slices of numbers, compiled for the widest vectors the processor has.
//!
//! The loops are plain Rust that the compiler turns into vector instructions. [`pulp`] compiles each of them once for
//! AVX-512, once for AVX2 with fused multiply-add and once for the baseline, and picks at run time. Everything
//! inside must be inlined into those copies, hence `#[inline(always)]` on every scalar function here: a call that
//! stays a call would be compiled for the baseline, where `mul_add` is a slow library routine.

mod elementary;
mod maps;
mod pairs;
mod reduce;
mod scale;
mod weighted;

pub(super) use elementary::{asin_half, exp, ln_1p, sin_pi};
pub(super) use maps::{
    Function, Function2, WithSlope, add_at, add_squares, apply, map_pairs, map_with_slope,
};
pub(super) use pairs::{inner_products, squared_distances};
pub(super) use reduce::{dot, sum, weighted_sum, weighted_sum_at};
pub(super) use scale::{add_scaled, copy_scaled, multiply, scale};
pub(super) use weighted::{weighted_products, weighted_squares};

use pulp::{Arch, NullaryFnOnce};

/// Runs the loop compiled for this processor.
#[inline]
fn dispatch<Op: NullaryFnOnce>(op: Op) -> Op::Output {
    Arch::new().dispatch(op)
}
