//! The stationary kernels as functions of the scaled squared distance u (Rasmussen and Williams 2006, sec. 4.2.1).

use std::fmt::Debug;

use crate::kernel::vector;

/// A stationary kernel as a function of u = sum_d ((x_d - x'_d) / l_d)^2.
pub(in crate::kernel) trait Profile: Copy + Debug + Send + Sync {
    /// k(u), with k(0) = 1.
    fn value(self, u: f64) -> f64;

    /// k(u) and dk/du; the slope is finite at u = 0, where it is multiplied by a distance of zero.
    fn with_slope(self, u: f64) -> (f64, f64);

    /// The profile with its own parameter, for those that have one.
    fn shaped(self, _shape: Option<f64>) -> Self {
        self
    }

    /// dk / d ln(shape).
    fn shape_slope(self, _u: f64) -> f64 {
        0.0
    }
}

/// exp(-u / 2) (eq. 4.9).
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct SquaredExponential;

impl Profile for SquaredExponential {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        vector::exp(-0.5 * u)
    }

    #[inline(always)]
    fn with_slope(self, u: f64) -> (f64, f64) {
        let value = self.value(u);
        (value, -0.5 * value)
    }
}

/// exp(-r) with r = sqrt(u) (eq. 4.18 with gamma = 1).
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Matern12;

impl Profile for Matern12 {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        vector::exp(-u.sqrt())
    }

    #[inline(always)]
    fn with_slope(self, u: f64) -> (f64, f64) {
        let r = u.sqrt();
        let value = vector::exp(-r);
        // -k / (2 r) grows without bound, but the squared differences it is multiplied by vanish faster.
        let slope = -0.5 * value / r;
        (value, if u > 0.0 { slope } else { 0.0 })
    }
}

/// The distance, or one at which exp(-s) is zero already: infinity times zero must not arise.
#[inline(always)]
fn near(s: f64) -> f64 {
    if s > 1000.0 { 1000.0 } else { s }
}

/// (1 + s) exp(-s) with s = sqrt(3 u) (eq. 4.17).
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Matern32;

impl Profile for Matern32 {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        self.with_slope(u).0
    }

    #[inline(always)]
    fn with_slope(self, u: f64) -> (f64, f64) {
        // dk/ds = -s exp(-s) and ds/du = 3 / (2 s).
        let s = near((3.0 * u).sqrt());
        let decay = vector::exp(-s);
        ((1.0 + s) * decay, -1.5 * decay)
    }
}

/// (1 + s + s^2 / 3) exp(-s) with s = sqrt(5 u) (eq. 4.17).
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Matern52;

impl Profile for Matern52 {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        self.with_slope(u).0
    }

    #[inline(always)]
    fn with_slope(self, u: f64) -> (f64, f64) {
        // dk/ds = -s (1 + s) exp(-s) / 3 and ds/du = 5 / (2 s).
        let s = near((5.0 * u).sqrt());
        let decay = vector::exp(-s);
        let linear = 1.0 + s;
        let value = (s * s).mul_add(1.0 / 3.0, linear) * decay;
        (value, (-5.0 / 6.0) * linear * decay)
    }
}

/// (1 + u / (2 shape))^-shape (eq. 4.19).
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct RationalQuadratic {
    shape: f64,
    /// 1 / (2 shape).
    rate: f64,
}

impl Default for RationalQuadratic {
    fn default() -> Self {
        RationalQuadratic {
            shape: 1.0,
            rate: 0.5,
        }
    }
}

impl Profile for RationalQuadratic {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        vector::exp(-self.shape * vector::ln_1p(self.rate * u))
    }

    #[inline(always)]
    fn with_slope(self, u: f64) -> (f64, f64) {
        let value = self.value(u);
        (value, -0.5 * value / (1.0 + self.rate * u))
    }

    fn shaped(self, shape: Option<f64>) -> Self {
        shape.map_or(self, |shape| RationalQuadratic {
            shape,
            rate: 0.5 / shape,
        })
    }

    #[inline(always)]
    fn shape_slope(self, u: f64) -> f64 {
        let w = self.rate * u;
        let logarithm = vector::ln_1p(w);
        let value = vector::exp(-self.shape * logarithm);
        let slope = self.shape * value * (w / (1.0 + w) - logarithm);
        // Far away the value is zero and stays zero; the bracket may be infinite there.
        if value > 0.0 { slope } else { 0.0 }
    }
}
