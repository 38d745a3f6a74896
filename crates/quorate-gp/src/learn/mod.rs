//! Learning hyperparameters: objectives that add, weak priors, a quasi-Newton search with restarts.
//!
//! A point of the search is one flat vector of coordinates: the kernel's (in the order of
//! [`crate::kernel::Covariance::parameters`]), then the logarithm of the noise variance.

mod conditional;
mod evidence;
mod laplace;
mod multiclass;
mod objective;
mod optimise;
mod prior;
mod propagation;
mod restarts;
mod starts;

pub use conditional::{ConditionalLikelihood, Group};
pub use evidence::{BlockEvidence, at};
pub use laplace::{LaplaceEvidence, latent_at, latent_priors, learn_latent};
pub use multiclass::{MulticlassEvidence, learn_classes};
pub use objective::{Evaluation, Objective, remembered};
pub use optimise::{Optimum, SearchLimits, Stop, maximise};
pub use prior::{Plausible, WithPrior};
pub use propagation::{PropagationEvidence, learn_propagation};
pub use restarts::{Search, SearchRecord, affordable_restarts, learn, starting_points};
