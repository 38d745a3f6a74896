//! Scaling and products along slices.

use pulp::NullaryFnOnce;

use super::dispatch;

/// Multiplies every number by the factor.
pub(in crate::kernel) fn scale(factor: f64, values: &mut [f64]) {
    struct Scale<'a>(f64, &'a mut [f64]);
    impl NullaryFnOnce for Scale<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for value in self.1 {
                *value *= self.0;
            }
        }
    }
    dispatch(Scale(factor, values));
}

/// Writes `factor` times each number of `from` to its partner.
pub(in crate::kernel) fn copy_scaled(factor: f64, from: &[f64], to: &mut [f64]) {
    struct CopyScaled<'a>(f64, &'a [f64], &'a mut [f64]);
    impl NullaryFnOnce for CopyScaled<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for (to, from) in self.2.iter_mut().zip(self.1) {
                *to = self.0 * from;
            }
        }
    }
    dispatch(CopyScaled(factor, from, to));
}

/// Multiplies each number by its partner.
pub(in crate::kernel) fn multiply(values: &mut [f64], partners: &[f64]) {
    struct Multiply<'a>(&'a mut [f64], &'a [f64]);
    impl NullaryFnOnce for Multiply<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for (value, partner) in self.0.iter_mut().zip(self.1) {
                *value *= partner;
            }
        }
    }
    dispatch(Multiply(values, partners));
}

/// Adds `factor` times each number of `from` to its partner.
pub(in crate::kernel) fn add_scaled(factor: f64, from: &[f64], to: &mut [f64]) {
    struct AddScaled<'a>(f64, &'a [f64], &'a mut [f64]);
    impl NullaryFnOnce for AddScaled<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for (to, from) in self.2.iter_mut().zip(self.1) {
                *to = self.0.mul_add(*from, *to);
            }
        }
    }
    dispatch(AddScaled(factor, from, to));
}
