//! What single Gaussian processes promise, through the public interface. One file a subject.
//!
//! One program for all of them: each further one would be linked with the whole library again.

mod golden_latent;
mod hyperposterior;
mod kernel_edges;
mod kernel_fuzz;
mod kernel_laws;
mod kernel_support;
mod kernel_text;
mod kernel_tiles;
mod laplace;
mod latent_parts;
mod latent_support;
mod likelihood_laws;
mod multiclass;
mod samplers;
