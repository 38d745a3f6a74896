//! The program as a person would use it. One file a subject.
//!
//! One program for all of them: each further one would be linked with the whole library again.

mod bad_input;
mod checkpoints;
mod compare;
mod harness;
mod hyper;
mod joint;
mod overwriting;
mod parts;
mod plan;
mod screen;
mod serve;
mod small_mistakes;
mod stray_cells;
mod streams;
mod verbs;
