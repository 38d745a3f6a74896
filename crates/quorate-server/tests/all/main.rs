//! The server and those who ask it. One file a subject.
//!
//! One program for all of them: each further one would be linked with the whole library again.

mod asking;
mod common;
mod serving;
