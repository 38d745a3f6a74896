//! Landmarks that a person gives: rows of a table, held in the specification so that it alone still builds the model.

use std::collections::HashSet;
use std::sync::Arc;

use quorate_gp::data::{Column, ColumnType, Encoded, Frame, Header, Schema};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Rows of input columns, in the units of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GivenLandmarks {
    columns: Vec<GivenColumn>,
}

/// A column by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenColumn {
    name: String,
    #[serde(rename = "type")]
    kind: ColumnType,
    cells: Cells,
}

/// Cells of a column; none where a cell is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl GivenLandmarks {
    /// The rows of a table whose columns are inputs.
    pub fn new(table: &Frame) -> Result<Self> {
        if table.rows() == 0 {
            return Err(Error::Spec(
                "a table of landmarks needs at least one row".into(),
            ));
        }
        let header = &table.header;
        let names = header.names.iter().zip(&header.types);
        let columns = names
            .zip(&table.columns)
            .map(|((name, kind), column)| GivenColumn {
                name: name.clone(),
                kind: *kind,
                cells: match column {
                    Column::Number(cells) => {
                        let seen = |cell: &f64| (!cell.is_nan()).then_some(*cell);
                        Cells::Numbers(cells.iter().map(seen).collect())
                    }
                    Column::Text(cells) => {
                        let owned = |cell: &Option<Arc<str>>| cell.as_deref().map(str::to_owned);
                        Cells::Texts(cells.iter().map(owned).collect())
                    }
                },
            });
        Ok(Self {
            columns: columns.collect(),
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// The rows as a model encodes its inputs, each once: a landmark given twice would only ask for jitter.
    pub(crate) fn encode(&self, schema: &Schema) -> Result<Vec<f64>> {
        let Encoded { values, width, .. } = schema.encode_inputs(&self.table()?)?;
        let mut seen = HashSet::new();
        let bits = |row: &[f64]| row.iter().map(|cell| cell.to_bits()).collect::<Vec<_>>();
        let fresh = values
            .chunks_exact(width)
            .filter(|row| seen.insert(bits(row)));
        Ok(fresh.flatten().copied().collect())
    }

    fn table(&self) -> Result<Frame> {
        let columns = self.columns.iter().map(|column| match &column.cells {
            // A column of nothing but missing cells reads as numbers, whatever it is.
            Cells::Numbers(cells)
                if column.kind == ColumnType::Text && cells.iter().all(Option::is_none) =>
            {
                Column::Text(vec![None; cells.len()])
            }
            Cells::Numbers(cells) => {
                Column::Number(cells.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect())
            }
            Cells::Texts(cells) => {
                let shared = |cell: &Option<String>| cell.as_deref().map(Arc::from);
                Column::Text(cells.iter().map(shared).collect())
            }
        });
        let header = Header {
            source: "landmarks".to_owned(),
            names: self
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
            types: self.columns.iter().map(|column| column.kind).collect(),
        };
        Ok(Frame::new(Arc::new(header), columns.collect(), 1)?)
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
        }
    }
}
