//! Tables from Python: columns of numpy numbers, or lists of text.

use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quorate_gp::data::{Column, ColumnType, Frame, Header, check_names};

use crate::errors::of_gp;

/// A table in the core's own form. Arrays of any layout are read in place: nothing is copied but into the table.
#[pyclass(frozen, module = "quorate._core")]
pub struct Table {
    pub frame: Arc<Frame>,
}

/// One column as Python hands it over: name, kind (`number`, `boolean`, `date`, `text`), cells.
type Named<'py> = (String, String, Bound<'py, PyAny>);

#[pymethods]
impl Table {
    /// A table of the columns of an array, then of further columns. Missing numbers are NaN, missing text is None.
    #[new]
    #[pyo3(signature = (array, names, columns, source = "X".to_owned()))]
    fn new(
        array: Option<PyReadonlyArray2<'_, f64>>,
        mut names: Vec<String>,
        columns: Vec<Named<'_>>,
        source: String,
    ) -> PyResult<Self> {
        let mut cells = Vec::with_capacity(names.len() + columns.len());
        if let Some(array) = &array {
            let array = array.as_array();
            cells.extend(
                array
                    .columns()
                    .into_iter()
                    .map(|column| Column::Number(column.iter().copied().collect())),
            );
        }
        let mut types = vec![ColumnType::Number; cells.len()];
        if names.len() != cells.len() {
            return Err(PyValueError::new_err(format!(
                "{} names for {} columns",
                names.len(),
                cells.len()
            )));
        }
        for (name, kind, values) in columns {
            let (column, column_type) = column(&kind, &values)?;
            names.push(name);
            types.push(column_type);
            cells.push(column);
        }
        let header = Header {
            source,
            names,
            types,
        };
        check_names(&header).map_err(of_gp)?;
        let frame = Frame::new(Arc::new(header), cells, 1).map_err(of_gp)?;
        Ok(Self {
            frame: Arc::new(frame),
        })
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.frame.rows()
    }
}

fn column(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<(Column, ColumnType)> {
    let column_type = match kind {
        "number" => ColumnType::Number,
        "boolean" => ColumnType::Boolean,
        "date" => ColumnType::Date,
        "text" => ColumnType::Text,
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no kind of column `{other}`"
            )));
        }
    };
    if column_type == ColumnType::Text {
        let cells: Vec<Option<String>> = values.extract()?;
        let cells = cells.into_iter().map(|cell| cell.map(Arc::from)).collect();
        return Ok((Column::Text(cells), column_type));
    }
    let cells: PyReadonlyArray1<'_, f64> = values.extract()?;
    let cells = cells.as_array().iter().copied().collect();
    Ok((Column::Number(cells), column_type))
}
