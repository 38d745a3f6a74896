//! Inputs divided by their length scales.

use quorate_gp::data::{ColumnKind, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::linalg::Matrix;

/// Step along a standardised column over which the expected change is measured: short against most length scales.
const STEP: f64 = 0.1;

/// `2 (k(x, x) - k(x, x'))` for a point and its neighbour one step along a column.
fn expected_change(kernel: &BoundKernel, width: usize, column: usize, step: f64) -> f64 {
    let mut pair = vec![0.0; 2 * width];
    pair[width + column] = step;
    let mut block = Matrix::zeros(2, 2);
    if let Ok(pair) = Inputs::new(&pair, 2, width) {
        kernel.fill(pair, pair, block.as_mut());
    }
    // The symmetric form serves kernels whose variance depends on the place.
    block[(0, 0)] + block[(1, 1)] - 2.0 * block[(0, 1)]
}

/// How rows become points: which columns count, and by how much.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledSpace {
    /// Number columns with the factor of each.
    numbers: Vec<(usize, f64)>,
    /// Category columns with the squared distance between different levels.
    categories: Vec<(usize, f64)>,
}

impl ScaledSpace {
    /// The space in which the kernel sees the rows: a step along a column is as long as the function is expected to
    /// change over it, `E[(f(x) - f(x'))^2] = 2 (k(x, x) - k(x, x'))`.
    ///
    /// Inverse length scales alone would let a term of tiny variance and short length scales decide who is near. A
    /// column the kernel does not read has no extent.
    pub fn of_kernel(kernel: &BoundKernel) -> Self {
        let mut space = Self {
            numbers: Vec::new(),
            categories: Vec::new(),
        };
        let width = kernel.columns().len();
        for (index, column) in kernel.columns().iter().enumerate() {
            let is_category = matches!(column.kind, ColumnKind::Category { .. });
            let step = if is_category { 1.0 } else { STEP };
            let change = expected_change(kernel, width, index, step);
            if change <= 0.0 {
                continue;
            }
            if is_category {
                space.categories.push((index, change));
            } else {
                space.numbers.push((index, change.sqrt() / step));
            }
        }
        space
    }

    /// For each of `width` columns, how much the function is expected to change per unit of it (per change of level for
    /// a category), as a root mean square.
    pub fn changes(&self, width: usize) -> Vec<f64> {
        let mut changes = vec![0.0; width];
        for (column, change) in &self.numbers {
            changes[*column] = *change;
        }
        for (column, square) in &self.categories {
            changes[*column] = square.sqrt();
        }
        changes
    }

    /// Coordinates of a point: scaled numbers, then category levels.
    pub fn dimension(&self) -> usize {
        self.numbers.len() + self.categories.len()
    }

    /// How many of them are numbers.
    pub fn number_dimension(&self) -> usize {
        self.numbers.len()
    }

    /// Squared distance added by each category column in which two points differ.
    pub fn category_distances(&self) -> impl Iterator<Item = f64> + '_ {
        self.categories.iter().map(|(_, distance)| *distance)
    }

    /// All rows as points, row after row.
    pub fn points(&self, inputs: Inputs<'_>) -> Vec<f64> {
        let mut points = Vec::with_capacity(inputs.rows() * self.dimension());
        for row in 0..inputs.rows() {
            let values = inputs.row(row);
            points.extend(
                self.numbers
                    .iter()
                    .map(|(column, scale)| values[*column] * scale),
            );
            points.extend(self.categories.iter().map(|(column, _)| values[*column]));
        }
        points
    }
}
