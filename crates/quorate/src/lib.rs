//! Calibrated probabilistic predictions from tables of any size.
//!
//! This crate is the front door: [`ModelSpec`] holds every choice a person can make, [`Model`] fits, predicts, scores
//! and lives in a file. The mathematics of one Gaussian process is in [`gp`]; tables on disk belong to `quorate-table`.
//! What follows is the project's README, whose examples run as tests.
//!
#![doc = include_str!("../../../README.md")]

pub mod answers;
pub mod checkpoint;
pub mod classifier;
pub mod compare;
pub mod diagnose;
pub mod ensemble;
pub mod error;
pub mod expand;
pub mod file;
pub mod fit;
pub mod fusion;
#[doc(hidden)]
pub mod fuzz;
pub mod hyper;
pub mod inspect;
pub mod joint;
pub mod landmarks;
pub mod latent;
pub mod local;
pub mod member;
pub mod mixture;
pub mod model;
pub mod network;
pub mod objective;
pub mod partition;
pub mod parts;
pub mod pieces;
pub mod plan;
pub mod prediction;
mod prior;
pub mod score;
pub mod space;
pub mod spec;
pub mod spread;
pub mod task;
pub mod together;

pub use checkpoint::Checkpoint;
pub use error::{Error, Result};
pub use inspect::Inspection;
pub use model::Model;
pub use partition::PartChoice;
pub use prediction::Prediction;
pub use quorate_gp as gp;
pub use score::{ClassScores, Confidence, QuantityScores, Scores};
pub use spec::{
    KernelChoice, LandmarkChoice, LearnChoice, MethodChoice, ModeChoice, ModelSpec, SpreadChoice,
};
pub use task::{
    ClassPrediction, Forecast, InferenceChoice, LikelihoodChoice, QuantityDraw, QuantityPrediction,
    Scorecard, TaskChoice,
};
pub use together::JointPrediction;
