//! What a model predicts: a number, several numbers, a class, a count, an amount or a lifetime. The only place where tasks differ.
//!
//! Everything below answers about standardised outputs, one for each number or class, under one kernel and one
//! factorisation. Here a task is decided on, what is said about outputs is read as a [`Forecast`], and forecasts are
//! scored as a [`Scorecard`].

mod choice;
mod forecast;
mod inference;
mod judge;
mod link;
mod quantity;
mod reading;
mod scorecard;

pub use choice::TaskChoice;
pub(crate) use choice::{decide, has_likelihood, quantity};
pub(crate) use forecast::likeliest;
pub use forecast::{ClassPrediction, Forecast};
pub(crate) use inference::check_inference;
pub use inference::{InferenceChoice, LikelihoodChoice, Through};
pub(crate) use judge::{Judged, judge_held_out, judge_latents, judge_left_out, judge_through};
pub(crate) use link::Judgement;
pub use link::Link;
pub use quantity::{QuantityDraw, QuantityPrediction};
pub(crate) use reading::{Reading, class_answer};
pub use scorecard::{CardSum, Scorecard, SeveralScores, TargetScores};
