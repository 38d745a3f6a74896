//! Square matrices kept for the next evaluation.
//!
//! An objective is evaluated hundreds of times with matrices of one size. Given back to the allocator they may stay
//! resident in several arenas at once (twice the memory that is in use, measured at 2,000 rows), and every fresh page
//! costs a fault.

use std::sync::{Mutex, PoisonError};

use super::Matrix;

/// Square matrices of one size that nobody uses at the moment.
#[derive(Debug)]
pub struct Spares {
    size: usize,
    free: Mutex<Vec<Matrix>>,
}

impl Spares {
    /// No matrices yet.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            free: Mutex::new(Vec::new()),
        }
    }

    /// A matrix with values of no meaning.
    pub fn take(&self) -> Matrix {
        let spare = self
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        spare.unwrap_or_else(|| Matrix::zeros(self.size, self.size))
    }

    /// Keeps a matrix for the next one who asks.
    pub fn give_back(&self, matrix: Matrix) {
        debug_assert_eq!(matrix.nrows(), self.size);
        self.free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(matrix);
    }
}

/// A copy starts with no matrices: they hold nothing but memory.
impl Clone for Spares {
    fn clone(&self) -> Self {
        Self::new(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_given_back_is_the_next_one_taken() {
        let spares = Spares::new(3);
        let mut matrix = spares.take();
        matrix[(1, 2)] = 7.0;
        spares.give_back(matrix);
        assert_eq!(spares.take()[(1, 2)], 7.0);
        assert_eq!(spares.take()[(1, 2)], 0.0);
    }
}
