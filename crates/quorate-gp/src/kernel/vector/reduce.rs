//! Sums over slices, each in a fixed order.

use pulp::NullaryFnOnce;

use super::dispatch;
use super::maps::Function2;

/// Partial sums kept side by side: enough for several vectors in flight.
const LANES: usize = 32;

/// Sum of w_i f(x_i, y_i).
pub(in crate::kernel) fn weighted_sum<F: Function2>(
    function: F,
    x: &[f64],
    y: &[f64],
    weights: &[f64],
) -> f64 {
    dispatch(WeightedSum {
        function,
        x,
        y,
        weights,
    })
}

struct WeightedSum<'a, F> {
    function: F,
    x: &'a [f64],
    y: &'a [f64],
    weights: &'a [f64],
}

impl<F: Function2> NullaryFnOnce for WeightedSum<'_, F> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut lanes = [0.0; LANES];
        let (xs, x_rest) = self.x.as_chunks::<LANES>();
        let (ys, y_rest) = self.y.as_chunks::<LANES>();
        let (ws, w_rest) = self.weights.as_chunks::<LANES>();
        for ((x, y), w) in xs.iter().zip(ys).zip(ws) {
            for k in 0..LANES {
                lanes[k] = w[k].mul_add(self.function.at(x[k], y[k]), lanes[k]);
            }
        }
        for (k, ((x, y), w)) in x_rest.iter().zip(y_rest).zip(w_rest).enumerate() {
            lanes[k] = w.mul_add(self.function.at(*x, *y), lanes[k]);
        }
        let mut width = LANES / 2;
        while width > 0 {
            for k in 0..width {
                lanes[k] += lanes[k + width];
            }
            width /= 2;
        }
        lanes[0]
    }
}

/// Sum of w_i f(x_i, y) for one y.
pub(in crate::kernel) fn weighted_sum_at<F: Function2>(
    function: F,
    x: &[f64],
    y: f64,
    weights: &[f64],
) -> f64 {
    weighted_sum(At(function, y), x, x, weights)
}

#[derive(Clone, Copy)]
struct At<F>(F, f64);

impl<F: Function2> Function2 for At<F> {
    #[inline(always)]
    fn at(self, x: f64, _: f64) -> f64 {
        self.0.at(x, self.1)
    }
}

/// Sum of x_i y_i.
pub(in crate::kernel) fn dot(x: &[f64], y: &[f64]) -> f64 {
    #[derive(Clone, Copy)]
    struct First;
    impl Function2 for First {
        #[inline(always)]
        fn at(self, x: f64, _: f64) -> f64 {
            x
        }
    }
    weighted_sum(First, x, x, y)
}

/// Sum of x_i.
pub(in crate::kernel) fn sum(x: &[f64]) -> f64 {
    #[derive(Clone, Copy)]
    struct One;
    impl Function2 for One {
        #[inline(always)]
        fn at(self, _: f64, _: f64) -> f64 {
            1.0
        }
    }
    weighted_sum(One, x, x, x)
}
