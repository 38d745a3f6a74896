//! Gaussian processes on one machine.
//!
//! This crate holds the mathematics of a single Gaussian process: checked data, kernels with their text form,
//! exact posteriors, and the learning of hyperparameters. It never prints, reads the environment or opens a file;
//! tables belong to `quorate-table`, committees and model files to `quorate`.

pub mod data;
pub mod error;
pub mod gaussian;
pub mod kernel;
pub mod learn;
pub mod likelihood;
pub mod linalg;
pub mod parameters;
pub mod posterior;
pub mod watch;

pub use error::{Error, Result};
