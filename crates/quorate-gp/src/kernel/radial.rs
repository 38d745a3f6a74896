//! Stationary kernels: two scalar functions of the scaled squared distance u, everything else written once.

use std::fmt::Debug;

use super::correlation::Correlation;
use super::side::{Pair, Side};
use super::vector::{self, Function, Function2};
use crate::data::Inputs;

/// A stationary kernel as a function of u = sum_d ((x_d - x'_d) / l_d)^2.
pub(super) trait Profile: Copy + Debug + Send + Sync {
    /// k(u), with k(0) = 1.
    fn value(self, u: f64) -> f64;
    /// dk/du, given u and k(u); finite at u = 0, where it is multiplied by a distance of zero.
    fn slope(self, u: f64, value: f64) -> f64;

    /// The profile with its own parameter, for those that have one.
    fn shaped(self, _shape: Option<f64>) -> Self {
        self
    }

    /// dk / d ln(shape), given u and k(u).
    fn shape_slope(self, _u: f64, _value: f64) -> f64 {
        0.0
    }
}

/// exp(-u / 2).
#[derive(Clone, Copy, Debug)]
pub(super) struct SquaredExponential;

impl Profile for SquaredExponential {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        vector::exp(-0.5 * u)
    }

    #[inline(always)]
    fn slope(self, _u: f64, value: f64) -> f64 {
        -0.5 * value
    }
}

/// exp(-r) with r = sqrt(u).
#[derive(Clone, Copy, Debug)]
pub(super) struct Matern12;

impl Profile for Matern12 {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        vector::exp(-u.sqrt())
    }

    #[inline(always)]
    fn slope(self, u: f64, value: f64) -> f64 {
        // -k / (2 r) grows without bound, but the squared distances it is multiplied by vanish faster.
        let slope = -0.5 * value / u.sqrt();
        if u > 0.0 { slope } else { 0.0 }
    }
}

/// (1 + s) exp(-s) with s = sqrt(3 u).
#[derive(Clone, Copy, Debug)]
pub(super) struct Matern32;

impl Profile for Matern32 {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        let s = (3.0 * u).sqrt();
        (1.0 + s) * vector::exp(-s)
    }

    #[inline(always)]
    fn slope(self, u: f64, value: f64) -> f64 {
        // dk/ds = -s exp(-s) and ds/du = 3 / (2 s).
        -1.5 * value / (1.0 + (3.0 * u).sqrt())
    }
}

/// (1 + s + s^2 / 3) exp(-s) with s = sqrt(5 u).
#[derive(Clone, Copy, Debug)]
pub(super) struct Matern52;

impl Profile for Matern52 {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        let s = (5.0 * u).sqrt();
        (1.0 + s + s * s / 3.0) * vector::exp(-s)
    }

    #[inline(always)]
    fn slope(self, u: f64, value: f64) -> f64 {
        // dk/ds = -s (1 + s) exp(-s) / 3 and ds/du = 5 / (2 s).
        let s = (5.0 * u).sqrt();
        (-5.0 / 6.0) * value * (1.0 + s) / (1.0 + s + s * s / 3.0)
    }
}

/// (1 + u / (2 shape))^-shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct RationalQuadratic {
    pub shape: f64,
}

impl Profile for RationalQuadratic {
    #[inline(always)]
    fn value(self, u: f64) -> f64 {
        vector::exp(-self.shape * vector::ln_1p(0.5 * u / self.shape))
    }

    #[inline(always)]
    fn slope(self, u: f64, value: f64) -> f64 {
        -0.5 * value / (1.0 + 0.5 * u / self.shape)
    }

    fn shaped(self, shape: Option<f64>) -> Self {
        RationalQuadratic {
            shape: shape.unwrap_or(self.shape),
        }
    }

    #[inline(always)]
    fn shape_slope(self, u: f64, value: f64) -> f64 {
        let w = 0.5 * u / self.shape;
        let slope = self.shape * value * (w / (1.0 + w) - vector::ln_1p(w));
        // Far away the value is zero and stays zero; the bracket may be infinite there.
        if value > 0.0 { slope } else { 0.0 }
    }
}

/// A profile on some columns, with one length scale for all of them or one for each.
#[derive(Clone, Debug)]
pub(super) struct Radial<P> {
    pub profile: P,
    pub columns: Vec<usize>,
    pub ard: bool,
}

#[derive(Clone, Copy)]
struct Value<P>(P);

impl<P: Profile> Function for Value<P> {
    #[inline(always)]
    fn at(self, u: f64) -> f64 {
        self.0.value(u)
    }
}

#[derive(Clone, Copy)]
struct Slope<P>(P);

impl<P: Profile> Function2 for Slope<P> {
    #[inline(always)]
    fn at(self, u: f64, value: f64) -> f64 {
        self.0.slope(u, value)
    }
}

#[derive(Clone, Copy)]
struct ShapeSlope<P>(P);

impl<P: Profile> Function2 for ShapeSlope<P> {
    #[inline(always)]
    fn at(self, u: f64, value: f64) -> f64 {
        self.0.shape_slope(u, value)
    }
}

impl<P: Profile> Radial<P> {
    /// Number of length scales; a shape follows them.
    fn length_scales(&self) -> usize {
        if self.ard { self.columns.len() } else { 1 }
    }

    fn profile(&self, values: &[f64]) -> P {
        self.profile
            .shaped(values.get(self.length_scales()).copied())
    }

    fn length_scale(&self, values: &[f64], feature: usize) -> f64 {
        values[if self.ard { feature } else { 0 }]
    }
}

impl<P: Profile> Correlation for Radial<P> {
    fn side(&self, values: &[f64], inputs: Inputs<'_>) -> Side {
        Side::scaled(inputs, &self.columns, |feature| {
            self.length_scale(values, feature).recip()
        })
    }

    fn fill(&self, values: &[f64], pair: &Pair<'_>, out: &mut [f64], memo: Option<&mut [f64]>) {
        let profile = self.profile(values);
        match memo {
            None => {
                vector::squared_distances(pair, out);
                vector::apply(Value(profile), out);
            }
            Some(memo) => {
                vector::squared_distances(pair, memo);
                vector::map(Value(profile), memo, out);
            }
        }
    }

    fn pull_back(
        &self,
        values: &[f64],
        pair: &Pair<'_>,
        out: &[f64],
        memo: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        let profile = self.profile(values);
        if let Some(shape) = gradient.get_mut(self.length_scales()) {
            *shape += vector::weighted_sum(ShapeSlope(profile), memo, out, sensitivity);
        }
        // du / d ln l_d = -2 ((x_d - x'_d) / l_d)^2, and the features are scaled by 1 / l_d already.
        vector::multiply_by(Slope(profile), memo, out, sensitivity);
        if self.ard {
            let mut sums = vec![0.0; self.columns.len()];
            vector::weighted_squares(pair, sensitivity, &mut sums);
            for (gradient, sum) in gradient.iter_mut().zip(sums) {
                *gradient -= 2.0 * sum;
            }
        } else {
            gradient[0] -= 2.0 * vector::dot(sensitivity, memo);
        }
    }

    fn diagonal(&self, _values: &[f64], _side: &Side, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn pull_back_diagonal(&self, _: &[f64], _: &Side, _: &[f64], _: &mut [f64]) {}

    fn relevance(&self, values: &[f64]) -> Vec<f64> {
        (0..self.columns.len())
            .map(|feature| self.length_scale(values, feature).recip())
            .collect()
    }
}
