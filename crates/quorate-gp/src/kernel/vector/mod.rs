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

use pulp::WithSimd;

/// Runs the loop compiled for this processor.
#[inline]
fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    arch().dispatch(op)
}

#[cfg(not(test))]
#[inline]
fn arch() -> pulp::Arch {
    pulp::Arch::new()
}

#[cfg(test)]
use tests::arch;

#[cfg(test)]
pub(super) mod tests {
    //! The copies of the loops for other processors, forced to run on this one.

    use std::cell::Cell;

    use pulp::Arch;

    thread_local! {
        static FORCED: Cell<Option<Arch>> = const { Cell::new(None) };
    }

    pub(super) fn arch() -> Arch {
        FORCED.get().unwrap_or_default()
    }

    /// Every copy of the loops that this processor can run, the plain one among them.
    pub(in crate::kernel) fn every_arch() -> Vec<Arch> {
        let mut every = vec![Arch::Scalar, Arch::new()];
        #[cfg(target_arch = "x86_64")]
        every.extend(pulp::x86::V3::try_new().map(Arch::V3));
        every
    }

    /// Runs `work` on this thread with the loops compiled for another processor.
    pub(in crate::kernel) fn with_arch<T>(arch: Arch, work: impl FnOnce() -> T) -> T {
        FORCED.set(Some(arch));
        let result = work();
        FORCED.set(None);
        result
    }
}
