//! Learning hyperparameters.
