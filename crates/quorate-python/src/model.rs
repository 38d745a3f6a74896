//! A fitted model as Python holds it.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quorate::parts::Forget;
use quorate::{Error, ModelSpec};
use quorate_gp::data::{ColumnType, Schema};

use crate::errors::to_python;
use crate::prediction::{ClassPrediction, Prediction, QuantityPrediction};
use crate::table::Table;
use crate::work::{Wishes, run};

/// Mean and covariance.
type Moments<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// A fitted model; it never changes.
#[pyclass(frozen, module = "quorate._core")]
pub struct Model {
    pub inner: Arc<quorate::Model>,
}

impl Model {
    pub fn new(model: quorate::Model) -> Self {
        Self {
            inner: Arc::new(model),
        }
    }
}

#[pymethods]
impl Model {
    /// Fits a table under a specification in JSON.
    #[staticmethod]
    #[pyo3(signature = (spec, table, progress = None, threads = 0))]
    fn fit(
        py: Python<'_>,
        spec: &str,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Self> {
        let (spec, frame) = (specification(spec)?, table.frame.clone());
        run(py, Wishes { progress, threads }, move |watch| {
            quorate::Model::fit(&spec, &frame, watch)
        })
        .map(Self::new)
    }

    /// A landmarks model with no rows, from a sample.
    #[staticmethod]
    #[pyo3(signature = (spec, table, progress = None, threads = 0))]
    fn prepare(
        py: Python<'_>,
        spec: &str,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Self> {
        let (spec, frame) = (specification(spec)?, table.frame.clone());
        run(py, Wishes { progress, threads }, move |watch| {
            quorate::Model::prepare(&spec, &frame, watch)
        })
        .map(Self::new)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        quorate::Model::load(&path)
            .map(Self::new)
            .map_err(to_python)
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        quorate::file::from_bytes(bytes, "model")
            .map(Self::new)
            .map_err(to_python)
    }

    /// Writes a model file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.inner.save(&path).map_err(to_python)
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = quorate::file::to_bytes(&self.inner).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Pickles as the bytes of its file.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let reader = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((reader, (self.to_bytes(py)?,)))
    }

    /// Predicts the rows of a table.
    #[pyo3(signature = (table, progress = None, threads = 0))]
    fn predict(
        &self,
        py: Python<'_>,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Prediction> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let prediction = run(py, Wishes { progress, threads }, move |watch| {
            model.predict_watched(&frame, watch)
        })?;
        Ok(Prediction {
            inner: Arc::new(prediction),
        })
    }

    /// Probabilities of the classes of the rows of a table.
    #[pyo3(signature = (table, progress = None, threads = 0))]
    fn classify(
        &self,
        py: Python<'_>,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<ClassPrediction> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let forecast = run(py, Wishes { progress, threads }, move |watch| {
            model.forecast_watched(&frame, watch)
        })?;
        match forecast {
            quorate::Forecast::Classes(prediction) => Ok(ClassPrediction::new(prediction)),
            _ => Err(to_python(Error::Spec(
                "this model predicts numbers and knows no classes".into(),
            ))),
        }
    }

    /// What is believed about counts, amounts or lifetimes of the rows of a table.
    #[pyo3(signature = (table, progress = None, threads = 0))]
    fn quantify(
        &self,
        py: Python<'_>,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<QuantityPrediction> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let forecast = run(py, Wishes { progress, threads }, move |watch| {
            model.forecast_watched(&frame, watch)
        })?;
        match forecast {
            quorate::Forecast::Quantity(prediction) => Ok(QuantityPrediction::new(prediction)),
            _ => Err(to_python(Error::Spec(
                "this model has no likelihood of counts, amounts or lifetimes".into(),
            ))),
        }
    }

    /// Labels of the classes and the kind of cells they came in; none for a model of numbers.
    fn labels(&self) -> (Vec<String>, &'static str) {
        labels_of(self.inner.schema())
    }

    /// Mean and covariance of the rows of a table, together.
    #[pyo3(signature = (table, latent, threads = 0))]
    fn predict_joint<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        latent: bool,
        threads: usize,
    ) -> PyResult<Moments<'py>> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let wishes = Wishes {
            threads,
            ..Wishes::default()
        };
        let joint = run(py, wishes, move |_| model.predict_joint(&frame))?;
        let rows = joint.mean.len();
        let covariance = joint
            .covariance(latent)
            .into_pyarray(py)
            .reshape([rows, rows])?;
        Ok((joint.mean.into_pyarray(py), covariance))
    }

    /// Draws at the rows of a table, together: one row for each draw.
    #[pyo3(signature = (table, count, seed, latent, threads = 0))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        count: usize,
        seed: u64,
        latent: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let wishes = Wishes {
            threads,
            ..Wishes::default()
        };
        let draws = run(py, wishes, move |_| {
            model.sample(&frame, count, seed, !latent)
        })?;
        Ok(PyArray2::from_vec2(py, &draws)?)
    }

    /// Scores on a table that has the target, in JSON.
    fn evaluate(&self, py: Python<'_>, table: &Table) -> PyResult<String> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let scores = run(py, Wishes::default(), move |_| model.score(&frame))?;
        json(&scores)
    }

    /// What the model says of itself, in JSON.
    fn inspect(&self) -> PyResult<String> {
        json(&self.inner.inspect().map_err(to_python)?)
    }

    /// Sentences for people about the fit.
    fn notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// Names of the input columns, in the order in which an array has them.
    fn input_names(&self) -> Vec<String> {
        let named = self.inner.spec().inputs.clone();
        named.unwrap_or_else(|| {
            let types = self.inner.schema().expected_types();
            types.into_iter().map(|(name, _)| name).collect()
        })
    }

    /// One more part; also sentences for people about its rows.
    #[pyo3(signature = (table, name, keep, progress = None, threads = 0))]
    fn update(
        &self,
        py: Python<'_>,
        table: &Table,
        name: String,
        keep: bool,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<(Self, Vec<String>)> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let (model, notes) = run(py, Wishes { progress, threads }, move |watch| {
            model.fork().update(&frame, &name, keep, watch)
        })?;
        Ok((Self::new(model), notes))
    }

    /// The sum of named models.
    #[staticmethod]
    fn merge(models: Vec<(String, PyRef<'_, Model>)>) -> PyResult<Self> {
        let models = models
            .into_iter()
            .map(|(name, model)| (name, model.inner.fork()))
            .collect();
        quorate::Model::merge(models)
            .map(Self::new)
            .map_err(to_python)
    }

    /// One part less; also the certificate, in JSON.
    #[pyo3(signature = (part, table, progress = None, threads = 0))]
    fn forget(
        &self,
        py: Python<'_>,
        part: Option<String>,
        table: Option<&Table>,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<(Self, String)> {
        let model = self.inner.clone();
        let frame = table.map(|table| table.frame.clone());
        let (model, certificate) = run(py, Wishes { progress, threads }, move |watch| {
            let what = Forget {
                part: part.as_deref(),
                rows: frame.as_deref(),
            };
            model.fork().forget(what, watch)
        })?;
        Ok((Self::new(model), json(&certificate)?))
    }
}

/// Labels of the classes and the kind of cells they came in; none for a model of numbers.
pub fn labels_of(schema: &Schema) -> (Vec<String>, &'static str) {
    match schema.target().classes() {
        Some(classes) => {
            let kind = match classes.column_type() {
                ColumnType::Text => "text",
                ColumnType::Boolean => "boolean",
                ColumnType::Number | ColumnType::Date => "number",
            };
            (classes.labels().to_vec(), kind)
        }
        None => (Vec::new(), "number"),
    }
}

fn specification(text: &str) -> PyResult<ModelSpec> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(of_json)?;
    serde_json::from_value(value).map_err(of_json)
}

pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(of_json)
}

pub fn of_json(error: serde_json::Error) -> PyErr {
    to_python(Error::Spec(error.to_string()))
}
