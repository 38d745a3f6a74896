//! How targets come from the latent function.
//!
//! Noise lives here: posteriors speak of the latent function, and noise is added once, at the end. [`GaussianNoise`] is
//! the one likelihood whose posterior is exact. Every other is a [`Likelihood`]: the log density of a target given the
//! latent value, its derivatives for Laplace's method, and the way from a belief about the latent value to a prediction.
//!
//! ```
//! use quorate_gp::likelihood::{Latent, Likelihood, Observation};
//!
//! let likelihood: Likelihood = "weibull".parse()?;
//! let belief = Latent { mean: 2.0, variance: 0.1 };
//! let (median, survival) = (likelihood.quantile(belief, 0.5), likelihood.survival(belief, 10.0));
//! assert!(median > 4.0 && median < 6.0 && survival > 0.2 && survival < 0.3);
//! // A lifetime that had not ended at 10: the density of a censored row is the survival.
//! let censored = likelihood.log_predictive(&Observation::of(10.0).censored(), belief);
//! assert!((censored.exp() - survival).abs() < 1e-9);
//! # Ok::<(), quorate_gp::Error>(())
//! ```

mod bernoulli;
mod choice;
mod count;
mod density;
mod gaussian;
mod lifetime;
mod observation;
mod positive;
mod predictive;
mod quadrature;
mod real;
mod softmax;
mod special;
mod start;
mod tilted;

pub use bernoulli::{Hinge, Logit, Probit};
pub use choice::{Likelihood, NAMES};
pub use count::{NegativeBinomial, Poisson};
pub use density::{Derivatives, Dispersion, Latent, Support};
pub use gaussian::GaussianNoise;
pub use lifetime::Weibull;
pub use observation::{Extras, Observation, Observations};
pub use positive::{Gamma, InverseGaussian};
pub use real::{Normal, StudentT};
pub use softmax::{Classes, softmax};
pub use special::{normal_distribution, normal_quantile};
pub use tilted::Tilted;
