//! Dense linear algebra: the only code that names the matrix library.

/// Dense column-major matrix.
pub type Matrix = faer::Mat<f64>;
/// A borrowed matrix.
pub type MatrixRef<'a> = faer::MatRef<'a, f64>;
/// A mutably borrowed matrix.
pub type MatrixMut<'a> = faer::MatMut<'a, f64>;
