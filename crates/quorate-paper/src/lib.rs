//! Data to try things on: the artificial sets of the papers and a few more, behind `quorate generate`; and the papers'
//! experiments, behind `quorate reproduce`, in [`reproduce`].
//!
//! Every table follows from the kind of generator, the number of rows and a seed. Rows are drawn one after the other
//! from a ChaCha generator, so the first 100 rows of a table of 1,000 are the table of 100. The function that a
//! generator hides (the centres of [`Generator::Art`], say) has a seed of its own, so that two tables with different
//! rows can share it: one to learn from, one to be judged by.
//!
//! ```
//! use quorate_paper::{Generator, Options, generate};
//!
//! let table = generate(Generator::Sine, 100, 7, &Options::default())?;
//! assert_eq!(table.rows(), 100);
//! assert_eq!(table.header.names, ["x", "y"]);
//! # Ok::<(), quorate_gp::Error>(())
//! ```
//!
//! Writing a table to a file is left to `quorate-table`.

mod art;
mod categories;
mod draw;
mod friedman;
mod generator;
mod noise;
mod process;
pub mod reproduce;
mod sine;
mod step;
mod waveform;

pub use art::Bumps;
pub use friedman::friedman;
pub use generator::{Generator, Options, generate};
pub use sine::sine;
pub use step::step;
pub use waveform::base_waves;
