//! Scalar functions applied along slices.

use pulp::NullaryFnOnce;

use super::dispatch;

/// A function of one number, to be inlined into a vector loop.
pub(in crate::kernel) trait Function: Copy {
    /// Its value.
    fn at(self, x: f64) -> f64;
}

/// A function of two numbers, to be inlined into a vector loop.
pub(in crate::kernel) trait Function2: Copy {
    /// Its value.
    fn at(self, x: f64, y: f64) -> f64;
}

/// Replaces every number by the function's value there.
pub(in crate::kernel) fn apply<F: Function>(function: F, values: &mut [f64]) {
    struct Apply<'a, F>(F, &'a mut [f64]);
    impl<F: Function> NullaryFnOnce for Apply<'_, F> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for value in self.1 {
                *value = self.0.at(*value);
            }
        }
    }
    dispatch(Apply(function, values));
}

/// A function and its slope, to be inlined into a vector loop.
pub(in crate::kernel) trait WithSlope: Copy {
    /// Its value, and what the pull-back will multiply the sensitivity by.
    fn at(self, x: f64) -> (f64, f64);
}

/// Writes the function's value at each number of `memo` to `to`, and replaces the number by the slope there.
pub(in crate::kernel) fn map_with_slope<F: WithSlope>(
    function: F,
    memo: &mut [f64],
    to: &mut [f64],
) {
    struct MapWithSlope<'a, F>(F, &'a mut [f64], &'a mut [f64]);
    impl<F: WithSlope> NullaryFnOnce for MapWithSlope<'_, F> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for (to, memo) in self.2.iter_mut().zip(self.1) {
                (*to, *memo) = self.0.at(*memo);
            }
        }
    }
    dispatch(MapWithSlope(function, memo, to));
}

/// Writes the function's value at each pair from `x` and `y` to `to`.
pub(in crate::kernel) fn map_pairs<F: Function2>(
    function: F,
    x: &[f64],
    y: &[f64],
    to: &mut [f64],
) {
    struct MapPairs<'a, F>(F, &'a [f64], &'a [f64], &'a mut [f64]);
    impl<F: Function2> NullaryFnOnce for MapPairs<'_, F> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for ((to, x), y) in self.3.iter_mut().zip(self.1).zip(self.2) {
                *to = self.0.at(*x, *y);
            }
        }
    }
    dispatch(MapPairs(function, x, y, to));
}

/// Adds the function's value at each number of `x` paired with the one number `y`.
pub(in crate::kernel) fn add_at<F: Function2>(function: F, x: &[f64], y: f64, to: &mut [f64]) {
    struct AddAt<'a, F>(F, &'a [f64], f64, &'a mut [f64]);
    impl<F: Function2> NullaryFnOnce for AddAt<'_, F> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for (to, x) in self.3.iter_mut().zip(self.1) {
                *to += self.0.at(*x, self.2);
            }
        }
    }
    dispatch(AddAt(function, x, y, to));
}

/// Adds the square of each number of `x`, rounded once, as [`super::inner_products`] would.
pub(in crate::kernel) fn add_squares(x: &[f64], to: &mut [f64]) {
    struct AddSquares<'a>(&'a [f64], &'a mut [f64]);
    impl NullaryFnOnce for AddSquares<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            for (to, x) in self.1.iter_mut().zip(self.0) {
                *to = x.mul_add(*x, *to);
            }
        }
    }
    dispatch(AddSquares(x, to));
}
