//! The two inputs that matter most, as the axes of a map.

use quorate_gp::data::{ColumnKind, NumberScale};

use crate::error::Result;
use crate::model::Model;
use crate::space::ScaledSpace;

/// Numeric inputs with the greatest relevance: two, or one, or none where the kernel reads no number.
#[derive(Clone, Debug, PartialEq)]
pub struct MapColumns {
    /// Encoded column, name, scaling.
    axes: Vec<(usize, String, NumberScale)>,
}

impl MapColumns {
    /// Encoded columns of the axes.
    pub fn columns(&self) -> Vec<usize> {
        self.axes.iter().map(|(column, _, _)| *column).collect()
    }

    /// Names of the axes.
    pub fn names(&self) -> Vec<&str> {
        self.axes.iter().map(|(_, name, _)| name.as_str()).collect()
    }

    /// An encoded place in the inputs' own units.
    pub fn own_units(&self, place: &[f64]) -> Vec<f64> {
        self.axes
            .iter()
            .zip(place)
            .map(|((_, _, scale), value)| scale.undo(*value))
            .collect()
    }

    /// The place of encoded inputs in their own units.
    pub fn place(&self, inputs: &[f64]) -> Vec<f64> {
        let values: Vec<f64> = self.axes.iter().map(|axis| inputs[axis.0]).collect();
        self.own_units(&values)
    }
}

impl Model {
    /// The axes of a map of this model.
    pub fn map_columns(&self) -> Result<MapColumns> {
        let columns = self.schema().columns();
        let bound = self.kernel().bind(columns)?;
        let changes = ScaledSpace::of_kernel(&bound).changes(columns.len());
        let mut order: Vec<usize> = (0..columns.len())
            .filter(|&column| columns[column].kind == ColumnKind::Number && changes[column] > 0.0)
            .collect();
        order.sort_by(|&a, &b| changes[b].total_cmp(&changes[a]).then(a.cmp(&b)));
        order.truncate(2);
        // As in the table: who has a longitude and a latitude expects the map to lie as maps do.
        order.sort_unstable();
        let axes = order
            .into_iter()
            .filter_map(|column| {
                let name = columns[column].name.clone();
                let scale = self.schema().scale(&name)?;
                Some((column, name, scale))
            })
            .collect();
        Ok(MapColumns { axes })
    }
}
