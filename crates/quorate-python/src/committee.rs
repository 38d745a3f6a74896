//! A committee of members as Python holds it.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quorate::classifier::CLASSIFIERS;
use quorate::ensemble::{CommitteeModel, CommitteeSpec};
use quorate::file::members;
use quorate::fusion::{CLASS_RULES, RULES};
use quorate::member::MEMBERS;
use quorate::{Error, Forecast};
use serde::Serialize;

use crate::errors::to_python;
use crate::guest::Brought;
use crate::model::{json, labels_of, of_json};
use crate::prediction::{ClassPrediction, Prediction, QuantityPrediction};
use crate::table::Table;
use crate::work::{Wishes, run};

/// A fitted committee; it never changes.
#[pyclass(frozen, module = "quorate._core")]
pub struct Committee {
    inner: Arc<CommitteeModel>,
    guests: Brought,
}

/// A function, and what it makes a committee of again: its bytes and its guests.
type Pickled<'py> = (
    Bound<'py, PyAny>,
    (Bound<'py, PyBytes>, Vec<(String, Py<PyAny>)>),
);

/// What a committee says of itself.
#[derive(Serialize)]
struct Account<'a> {
    spec: &'a CommitteeSpec,
    rule: &'a str,
    members: &'a [String],
    weights: Option<&'a [f64]>,
    out_of_bag: Option<&'a quorate::Scorecard>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity: Option<quorate::task::Through>,
}

#[pymethods]
impl Committee {
    /// Fits a committee to a table under a specification in JSON; guests are members with names of their own.
    #[staticmethod]
    #[pyo3(signature = (spec, table, guests, progress = None, threads = 0))]
    fn fit(
        py: Python<'_>,
        spec: &str,
        table: &Table,
        guests: Vec<(String, Py<PyAny>)>,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Self> {
        let spec: CommitteeSpec = serde_json::from_str(spec).map_err(of_json)?;
        let (frame, brought) = (table.frame.clone(), Brought::new(guests));
        let theirs = brought.clone();
        let model = run(py, Wishes { progress, threads }, move |watch| {
            CommitteeModel::fit(&spec, &frame, &theirs, watch)
        });
        let model = model.map_err(|error| brought.reason(py).unwrap_or(error))?;
        Ok(Self {
            inner: Arc::new(model),
            guests: brought,
        })
    }

    /// Predicts numbers.
    #[pyo3(signature = (table, progress = None, threads = 0))]
    fn predict(
        &self,
        py: Python<'_>,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Prediction> {
        match self.forecast(py, table, Wishes { progress, threads })? {
            Forecast::Number(prediction) => Ok(Prediction {
                inner: Arc::new(prediction),
            }),
            _ => Err(to_python(Error::Spec(
                "this committee predicts classes".into(),
            ))),
        }
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
        match self.forecast(py, table, Wishes { progress, threads })? {
            Forecast::Classes(prediction) => Ok(ClassPrediction::new(prediction)),
            _ => Err(to_python(Error::Spec(
                "this committee predicts numbers and knows no classes".into(),
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
        match self.forecast(py, table, Wishes { progress, threads })? {
            Forecast::Quantity(prediction) => Ok(QuantityPrediction::new(prediction)),
            _ => Err(to_python(Error::Spec(
                "this committee has no likelihood of counts, amounts or lifetimes".into(),
            ))),
        }
    }

    /// What each member says, one array a member: means, or probabilities row after row.
    fn opinions<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let said = run(py, Wishes::default(), move |_| model.opinions(&frame));
        let said = said.map_err(|error| self.guests.reason(py).unwrap_or(error))?;
        Ok(said.into_iter().map(|own| own.into_pyarray(py)).collect())
    }

    /// What the mean of the members gains over the members, in JSON.
    fn differences(&self, py: Python<'_>, table: &Table) -> PyResult<String> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        let found = run(py, Wishes::default(), move |_| model.differences(&frame))?;
        json(&found)
    }

    /// Labels of the classes and the kind of cells they came in; none for numbers.
    fn labels(&self) -> (Vec<String>, &'static str) {
        labels_of(self.inner.schema())
    }

    /// What the committee says of itself, in JSON.
    fn inspect(&self) -> PyResult<String> {
        json(&Account {
            spec: self.inner.spec(),
            rule: self.inner.rule(),
            members: self.inner.kinds(),
            weights: self.inner.weights(),
            out_of_bag: self.inner.out_of_bag(),
            notes: self.inner.notes(),
            quantity: self.inner.through(),
        })
    }

    /// Sentences for people about the fit.
    fn notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// The bytes of a committee's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = members::to_bytes(&self.inner).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the bytes of a committee's file, with the guests it had.
    #[staticmethod]
    fn from_bytes(bytes: &[u8], guests: Vec<(String, Py<PyAny>)>) -> PyResult<Self> {
        let guests = Brought::new(guests);
        let model = members::from_bytes(bytes, "committee", &guests).map_err(to_python)?;
        Ok(Self {
            inner: Arc::new(model),
            guests,
        })
    }

    /// Writes a committee's file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        members::save(&self.inner, &path).map_err(to_python)
    }

    /// Reads a committee's file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let guests = Brought::new(Vec::new());
        let model = members::load(&path, &guests).map_err(to_python)?;
        Ok(Self {
            inner: Arc::new(model),
            guests,
        })
    }

    /// Pickles as the bytes of its file, with its guests.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let reader = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((reader, (self.to_bytes(py)?, self.guests.list(py))))
    }
}

impl Committee {
    fn forecast(&self, py: Python<'_>, table: &Table, wishes: Wishes) -> PyResult<Forecast> {
        let (model, frame) = (self.inner.clone(), table.frame.clone());
        run(py, wishes, move |watch| model.forecast(&frame, watch))
            .map_err(|error| self.guests.reason(py).unwrap_or(error))
    }
}

/// Names that committees know: members and rules for numbers, members and rules for classes.
#[pyfunction]
pub fn registry() -> [Vec<&'static str>; 4] {
    [
        MEMBERS.iter().map(|kind| kind.name).collect(),
        RULES.iter().map(|rule| rule.name).collect(),
        CLASSIFIERS.iter().map(|kind| kind.name).collect(),
        CLASS_RULES.iter().map(|rule| rule.name).collect(),
    ]
}
