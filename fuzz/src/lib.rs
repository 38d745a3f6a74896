//! Throws damaged bytes at every reader of outside input.
//!
//! A reader of files, or of what people type, may refuse its input but must not panic, hang or overflow. Each
//! [`Target`] is a plain function of bytes, so that a coverage-guided fuzzer can be attached to the same functions; the
//! driver here needs nothing but the stable toolchain. It starts from the small files in `fuzz/corpus`, damages them in
//! ways that keep some of their structure, and stops at the first input that breaks the promise, which it shrinks and
//! stores in `fuzz/failures`.
//!
//! ```text
//! cargo run --release -p quorate-fuzz -- kernel --seconds 3600 --seed 1
//! ```
//!
//! A failure that has been repaired belongs into the corpus: `tests/corpus.rs` reads every file there on every run.

pub mod corpus;
pub mod drive;
pub mod mutate;
pub mod random;
pub mod seal;
pub mod shrink;
pub mod targets;

pub use drive::{Failure, Settings, Statistics};
pub use targets::{TARGETS, Target};
