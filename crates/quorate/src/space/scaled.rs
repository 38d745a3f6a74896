//! Inputs divided by their length scales.

use quorate_gp::data::{ColumnKind, Inputs};
use quorate_gp::kernel::BoundKernel;

/// How rows become points: which columns count, and by how much.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledSpace {
    /// Number columns with the inverse length scale of each.
    numbers: Vec<(usize, f64)>,
    /// Category columns with the squared distance between different levels.
    categories: Vec<(usize, f64)>,
}

impl ScaledSpace {
    /// The space in which the kernel sees the rows: a column it does not read has no extent.
    pub fn of_kernel(kernel: &BoundKernel) -> Self {
        let mut space = Self {
            numbers: Vec::new(),
            categories: Vec::new(),
        };
        let columns = kernel.columns().iter().zip(kernel.relevance());
        for (index, (column, (_, relevance))) in columns.enumerate() {
            if relevance <= 0.0 {
                continue;
            }
            match column.kind {
                ColumnKind::Category { .. } => space.categories.push((index, 2.0 * relevance)),
                ColumnKind::Number | ColumnKind::Missing => space.numbers.push((index, relevance)),
            }
        }
        space
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
