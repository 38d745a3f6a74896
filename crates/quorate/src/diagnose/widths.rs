//! Does a wide interval mean a large error? Counted on a fixed grid of widths, so that rows need not be kept.

use std::collections::BTreeMap;

use serde::Serialize;

/// Cells of the grid for each factor of two of the predicted deviation.
const CELLS_PER_OCTAVE: f64 = 16.0;
/// Classes of about equally many rows that are shown.
const CLASSES: usize = 10;

/// Rows whose predicted deviations are alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WidthClass {
    /// Share of the rows.
    pub share: f64,
    /// Root mean square of their predicted standard deviations.
    pub predicted: f64,
    /// Root mean square of their errors; equal to `predicted` when calibrated.
    pub seen: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    weight: f64,
    variance: f64,
    squared_error: f64,
}

/// Rows by the logarithm of their predicted deviation.
#[derive(Clone, Debug, Default)]
pub struct Widths {
    cells: BTreeMap<i32, Cell>,
}

impl Widths {
    /// Adds one row.
    pub fn add(&mut self, deviation: f64, error: f64, weight: f64) {
        // A deviation of zero has the lowest place; doubles span about 2,100 octaves, so the grid stays small.
        let place = (deviation.log2().max(-1100.0) * CELLS_PER_OCTAVE).floor() as i32;
        let cell = self.cells.entry(place).or_default();
        cell.weight += weight;
        cell.variance += weight * deviation * deviation;
        cell.squared_error += weight * error * error;
    }

    /// Neighbouring cells put together until each class has about a tenth of the rows.
    pub fn classes(&self) -> Vec<WidthClass> {
        let total: f64 = self.cells.values().map(|cell| cell.weight).sum();
        let mut classes = Vec::new();
        let mut here = Cell::default();
        let mut before = 0.0;
        for cell in self.cells.values() {
            here.weight += cell.weight;
            here.variance += cell.variance;
            here.squared_error += cell.squared_error;
            let next = (classes.len() + 1) as f64 / CLASSES as f64;
            if (before + here.weight) / total >= next - 1e-9 {
                before += here.weight;
                classes.push(class(here, total));
                here = Cell::default();
            }
        }
        if here.weight > 0.0 {
            classes.push(class(here, total));
        }
        classes
    }
}

fn class(cell: Cell, total: f64) -> WidthClass {
    WidthClass {
        share: cell.weight / total,
        predicted: (cell.variance / cell.weight).sqrt(),
        seen: (cell.squared_error / cell.weight).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_every_row_in_order_of_width() {
        let mut widths = Widths::default();
        for row in 0..5000 {
            let deviation = 0.1 * 1.001f64.powi(row);
            widths.add(deviation, 2.0 * deviation, 1.0);
        }
        let classes = widths.classes();
        assert!(classes.len() <= CLASSES + 1 && classes.len() >= CLASSES - 1);
        let total: f64 = classes.iter().map(|class| class.share).sum();
        assert!((total - 1.0).abs() < 1e-12);
        for pair in classes.windows(2) {
            assert!(pair[0].predicted < pair[1].predicted);
        }
        assert!(
            classes
                .iter()
                .all(|c| (c.seen / c.predicted - 2.0).abs() < 1e-9)
        );
    }

    #[test]
    fn equal_widths_are_one_class_and_none_are_none() {
        let mut widths = Widths::default();
        assert!(widths.classes().is_empty());
        for error in [0.0, 1.0, -1.0] {
            widths.add(0.0, error, 1.0);
            widths.add(0.0, error, 1.0);
        }
        let classes = widths.classes();
        assert_eq!(classes.len(), 1);
        assert_eq!(classes[0].predicted, 0.0);
    }
}
