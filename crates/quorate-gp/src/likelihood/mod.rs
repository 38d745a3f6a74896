//! How targets come from the latent function.
//!
//! Noise lives here: posteriors speak of the latent function, and noise is added once, at the end.

mod gaussian;

pub use gaussian::GaussianNoise;
