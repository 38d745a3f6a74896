//! What every likelihood can say about one row.

use super::Observation;
use crate::parameters::Parameter;

/// Log density of a target and its derivatives with respect to the latent value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Derivatives {
    /// `log p(y | f)`.
    pub log_density: f64,
    /// `g = d log p / df`.
    pub slope: f64,
    /// `W >= 0`: the curvature `-d^2 log p / df^2`, or its expectation over targets where the curvature itself may be
    /// negative (inverse Gaussian, Student-t).
    pub curvature: f64,
    /// `dW / df` of that same W; minus the third derivative of the log density where W is the curvature itself.
    pub curvature_slope: f64,
    /// `-d^2 log p / df^2` itself, of either sign.
    pub observed_curvature: f64,
}

impl Derivatives {
    /// Derivatives of a log density whose curvature is never negative.
    pub(super) fn concave(log_density: f64, slope: f64, curvature: f64, third: f64) -> Self {
        Self {
            log_density,
            slope,
            curvature,
            curvature_slope: third,
            observed_curvature: curvature,
        }
    }

    /// Adds the derivatives of `weight` copies of a row.
    pub(super) fn add(&mut self, weight: f64, row: &Derivatives) {
        self.log_density += weight * row.log_density;
        self.slope += weight * row.slope;
        self.curvature += weight * row.curvature;
        self.curvature_slope += weight * row.curvature_slope;
        self.observed_curvature += weight * row.observed_curvature;
    }
}

/// Derivatives with respect to the coordinate (the logarithm) of one dispersion parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dispersion {
    /// Of the log density.
    pub log_density: f64,
    /// Of the slope g.
    pub slope: f64,
    /// Of the curvature W.
    pub curvature: f64,
}

impl Dispersion {
    pub(super) fn add(&mut self, weight: f64, row: &Dispersion) {
        self.log_density += weight * row.log_density;
        self.slope += weight * row.slope;
        self.curvature += weight * row.curvature;
    }
}

/// Most dispersion parameters that any likelihood has.
pub(super) const MOST_DISPERSIONS: usize = 2;

/// The belief about the latent value behind one target, its offset added to the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latent {
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
}

/// The trait behind [`super::Likelihood`]; `latent` always includes the row's offset, and weights are left to the caller.
pub(super) trait Density: Send + Sync {
    /// Log density and its derivatives.
    fn derivatives(&self, seen: &Observation, latent: f64) -> Derivatives;

    /// Log density alone, where many are asked for.
    fn log_density(&self, seen: &Observation, latent: f64) -> f64 {
        self.derivatives(seen, latent).log_density
    }

    /// Derivatives with respect to each dispersion parameter.
    fn dispersions(&self, _seen: &Observation, _latent: f64) -> [Dispersion; MOST_DISPERSIONS] {
        Default::default()
    }

    /// The dispersion parameters.
    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Moves the dispersion parameters; as many values as parameters.
    fn set_values(&mut self, _values: &[f64]) {}

    /// What is wrong with a target, in words that follow "the target".
    fn complaint(&self, value: f64) -> Option<&'static str>;

    /// `P(y <= value | f)`.
    fn distribution(&self, value: f64, latent: f64) -> f64;

    /// Mean and variance of the target, the latent value averaged out.
    fn moments(&self, latent: Latent) -> (f64, f64);

    /// The distance over which functions of the latent value that belong to a target of this size change.
    fn resolution(&self, value: f64) -> f64;

    /// What kind of number a target is.
    fn support(&self) -> Support;
}

/// What kind of number a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// 0 or 1.
    Binary,
    /// 0, 1, 2, ...
    Count,
    /// Above 0.
    Positive,
    /// Any number.
    Real,
}
