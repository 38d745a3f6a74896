//! What the library promises, through its public interface. One file a subject.
//!
//! One program for all of them: each further one would be linked with the whole library again.

mod classes;
mod committee;
mod common;
mod drawn;
mod ensemble;
mod exact_laws;
mod expanded;
mod experts;
mod fusion;
mod golden_exact;
mod golden_hyper;
mod golden_scores;
mod heard;
mod hyper;
mod joint;
mod landmarks;
mod latent;
mod learned;
mod lifetimes;
mod logarithms;
mod members;
mod messages;
mod mixture;
mod model;
mod network;
mod noise;
mod objective;
mod outliers;
mod outputs;
mod parts;
mod quantities;
mod real_columns;
mod real_landmarks;
mod spread;
mod streams;
mod supported;
mod textbook;
