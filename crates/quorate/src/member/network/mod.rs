//! Bayesian neural networks with one hidden layer, by the evidence procedure with Laplace's method (Latouche 2007, 2.1.2).

mod learn;
mod member;
mod shape;

pub(crate) use learn::normals;
pub use member::{NetworkMember, prepare, restore};
pub use shape::Network;
