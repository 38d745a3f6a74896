//! Parquet and Arrow out.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, TimestampMicrosecondArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use quorate_gp::data::{Column, ColumnType, Frame, Header};

use super::Encoded;
use super::destination::Output;
use crate::date;

/// Rows of a Parquet row group: what the writer holds in memory.
const GROUP_ROWS: usize = 128 * 1024;

/// Writes rows as Parquet.
pub(crate) struct ParquetEncoder(ArrowWriter<Output>);

impl ParquetEncoder {
    pub fn start(output: Output, header: &Header) -> Encoded<Self> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_dictionary_enabled(false);
        for (name, column_type) in header.names.iter().zip(&header.types) {
            // Predicted numbers hardly repeat; levels do.
            if *column_type == ColumnType::Text {
                let path = ColumnPath::new(vec![name.clone()]);
                properties = properties.set_column_dictionary_enabled(path, true);
            }
        }
        ArrowWriter::try_new(output, schema_of(header), Some(properties.build()))
            .map(Self)
            .map_err(|error| error.to_string())
    }

    pub fn write(&mut self, frame: &Frame) -> Encoded<()> {
        self.0
            .write(&batch_of(frame)?)
            .map_err(|error| error.to_string())
    }

    pub fn finish(self) -> Encoded<Output> {
        self.0.into_inner().map_err(|error| error.to_string())
    }
}

/// Writes rows as an Arrow IPC file.
pub(crate) struct ArrowEncoder(FileWriter<Output>);

impl ArrowEncoder {
    pub fn start(output: Output, header: &Header) -> Encoded<Self> {
        FileWriter::try_new(output, &schema_of(header))
            .map(Self)
            .map_err(|error| error.to_string())
    }

    pub fn write(&mut self, frame: &Frame) -> Encoded<()> {
        self.0
            .write(&batch_of(frame)?)
            .map_err(|error| error.to_string())
    }

    pub fn finish(self) -> Encoded<Output> {
        self.0.into_inner().map_err(|error| error.to_string())
    }
}

fn schema_of(header: &Header) -> SchemaRef {
    let fields: Vec<Field> = header
        .names
        .iter()
        .zip(&header.types)
        .map(|(name, column_type)| {
            let data_type = match column_type {
                ColumnType::Number => DataType::Float64,
                ColumnType::Boolean => DataType::Boolean,
                ColumnType::Date => DataType::Timestamp(TimeUnit::Microsecond, None),
                ColumnType::Text => DataType::Utf8,
            };
            Field::new(name, data_type, true)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

fn batch_of(frame: &Frame) -> Encoded<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(frame.columns.len());
    for (index, column) in frame.columns.iter().enumerate() {
        let present = |&cell: &f64| (!cell.is_nan()).then_some(cell);
        arrays.push(match (column, frame.header.types[index]) {
            (Column::Text(cells), _) => Arc::new(
                cells
                    .iter()
                    .map(|cell| cell.as_deref())
                    .collect::<StringArray>(),
            ),
            (Column::Number(cells), ColumnType::Boolean) => {
                let truth = |cell| present(cell).map(|cell| cell != 0.0);
                Arc::new(cells.iter().map(truth).collect::<BooleanArray>())
            }
            (Column::Number(cells), ColumnType::Date) => {
                let mut moments = Vec::with_capacity(cells.len());
                for (row, cell) in cells.iter().enumerate() {
                    let moment = present(cell).map(|days| {
                        date::microseconds(days).ok_or_else(|| {
                            let place = frame.location(row, &frame.header.names[index]);
                            format!("{place} the date is outside of the calendar")
                        })
                    });
                    moments.push(moment.transpose()?);
                }
                Arc::new(TimestampMicrosecondArray::from(moments))
            }
            (Column::Number(cells), _) => {
                Arc::new(cells.iter().map(present).collect::<Float64Array>())
            }
        });
    }
    RecordBatch::try_new(schema_of(&frame.header), arrays).map_err(|error| error.to_string())
}
