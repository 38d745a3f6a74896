//! What is believed about the latent function after seeing the rows.
