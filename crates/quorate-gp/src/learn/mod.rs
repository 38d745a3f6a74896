//! Learning hyperparameters: objectives that add, priors, a quasi-Newton search with restarts, curvatures, and what parts
//! say to each other about hyperparameters without showing a row.
//!
//! A point of the search is one flat vector of coordinates: the kernel's (in the order of
//! [`crate::kernel::Covariance::parameters`]), then the logarithm of the noise variance.

mod conditional;
mod curvature;
mod evidence;
mod hyperprior;
mod laplace;
mod latent_conditional;
mod left_out;
mod message;
mod multiclass;
mod objective;
mod optimise;
mod polish;
mod prior;
mod propagate;
mod propagation;
mod restarts;
pub mod sample;
mod site;
mod starts;

pub use conditional::{ConditionalLikelihood, Group};
pub use curvature::{Curved, Expansion, differenced};
pub use evidence::{BlockEvidence, at};
pub use hyperprior::Hyperprior;
pub use laplace::{LaplaceEvidence, latent_at, latent_priors, learn_latent};
pub use latent_conditional::LatentConditional;
pub use left_out::LeaveOneOutDensity;
pub use message::{Message, Quadratic};
pub use multiclass::{MulticlassEvidence, learn_classes};
pub use objective::{Evaluation, Objective, remembered};
pub use optimise::{Optimum, SearchLimits, Stop, maximise};
pub use prior::{Plausible, WithPrior};
pub use propagate::{Agreement, Propagation, Round, Schedule, local_approximations, propagate};
pub use propagation::{PropagationEvidence, learn_propagation};
pub use restarts::{Search, SearchRecord, affordable_restarts, learn, starting_points};
pub use site::{LocalSite, Question, Reply, Shared, Site};
