//! Rows of classes, as the experiments on classes need them.

use quorate::Result;
use quorate_gp::data::{Column, ColumnKind, Dataset, Frame, InputColumn};

/// Rows whose classes are 0, 1 and so on.
#[derive(Clone, Debug)]
pub struct Classes {
    pub values: Vec<f64>,
    pub width: usize,
    pub labels: Vec<f64>,
}

impl Classes {
    /// Every column but `label` as numbers.
    pub fn of(table: &Frame) -> Self {
        let column = |name: &str| match table.column(name) {
            Some(Column::Number(cells)) => cells.clone(),
            _ => vec![0.0; table.rows()],
        };
        let names = table.header.names.iter().filter(|name| *name != "label");
        let inputs: Vec<Vec<f64>> = names.map(|name| column(name)).collect();
        let cells = (0..table.rows()).flat_map(|row| inputs.iter().map(move |cells| cells[row]));
        Self {
            values: cells.collect(),
            width: inputs.len(),
            labels: column("label"),
        }
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    pub fn select(&self, rows: &[usize]) -> Classes {
        let values = rows.iter().flat_map(|&row| self.row(row));
        Classes {
            values: values.copied().collect(),
            width: self.width,
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
        }
    }

    /// Some of the inputs.
    pub fn columns(&self, columns: &[usize]) -> Classes {
        let rows = 0..self.labels.len();
        let values = rows.flat_map(|row| columns.iter().map(move |&column| self.row(row)[column]));
        Classes {
            values: values.collect(),
            width: columns.len(),
            labels: self.labels.clone(),
        }
    }

    pub fn data(&self) -> Result<Dataset> {
        let (values, labels) = (self.values.clone(), self.labels.clone());
        Ok(Dataset::new(values, self.width, labels, None, None)?)
    }

    /// The inputs as a kernel wants to know them, once they have been standardised.
    pub fn input_columns(&self) -> Vec<InputColumn> {
        let column = |number: usize| InputColumn {
            name: format!("x{number}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        };
        (1..=self.width).map(column).collect()
    }

    /// Brings the inputs of others to mean 0 and standard deviation 1 of these rows.
    pub fn standardise(&self, others: &mut [&mut Classes]) {
        let rows = self.labels.len() as f64;
        for column in 0..self.width {
            let cells = || self.values.iter().skip(column).step_by(self.width);
            let mean = cells().sum::<f64>() / rows;
            let square = cells().map(|cell| (cell - mean).powi(2)).sum::<f64>() / rows;
            let deviation = if square > 0.0 { square.sqrt() } else { 1.0 };
            for other in &mut *others {
                let own = other.values.iter_mut().skip(column).step_by(self.width);
                own.for_each(|cell| *cell = (*cell - mean) / deviation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_get_the_scale_of_the_training_rows() {
        let train = Classes {
            values: vec![1.0, 5.0, 3.0, 5.0],
            width: 2,
            labels: vec![0.0, 1.0],
        };
        let mut test = train.select(&[1]);
        train.standardise(&mut [&mut test]);
        // The second column is constant: only its mean is taken away.
        assert_eq!(test.values, [1.0, 0.0]);
        assert_eq!(train.columns(&[1]).values, [5.0, 5.0]);
    }
}
