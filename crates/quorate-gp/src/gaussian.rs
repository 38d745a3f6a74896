//! Beliefs about the latent function: moments, for people.

use crate::linalg::Matrix;

/// Mean and variance at each query point; one column per output.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    /// Row i, column o: mean of output o at query i.
    pub mean: Matrix,
    /// Row i, column o: variance of output o at query i.
    pub variance: Matrix,
}

/// Mean and joint covariance of the query points; the outputs share the covariance.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Row i, column o: mean of output o at query i.
    pub mean: Matrix,
    /// Covariance between query points.
    pub covariance: Matrix,
}
