//! Tables stored column by column: Parquet and Arrow.

mod arrow_ipc;
mod convert;
mod guard;
mod ipc_messages;
mod parquet_file;
mod parquet_pages;

pub(crate) use arrow_ipc::{open_file, open_stream};

pub(crate) use parquet_file::{Bounded, open_parquet};

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use quorate_gp::data::{Batches, ColumnType, Frame, Header};
use quorate_gp::error::Location;

use crate::cell::Shared;
use crate::plan::{Found, Plan};
use crate::{OpenOptions, Result};
use convert::{Natural, column_of, natural_type};

/// A source of record batches with the columns of a plan.
pub(crate) trait Chunks {
    /// The next record batch, nothing at the end; a problem in words when the file is damaged.
    fn next_chunk(&mut self) -> std::result::Result<Option<RecordBatch>, String>;
}

/// A columnar table in batches of at most the wished number of rows.
pub(crate) struct ColumnarBatches {
    header: Arc<Header>,
    plan: Plan,
    chunks: Box<dyn Chunks>,
    current: Option<RecordBatch>,
    shared: Vec<Shared>,
    batch_rows: usize,
    rows_given: usize,
    ended: bool,
}

/// Chooses columns of an Arrow schema.
pub(crate) fn plan_of(schema: &Schema, source: &str, options: &OpenOptions) -> Result<Plan> {
    let found: Vec<Found> = schema
        .fields()
        .iter()
        .map(|field| Found {
            name: field.name().clone(),
            unreadable: match natural_type(field.data_type()) {
                Natural::Type(_) => None,
                Natural::Unreadable(problem) => Some(problem),
            },
        })
        .collect();
    Plan::choose(source, &found, options)
}

impl ColumnarBatches {
    pub fn new(
        schema: &Schema,
        plan: Plan,
        chunks: Box<dyn Chunks>,
        options: &OpenOptions,
    ) -> Self {
        let types = plan
            .positions
            .iter()
            .zip(&plan.expected)
            .map(|(&position, expected)| {
                expected.unwrap_or(match natural_type(schema.field(position).data_type()) {
                    Natural::Type(natural) => natural,
                    Natural::Unreadable(_) => ColumnType::Text,
                })
            })
            .collect();
        Self {
            header: plan.header(types),
            shared: plan.names.iter().map(|_| Shared::default()).collect(),
            plan,
            chunks,
            current: None,
            batch_rows: options.batch_rows.max(1),
            rows_given: 0,
            ended: false,
        }
    }

    fn read_batch(&mut self) -> quorate_gp::Result<Option<Frame>> {
        let chunk = loop {
            match self.current.take() {
                Some(chunk) if chunk.num_rows() > 0 => break chunk,
                _ => {
                    let next = self.chunks.next_chunk().map_err(|problem| {
                        quorate_gp::Error::data(Location::in_source(&self.header.source), problem)
                    })?;
                    match next {
                        Some(chunk) => self.current = Some(chunk),
                        None => return Ok(None),
                    }
                }
            }
        };
        let rows = chunk.num_rows().min(self.batch_rows);
        let batch = chunk.slice(0, rows);
        if rows < chunk.num_rows() {
            self.current = Some(chunk.slice(rows, chunk.num_rows() - rows));
        }
        let mut columns = Vec::with_capacity(self.header.names.len());
        for (index, array) in batch.columns().iter().enumerate() {
            let name = &self.header.names[index];
            let shared = &mut self.shared[index];
            let column = guard::guarded(|| column_of(array, self.header.types[index], shared))
                .map_err(convert::Misfit::whole_column)
                .and_then(|column| column)
                .map_err(|misfit| {
                    let mut location = Location::in_source(&self.header.source).column(name);
                    location.row = misfit.row.map(|row| self.rows_given + row + 1);
                    quorate_gp::Error::data(location, misfit.problem)
                })?;
            columns.push(column);
        }
        let first_row = self.rows_given + 1;
        self.rows_given += rows;
        Frame::new(self.header.clone(), columns, first_row).map(Some)
    }
}

impl Batches for ColumnarBatches {
    fn header(&self) -> &Arc<Header> {
        &self.header
    }

    fn next_batch(&mut self) -> quorate_gp::Result<Option<Frame>> {
        if self.ended {
            return Ok(None);
        }
        let batch = self.read_batch();
        self.ended = !matches!(batch, Ok(Some(_)));
        batch
    }

    fn notes(&self) -> &[String] {
        &self.plan.notes
    }
}
