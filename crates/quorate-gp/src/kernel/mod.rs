//! Kernels: covariance functions, their text form, their gradients.
//!
//! [`Kernel`] is what people write and files hold: a sum of products of named kernels on named columns. Bound to the
//! encoded columns of a table it becomes a [`BoundKernel`], which has parameters and computes through the trait
//! [`Covariance`]: blocks, diagonals and the pull-back of a sensitivity. [`tiles`] walks whole matrices in parallel.
//! Noise is no kernel; it belongs to the likelihood.
//!
//! ```
//! use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
//! use quorate_gp::kernel::{Kernel, tiles};
//!
//! let column = InputColumn { name: "x".into(), kind: ColumnKind::Number, deviation: 1.0 };
//! let kernel = "2 * se(length_scale=0.5)".parse::<Kernel>()?.bind(&[column])?;
//! let rows = Inputs::new(&[0.0, 0.5], 2, 1)?;
//! let block = tiles::block(&kernel, rows, rows);
//! assert!((block[(0, 1)] - 2.0 * (-0.5_f64).exp()).abs() < 1e-15);
//! # Ok::<(), quorate_gp::Error>(())
//! ```

mod bind;
mod bound;
mod columns;
mod covariance;
mod diagonal;
mod evaluate;
mod families;
mod fuzz;
mod patch;
mod period;
mod side;
mod start;
mod text;
pub mod tiles;
mod vector;
mod workspace;

pub use bound::BoundKernel;
pub use covariance::Covariance;
#[doc(hidden)]
pub use fuzz::fuzz_parse;
pub use text::{Kernel, column_text};
