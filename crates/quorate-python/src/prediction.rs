//! Predictions as Python sees them: arrays that are the core's own memory.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Gaussian beliefs about rows, in the target's own units.
#[pyclass(frozen, module = "quorate._core")]
pub struct Prediction {
    pub inner: Arc<quorate::Prediction>,
}

#[pymethods]
impl Prediction {
    /// Expected targets.
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.mean.clone().into_pyarray(py)
    }

    /// Standard deviations of the function (`latent`) or of new observations.
    fn deviation<'py>(&self, py: Python<'py>, latent: bool) -> Bound<'py, PyArray1<f64>> {
        self.inner.deviation(latent).into_pyarray(py)
    }

    /// Values below which the function (`latent`) or new observations lie with probability `p`.
    fn quantile<'py>(
        &self,
        py: Python<'py>,
        p: f64,
        latent: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if !(p > 0.0 && p < 1.0) {
            return Err(PyValueError::new_err(format!(
                "a quantile lies between 0 and 1, both excluded: got {p}"
            )));
        }
        Ok(self.inner.quantile(p, latent).into_pyarray(py))
    }

    /// Sentences for people about the rows.
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }
}

/// Probabilities of the classes of rows.
#[pyclass(frozen, module = "quorate._core")]
pub struct ClassPrediction {
    inner: quorate::ClassPrediction,
}

impl ClassPrediction {
    pub fn new(inner: quorate::ClassPrediction) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl ClassPrediction {
    /// Probability of each class: one row for each row asked about.
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [self.inner.rows(), self.inner.classes.count()];
        self.inner
            .probabilities
            .clone()
            .into_pyarray(py)
            .reshape(shape)
    }

    /// Position of the likeliest class.
    fn decisions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<usize>> {
        self.inner.decisions().into_pyarray(py)
    }

    /// Sentences for people about the rows.
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }
}

/// Beliefs about counts, amounts or lifetimes.
#[pyclass(frozen, module = "quorate._core")]
pub struct QuantityPrediction {
    inner: Arc<quorate::QuantityPrediction>,
}

impl QuantityPrediction {
    pub fn new(inner: quorate::QuantityPrediction) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }
}

#[pymethods]
impl QuantityPrediction {
    /// Expected targets.
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.mean().into_pyarray(py)
    }

    /// Standard deviations of the expected target (`latent`) or of new targets.
    fn deviation<'py>(&self, py: Python<'py>, latent: bool) -> Bound<'py, PyArray1<f64>> {
        self.inner.deviation(latent).into_pyarray(py)
    }

    /// Values that the expected target (`latent`) or new targets do not exceed with probability `p`.
    fn quantile<'py>(
        &self,
        py: Python<'py>,
        p: f64,
        latent: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if !(p > 0.0 && p < 1.0) {
            return Err(PyValueError::new_err(format!(
                "a quantile lies between 0 and 1, both excluded: got {p}"
            )));
        }
        Ok(self.inner.quantile(p, latent).into_pyarray(py))
    }

    /// Probabilities that new counts are this number.
    fn probability<'py>(&self, py: Python<'py>, count: u64) -> Bound<'py, PyArray1<f64>> {
        self.inner.probability(count).into_pyarray(py)
    }

    /// Probabilities that new targets exceed a value.
    fn survival<'py>(&self, py: Python<'py>, value: f64) -> Bound<'py, PyArray1<f64>> {
        self.inner.survival(value).into_pyarray(py)
    }

    /// Sentences for people about the rows.
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }
}
