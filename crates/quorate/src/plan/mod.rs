//! Memory and time to a way of fitting: what fits is chosen before any work starts, what cannot fit is refused with the
//! number.
//!
//! A plan is made from the size of the table and a fixed cost table, never from the machine: the same specification and
//! the same rows give the same model everywhere.
//!
//! ```
//! use quorate::ModelSpec;
//! use quorate::plan::{Plan, Shape, Way};
//!
//! let shape = Shape { rows: 36_000, distinct_rows: 36_000, inputs: 8, terms: None, candidates: 5, restarts: None, learns: true, rows_tell: true, climbed_rows: None };
//! let plan = Plan::new(&ModelSpec::new("y"), &shape)?;
//! assert!(matches!(plan.chosen.way, Way::Local { .. }));
//! # Ok::<(), quorate::Error>(())
//! ```

mod budget;
mod choose;
mod cost;
mod shape;

pub use budget::{Memory, Span};
pub use choose::{Entry, Plan, Way};
pub use cost::Cost;
pub use shape::Shape;

/// Tables with at most this many distinct rows are fitted exactly unless told otherwise, and learn from all their rows.
pub const EXACT_ROWS: usize = 4000;
/// The same where targets have a likelihood: every evaluation of their evidence takes several factorisations.
pub const LATENT_ROWS: usize = 1500;
/// Tables with at most this many distinct rows, each of which says much through its likelihood, are answered from the
/// nearest rows unless told otherwise: each of them is expanded in its neighbourhood first.
pub const LATENT_LOCAL_ROWS: usize = 100_000;
/// Memory that a fit may take unless told otherwise.
pub const MEMORY: Memory = Memory(8 << 30);
