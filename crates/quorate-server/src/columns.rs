//! Input tensors as a table: one tensor for each column, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate::gp::data::{Column, ColumnType, Frame, Header, Schema, unknown_column};

use crate::error::Refusal;
use crate::limits::Limits;
use crate::tensor::{Cells, Tensor};

/// The table that the input tensors of a request are.
pub fn frame(schema: &Schema, tensors: Vec<Tensor>, limits: &Limits) -> Result<Frame, Refusal> {
    let mut named = BTreeMap::new();
    for tensor in tensors {
        let name = tensor.name.clone();
        if named.insert(name.clone(), tensor).is_some() {
            return Err(Refusal::bad(format!("input `{name}` is there twice")));
        }
    }
    let mut expected = schema.expected_types();
    expected.extend(schema.companion_types());
    let header = Header {
        source: "request".into(),
        names: expected.iter().map(|(name, _)| name.clone()).collect(),
        types: expected.iter().map(|(_, cells)| *cells).collect(),
    };
    let given = Header {
        names: named.keys().cloned().collect(),
        types: vec![ColumnType::Number; named.len()],
        source: "request".into(),
    };
    let mut columns = Vec::with_capacity(expected.len());
    let mut rows = None;
    for (name, cells) in &expected {
        let tensor = named
            .remove(name)
            .ok_or_else(|| Refusal::from(unknown_column(&given, name)))?;
        let own = one_column(&tensor)?;
        if own > limits.rows {
            return Err(Refusal::new(
                axum::http::StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "{own} rows in one request; at most {} are answered",
                    limits.rows
                ),
            ));
        }
        if *rows.get_or_insert(own) != own {
            return Err(Refusal::bad(format!(
                "input `{name}` has {own} rows, others have {}",
                rows.unwrap_or(0)
            )));
        }
        columns.push(column(tensor, *cells)?);
    }
    if let Some(name) = named.keys().next() {
        return Err(Refusal::from(unknown_column(&header, name)));
    }
    if rows == Some(0) {
        return Err(Refusal::bad("the request has no rows"));
    }
    Ok(Frame::new(Arc::new(header), columns, 1)?)
}

/// Rows of a tensor that is one column: its shape is `[rows]` or `[rows, 1]`.
fn one_column(tensor: &Tensor) -> Result<usize, Refusal> {
    match tensor.shape[..] {
        [rows] | [rows, 1] => Ok(rows),
        _ => Err(Refusal::bad(format!(
            "input `{}` has the shape {:?}; a column has [rows] or [rows, 1]",
            tensor.name, tensor.shape
        ))),
    }
}

fn column(tensor: Tensor, expected: ColumnType) -> Result<Column, Refusal> {
    match (tensor.cells, expected) {
        (Cells::Text(cells), ColumnType::Text) => Ok(Column::Text(cells)),
        (Cells::Numbers(cells), ColumnType::Boolean)
            if cells.iter().any(|c| !c.is_nan() && *c != 0.0 && *c != 1.0) =>
        {
            Err(Refusal::bad(format!(
                "input `{}` holds booleans: true and false, or 1 and 0",
                tensor.name
            )))
        }
        (Cells::Numbers(cells), ColumnType::Number | ColumnType::Boolean | ColumnType::Date) => {
            Ok(Column::Number(cells))
        }
        (_, expected) => Err(Refusal::bad(format!(
            "input `{}` holds {}, not cells of type {:?}",
            tensor.name,
            expected.plural(),
            tensor.datatype
        ))),
    }
}
