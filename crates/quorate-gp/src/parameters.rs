//! Named, bounded hyperparameters as one flat vector.
//!
//! A parameter has a value in its own units (a length, a variance) and a coordinate, the number an optimiser or sampler
//! moves: the logarithm for positive quantities, the value itself for signed ones.

use serde::{Deserialize, Serialize};

/// How a value becomes a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transform {
    /// Positive quantity; its coordinate is the natural logarithm.
    Log,
    /// Quantity of either sign; its coordinate is itself.
    Identity,
}

impl Transform {
    /// The coordinate of a value.
    pub fn coordinate(self, value: f64) -> f64 {
        match self {
            Transform::Log => value.ln(),
            Transform::Identity => value,
        }
    }

    /// The value at a coordinate.
    pub fn value(self, coordinate: f64) -> f64 {
        match self {
            Transform::Log => coordinate.exp(),
            Transform::Identity => coordinate,
        }
    }
}

/// What kind of quantity a parameter is; priors, starting points and reports depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Variance of a term of the kernel, in units of the (standardised) target's variance.
    Variance,
    /// Length over which inputs stay alike, in units of the (standardised) input.
    LengthScale,
    /// Period of a periodic kernel, in units of the (standardised) input.
    Period,
    /// Shape of the rational quadratic kernel (alpha), or a dispersion of a likelihood.
    Shape,
    /// Exponent of a lifetime's hazard.
    Hazard,
    /// Offset, bias or weight variance inside a kernel.
    Offset,
    /// One coordinate of a category level's embedding; signed.
    Embedding,
    /// Noise variance of the likelihood, in units of the (standardised) target's variance.
    Noise,
}

/// One hyperparameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Full name, such as `matern32.length_scale[age]`.
    pub name: String,
    /// Current value in its own units.
    pub value: f64,
    /// How it is moved.
    pub transform: Transform,
    /// What it is.
    pub role: Role,
    /// True when learning must leave it alone.
    pub fixed: bool,
}

impl Parameter {
    /// A positive parameter that learning may move.
    pub fn positive(name: impl Into<String>, role: Role, value: f64) -> Self {
        Self {
            name: name.into(),
            value,
            transform: Transform::Log,
            role,
            fixed: false,
        }
    }

    /// A signed parameter that learning may move.
    pub fn signed(name: impl Into<String>, role: Role, value: f64) -> Self {
        Self {
            transform: Transform::Identity,
            ..Self::positive(name, role, value)
        }
    }

    /// Its coordinate now.
    pub fn coordinate(&self) -> f64 {
        self.transform.coordinate(self.value)
    }
}
