//! Parts and objectives on their way: bytes out, bytes in, nothing believed unseen.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quorate::parts::{ObjectiveMessage, PartMessage, Privacy};

use crate::errors::to_python;
use crate::model::Model;
use crate::table::Table;
use crate::work::{Wishes, run};

/// The rows of a table as the message of a part of a model; also sentences for people about them.
#[pyfunction]
#[pyo3(signature = (model, table, name, threads = 0))]
pub fn part_message<'py>(
    py: Python<'py>,
    model: &Model,
    table: &Table,
    name: String,
    threads: usize,
) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
    let (model, frame) = (model.inner.clone(), table.frame.clone());
    let wishes = Wishes {
        threads,
        ..Wishes::default()
    };
    let (bytes, notes) = run(py, wishes, move |watch| {
        let (message, notes) = model.part_message(&frame, &name, watch)?;
        Ok((message.to_bytes()?, notes))
    })?;
    Ok((PyBytes::new(py, &bytes), notes))
}

/// The same with noise: bounds of features and targets, the noise in units of what one row changes, a secret seed of 32
/// bytes. Also the share of rows that were shortened, for the site alone.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn private_part_message<'py>(
    py: Python<'py>,
    model: &Model,
    table: &Table,
    name: String,
    features: f64,
    targets: f64,
    multiplier: f64,
    seed: [u8; 32],
) -> PyResult<(Bound<'py, PyBytes>, f64)> {
    let (model, frame) = (model.inner.clone(), table.frame.clone());
    let privacy = Privacy {
        features,
        targets,
        multiplier,
    };
    let (bytes, share) = run(py, Wishes::default(), move |_| {
        let (message, share) = model.private_part_message(&frame, &name, &privacy, seed)?;
        Ok((message.to_bytes()?, share))
    })?;
    Ok((PyBytes::new(py, &bytes), share))
}

/// Name, rows and fingerprint of the part in a message, if it can be added to the model; an error says why not.
#[pyfunction]
pub fn check_part(model: &Model, bytes: &[u8], origin: &str) -> PyResult<(String, usize, String)> {
    let message = PartMessage::from_bytes(bytes, origin).map_err(to_python)?;
    model
        .inner
        .check_part(&message, origin)
        .map_err(to_python)?;
    let record = message.record;
    Ok((record.name, record.rows, record.fingerprint))
}

/// The model with further parts, added in the order of their names; each message comes with a name for errors.
#[pyfunction]
pub fn absorb(model: &Model, messages: Vec<(String, Vec<u8>)>, keep: bool) -> PyResult<Model> {
    let read = |(origin, bytes): (String, Vec<u8>)| {
        let message = PartMessage::from_bytes(&bytes, &origin)?;
        Ok((origin, message))
    };
    let messages: quorate::Result<Vec<_>> = messages.into_iter().map(read).collect();
    let messages = messages.map_err(to_python)?;
    let model = model.inner.fork().absorb(messages, keep);
    model.map(Model::new).map_err(to_python)
}

/// Fingerprint of what all parts of a model have in common.
#[pyfunction]
pub fn shared_fingerprint(model: &Model) -> PyResult<String> {
    model.inner.shared_fingerprint().map_err(to_python)
}

/// A part's share of an objective as bytes.
#[pyfunction]
pub fn objective_message<'py>(
    py: Python<'py>,
    model: &Model,
    part: String,
    coordinates: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let message = ObjectiveMessage {
        shared: model.inner.shared_fingerprint().map_err(to_python)?,
        part,
        coordinates,
        value,
        gradient,
    };
    Ok(PyBytes::new(py, &message.to_bytes().map_err(to_python)?))
}

/// The sum of shares of an objective, in the order of the parts' names.
#[pyfunction]
pub fn sum_objectives<'py>(
    py: Python<'py>,
    messages: Vec<(String, Vec<u8>)>,
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
    let read = |(origin, bytes): (String, Vec<u8>)| ObjectiveMessage::from_bytes(&bytes, &origin);
    let messages: quorate::Result<Vec<_>> = messages.into_iter().map(read).collect();
    let sum = ObjectiveMessage::sum(messages.map_err(to_python)?);
    let (value, gradient) = sum.map_err(to_python)?;
    Ok((value, gradient.into_pyarray(py)))
}
