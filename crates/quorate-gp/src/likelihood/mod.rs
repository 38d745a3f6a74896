//! How targets come from the latent function.
