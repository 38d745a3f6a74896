//! A network of columns as Python holds it.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quorate::network::{
    Ask, Graph, Marginal, NetworkSpec, Search, Value, fit_network, load_network,
    network_from_bytes, network_to_bytes, save_network, search_graph,
};
use quorate::{Error, KernelChoice, LikelihoodChoice, MethodChoice};
use quorate_gp::data::{Column, ColumnType};
use serde::{Deserialize, Serialize};

use crate::errors::to_python;
use crate::model::{json, of_json};
use crate::table::Table;
use crate::work::{Wishes, run};

/// A fitted network; it never changes.
#[pyclass(frozen, module = "quorate._core")]
pub struct Network {
    inner: Arc<quorate::network::Network>,
}

/// A function, and the bytes it makes a network of again.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// A cell that is known: a number, or a label.
#[derive(FromPyObject)]
enum Cell {
    Number(f64),
    Label(String),
}

/// Everything that a person can choose.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    structure: Option<Graph>,
    dependency: bool,
    exogenous: Vec<String>,
    ignore: Vec<String>,
    max_parents: usize,
    kernel: KernelChoice,
    method: MethodChoice,
    likelihood: LikelihoodChoice,
    counts: Vec<String>,
    rows: usize,
    seed: u64,
}

/// What a network says of itself.
#[derive(Serialize)]
struct Account<'a> {
    structure: &'a Graph,
    scores: Vec<(&'a str, f64)>,
    counts: Vec<&'a str>,
    notes: &'a [String],
}

#[pymethods]
impl Network {
    /// Fits a network to a table: its structure given, found, or everybody given all others.
    #[staticmethod]
    #[pyo3(signature = (choices, table, progress = None, threads = 0))]
    fn fit(
        py: Python<'_>,
        choices: &str,
        table: &Table,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Self> {
        let choices: Choices = serde_json::from_str(choices).map_err(of_json)?;
        let frame = table.frame.clone();
        let network = run(py, Wishes { progress, threads }, move |watch| {
            if frame.rows() == 0 {
                return Err(Error::Spec(
                    "the table has no rows; a network needs at least one".into(),
                ));
            }
            let spec = NetworkSpec {
                kernel: choices.kernel,
                method: choices.method,
                likelihood: choices.likelihood,
                counts: choices.counts,
                rows: choices.rows,
                seed: choices.seed,
            };
            for name in choices.exogenous.iter().chain(&choices.ignore) {
                if frame.header.position(name).is_none() {
                    return Err(quorate_gp::data::unknown_column(&frame.header, name).into());
                }
            }
            let (outside, left_out) = (&choices.exogenous, &choices.ignore);
            let names = frame.header.names.iter();
            let variables: Vec<String> = names
                .filter(|name| !outside.contains(name) && !left_out.contains(name))
                .cloned()
                .collect();
            let graph = match choices.structure {
                Some(graph) => graph,
                None if choices.dependency => Graph::of_everybody(&variables, outside),
                None => {
                    let how = Search {
                        parents: choices.max_parents,
                        ..Search::default()
                    };
                    search_graph(&frame, &variables, outside, &spec, how, watch)?.0
                }
            };
            fit_network(&graph, &frame, &spec, watch)
        })?;
        Ok(Self::new(network))
    }

    /// What is known of some columns given others, in JSON.
    fn query(
        &self,
        py: Python<'_>,
        about: Vec<String>,
        given: Vec<(String, Cell)>,
        rows: usize,
        rounds: usize,
        seed: u64,
    ) -> PyResult<String> {
        let network = self.inner.clone();
        let ask = Ask {
            about,
            given: values(given),
            rows,
            rounds,
            seed,
        };
        json(&run(py, Wishes::default(), move |_| network.query(&ask))?)
    }

    /// Rows given some columns: name, kind and cells of each column, and the log weight of each row.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        given: Vec<(String, Cell)>,
        rounds: usize,
        seed: u64,
    ) -> PyResult<Drawn<'py>> {
        let (network, given) = (self.inner.clone(), values(given));
        let (frame, weights) = run(py, Wishes::default(), move |_| {
            network.draw(rows, &given, rounds, seed)
        })?;
        let header = frame.header.clone();
        let named = header.names.iter().zip(&header.types).zip(frame.columns);
        let columns = named.map(|((name, kind), column)| {
            let cells = match column {
                Column::Number(cells) => cells.into_pyarray(py).into_any(),
                Column::Text(cells) => {
                    let cells: Vec<Option<String>> = cells
                        .into_iter()
                        .map(|cell| cell.map(|text| text.to_string()))
                        .collect();
                    cells.into_pyobject(py)?.into_any()
                }
            };
            Ok((name.clone(), word(*kind), cells))
        });
        let columns = columns.collect::<PyResult<_>>()?;
        Ok((columns, weights.into_pyarray(py).into_any()))
    }

    /// What the network says of itself, in JSON.
    fn inspect(&self) -> PyResult<String> {
        let conditionals = self.inner.conditionals.iter();
        json(&Account {
            structure: &self.inner.graph,
            scores: conditionals
                .map(|own| (own.name.as_str(), own.score))
                .collect(),
            counts: (self.inner.conditionals.iter())
                .filter(|own| matches!(own.marginal, Marginal::Count(_)))
                .map(|own| own.name.as_str())
                .collect(),
            notes: &self.inner.notes,
        })
    }

    /// The bytes of a network's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = network_to_bytes(&self.inner).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the bytes of a network's file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let network = network_from_bytes(bytes, "network").map_err(to_python)?;
        Ok(Self::new(network))
    }

    /// Writes a network's file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        save_network(&self.inner, &path).map_err(to_python)
    }

    /// Reads a network's file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let network = load_network(&path).map_err(to_python)?;
        Ok(Self::new(network))
    }

    /// Pickles as the bytes of its file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let reader = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((reader, (self.to_bytes(py)?,)))
    }
}

/// Columns as Python takes them, and weights.
type Drawn<'py> = (
    Vec<(String, &'static str, Bound<'py, PyAny>)>,
    Bound<'py, PyAny>,
);

impl Network {
    fn new(network: quorate::network::Network) -> Self {
        Self {
            inner: Arc::new(network),
        }
    }
}

fn values(given: Vec<(String, Cell)>) -> Vec<(String, Value)> {
    let value = |cell: Cell| match cell {
        Cell::Number(number) => Value::Number(number),
        Cell::Label(label) => Value::Label(label),
    };
    given
        .into_iter()
        .map(|(name, cell)| (name, value(cell)))
        .collect()
}

fn word(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Number => "number",
        ColumnType::Boolean => "boolean",
        ColumnType::Date => "date",
        ColumnType::Text => "text",
    }
}
