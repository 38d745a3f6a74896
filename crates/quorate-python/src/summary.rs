//! The mergeable state of a landmarks model, and objectives part by part.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quorate::landmarks::Committee;

use crate::errors::to_python;
use crate::model::Model;
use crate::table::Table;
use crate::work::{Wishes, run};

/// Information, vector, log evidence and number of rows.
type Numbers<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    f64,
    f64,
);

/// Names, coordinates, and whether each is fixed.
type Named<'py> = (Vec<String>, Bound<'py, PyArray1<f64>>, Vec<bool>);

/// An objective and its gradient.
type Slope<'py> = (f64, Bound<'py, PyArray1<f64>>);

/// What a landmarks model adds up: information, vector, log evidence, rows.
#[pyfunction]
pub fn summary_numbers<'py>(py: Python<'py>, model: &Model) -> PyResult<Numbers<'py>> {
    let total = &committee(model)?.total;
    let count = total.landmarks();
    // Only the lower triangle is kept.
    let pairs = (0..count).flat_map(|row| (0..count).map(move |column| (row, column)));
    let information: Vec<f64> = pairs
        .map(|(row, column)| total.information[(row.max(column), row.min(column))])
        .collect();
    Ok((
        information.into_pyarray(py).reshape([count, count])?,
        total.vector.col_as_slice(0).to_vec().into_pyarray(py),
        total.log_evidence,
        total.rows,
    ))
}

/// The parts of the first model without those of the second.
#[pyfunction]
pub fn subtract(model: &Model, other: &Model) -> PyResult<Model> {
    let left = model.inner.fork().subtract(other.inner.fork());
    left.map(Model::new).map_err(to_python)
}

/// Names, coordinates and whether each is fixed, of the hyperparameters.
#[pyfunction]
pub fn hyperparameters<'py>(py: Python<'py>, model: &Model) -> PyResult<Named<'py>> {
    let parameters = model.inner.hyperparameters().map_err(to_python)?;
    let names = parameters.iter().map(|p| p.name.clone()).collect();
    let fixed = parameters.iter().map(|p| p.fixed).collect();
    let coordinates: Vec<f64> = parameters.iter().map(|p| p.coordinate()).collect();
    Ok((names, coordinates.into_pyarray(py), fixed))
}

/// The same landmarks at other hyperparameters, with no rows.
#[pyfunction]
pub fn emptied_at(model: &Model, coordinates: PyReadonlyArray1<'_, f64>) -> PyResult<Model> {
    let emptied = model.inner.emptied_at(&point(&coordinates)?);
    emptied.map(Model::new).map_err(to_python)
}

/// Log evidence of the training rows of an exact model, or of a table as one block, and its gradient.
#[pyfunction]
#[pyo3(signature = (model, table, coordinates, threads = 0))]
pub fn block_evidence<'py>(
    py: Python<'py>,
    model: &Model,
    table: Option<&Table>,
    coordinates: PyReadonlyArray1<'_, f64>,
    threads: usize,
) -> PyResult<Slope<'py>> {
    let point = point(&coordinates)?;
    let model = model.inner.clone();
    let frame = table.map(|table| table.frame.clone());
    let found = run(py, threads_only(threads), move |_| match frame {
        Some(frame) => model.block_evidence_of(&frame, &point),
        None => model.evidence_at(&point),
    })?;
    Ok((found.value, found.gradient.into_pyarray(py)))
}

/// What a table adds to the gradient of the committee evidence of a landmarks model.
#[pyfunction]
#[pyo3(signature = (model, table, threads = 0))]
pub fn committee_gradient<'py>(
    py: Python<'py>,
    model: &Model,
    table: &Table,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (model, frame) = (model.inner.clone(), table.frame.clone());
    let gradient = run(py, threads_only(threads), move |_| {
        model.committee_gradient(&frame)
    })?;
    Ok(gradient.into_pyarray(py))
}

fn committee(model: &Model) -> PyResult<&Committee> {
    model.inner.committee().ok_or_else(|| {
        PyValueError::new_err(
            "only a committee that speaks through landmarks has a summary: fit with mode='landmarks', or use `prepare`",
        )
    })
}

fn point(coordinates: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
    let point: Vec<f64> = coordinates.as_array().iter().copied().collect();
    if point.iter().all(|value| value.is_finite()) {
        Ok(point)
    } else {
        Err(PyValueError::new_err(
            "the hyperparameters must be finite numbers",
        ))
    }
}

fn threads_only(threads: usize) -> Wishes {
    Wishes {
        threads,
        ..Wishes::default()
    }
}
