//! Hyperparameters as a distribution, and from data that stays apart.
//!
//! Three ways to learn from parts that never show a row (Latouche 2007, ch. 4), all through
//! [`quorate_gp::learn::Site`]: hyperparameters that all parts share, local Laplace approximations, Laplace propagation.
//! And what is known about hyperparameters after learning: a [`Hyperposterior`].

mod mixture;
mod parts;
mod posterior;
mod validate;

pub(crate) use mixture::{Component, components, predict, probabilities};
pub use mixture::{Mixture, MixturePart};
pub use parts::{FromParts, FromPartsWay, from_parts};
pub use posterior::{ChainReport, Hyperposterior, ParameterBelief};
pub use validate::validated;
