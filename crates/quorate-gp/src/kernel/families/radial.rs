//! Stationary kernels: a scalar profile of the scaled squared distance, everything else written once.

use super::correlation::Correlation;
use super::profiles::Profile;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};
use crate::kernel::vector::{self, Function, Function2, WithSlope};

/// A profile on some columns. Its parameters are the length scales, one for all columns or one for each, and then
/// the shape, for profiles that have one.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Radial<P> {
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

/// The value and dk/du.
#[derive(Clone, Copy)]
struct Slope<P>(P);

impl<P: Profile> WithSlope for Slope<P> {
    #[inline(always)]
    fn at(self, u: f64) -> (f64, f64) {
        self.0.with_slope(u)
    }
}

/// The value and u dk/du: all that one length scale for all columns needs.
#[derive(Clone, Copy)]
struct RadialSlope<P>(P);

impl<P: Profile> WithSlope for RadialSlope<P> {
    #[inline(always)]
    fn at(self, u: f64) -> (f64, f64) {
        let (value, slope) = self.0.with_slope(u);
        (value, u * slope)
    }
}

/// dk / d ln(shape) at the first of two numbers.
#[derive(Clone, Copy)]
struct ShapeSlope<P>(P);

impl<P: Profile> Function2 for ShapeSlope<P> {
    #[inline(always)]
    fn at(self, u: f64, _: f64) -> f64 {
        self.0.shape_slope(u)
    }
}

impl<P: Profile> Radial<P> {
    /// Number of length scales; a shape follows them.
    fn length_scales(&self) -> usize {
        if self.ard { self.columns.len() } else { 1 }
    }

    fn length_scale(&self, values: &[f64], feature: usize) -> f64 {
        values[if self.ard { feature } else { 0 }]
    }

    fn profile(&self, values: &[f64]) -> P {
        let shape = values.get(self.length_scales()).copied();
        self.profile.shaped(shape)
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
                match self.ard {
                    true => vector::map_with_slope(Slope(profile), memo, out),
                    false => vector::map_with_slope(RadialSlope(profile), memo, out),
                }
            }
        }
    }

    fn pull_back(
        &self,
        values: &[f64],
        pair: &Pair<'_>,
        _: &[f64],
        memo: &[f64],
        sensitivity: &mut [f64],
        gradient: &mut [f64],
    ) {
        if let Some(shape) = gradient.get_mut(self.length_scales()) {
            let mut u = vec![0.0; pair.len()];
            vector::squared_distances(pair, &mut u);
            let slope = ShapeSlope(self.profile(values));
            *shape += vector::weighted_sum(slope, &u, &u, sensitivity);
        }
        // du / d ln l_d = -2 ((x_d - x'_d) / l_d)^2, and the features are scaled by 1 / l_d already.
        if self.ard {
            vector::multiply(sensitivity, memo);
            let mut sums = vec![0.0; self.columns.len()];
            vector::weighted_squares(pair, sensitivity, &mut sums);
            for (gradient, sum) in gradient.iter_mut().zip(sums) {
                *gradient -= 2.0 * sum;
            }
        } else {
            gradient[0] -= 2.0 * vector::dot(sensitivity, memo);
        }
    }

    fn diagonal(&self, _: &[f64], _: &Side, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn pull_back_diagonal(&self, _: &[f64], _: &Side, _: &[f64], _: &mut [f64]) {}

    fn relevance(&self, values: &[f64]) -> Vec<f64> {
        (0..self.columns.len())
            .map(|feature| self.length_scale(values, feature).recip())
            .collect()
    }
}
