//! Rows as one JSON object, written while they come: `{"rows": [{..}, ..], "notes": [..]}`.

use std::io::{BufWriter, Stdout, Write, stdout};

use quorate_gp::data::{Column, ColumnType, Frame, Header};
use serde_json::{Map, Value};

use crate::failure::{Failure, Result};
use crate::text::date;

/// The object so far.
pub struct JsonRows {
    output: BufWriter<Stdout>,
    rows: usize,
}

impl Default for JsonRows {
    fn default() -> Self {
        Self {
            output: BufWriter::with_capacity(64 * 1024, stdout()),
            rows: 0,
        }
    }
}

impl JsonRows {
    pub fn start(&mut self, header: &Header) -> Result<()> {
        let names = Value::from(header.names.clone());
        self.put(&format!("{{\"columns\": {names},\n\"rows\": ["))
    }

    pub fn write(&mut self, frame: &Frame) -> Result<()> {
        for row in 0..frame.rows() {
            let mut object = Map::new();
            for (index, name) in frame.header.names.iter().enumerate() {
                let value = cell(&frame.columns[index], frame.header.types[index], row);
                object.insert(name.clone(), value);
            }
            let comma = if self.rows > 0 { "," } else { "" };
            self.put(&format!("{comma}\n  {}", Value::Object(object)))?;
            self.rows += 1;
        }
        Ok(())
    }

    pub fn finish(mut self, notes: &[String]) -> Result<()> {
        self.put(&format!("\n],\n\"notes\": {}}}\n", Value::from(notes)))?;
        self.output
            .flush()
            .map_err(|error| Failure::standard_output(&error))
    }

    fn put(&mut self, text: &str) -> Result<()> {
        self.output
            .write_all(text.as_bytes())
            .map_err(|error| Failure::standard_output(&error))
    }
}

/// A cell as JSON; a missing cell is null.
fn cell(column: &Column, column_type: ColumnType, row: usize) -> Value {
    match column {
        Column::Text(cells) => Value::from(cells[row].as_deref()),
        Column::Number(cells) if cells[row].is_nan() => Value::Null,
        Column::Number(cells) => match column_type {
            ColumnType::Boolean => Value::from(cells[row] != 0.0),
            ColumnType::Date => Value::from(date(cells[row])),
            _ => Value::from(cells[row]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_type() {
        let numbers = Column::Number(vec![1.0, f64::NAN, 19_358.25, 0.1]);
        assert_eq!(cell(&numbers, ColumnType::Boolean, 0), Value::from(true));
        assert_eq!(cell(&numbers, ColumnType::Number, 1), Value::Null);
        assert_eq!(
            cell(&numbers, ColumnType::Date, 0),
            Value::from("1970-01-02")
        );
        assert_eq!(cell(&numbers, ColumnType::Number, 3), Value::from(0.1));
        let text = Column::Text(vec![Some("a".into()), None]);
        assert_eq!(cell(&text, ColumnType::Text, 0), Value::from("a"));
        assert_eq!(cell(&text, ColumnType::Text, 1), Value::Null);
    }
}
