//! Kernels: covariance functions, their text form, their gradients.

mod covariance;

pub use covariance::Covariance;
