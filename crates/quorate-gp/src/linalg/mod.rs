//! Dense linear algebra: the only code that names the matrix library.
//!
//! Large operations are cut into blocks of fixed width that run on the ambient rayon pool, each block sequentially
//! inside. Every number therefore comes from the same operations in the same order on any number of threads, and
//! many small problems side by side lose nothing to nested parallelism.

mod cholesky;
mod curvature;
mod factor;
mod product;
mod spares;
mod symmetric;

pub use cholesky::factor_in_place;
pub use curvature::{eigen, factor_if_positive, without_negative};
pub use factor::{Factor, Jitter, JitterPolicy};
pub use product::{add_gram_lower, add_product, columns, dot, multiply, product_tile};
pub use spares::Spares;
pub use symmetric::{fill_scaled_lower, symmetric_times};

/// Dense column-major matrix.
pub type Matrix = faer::Mat<f64>;
/// A borrowed matrix.
pub type MatrixRef<'a> = faer::MatRef<'a, f64>;
/// A mutably borrowed matrix.
pub type MatrixMut<'a> = faer::MatMut<'a, f64>;

/// Width of the blocks handed to the thread pool: as wide as the matrix product needs for its full rate.
pub(crate) const BLOCK: usize = 256;
/// The same where only a triangle is wanted: half a block's width beside the diagonal is work for nothing.
pub(crate) const TRIANGLE_BLOCK: usize = 128;
