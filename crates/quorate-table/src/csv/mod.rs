//! Text tables, plain or compressed, read row by row into batches.

mod blank_lines;
mod dialect;
mod infer;
mod records;

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

use csv::ByteRecord;
use quorate_gp::data::{Batches, Column, ColumnType, Frame, Header, Stray};
use quorate_gp::error::Location;

use crate::cell::{self, Shared};
use crate::error::in_words;
use crate::plan::{Found, Plan};
use crate::{OpenOptions, Result};
use infer::{Inference, check_text};
use records::Records;

/// Where the text comes from.
pub(crate) enum Supply {
    /// A file: its text can be had again from the start.
    Again(Box<dyn Fn() -> std::io::Result<Box<dyn Read>>>),
    /// A stream: its text passes once.
    Once(Box<dyn Read>),
}

/// A text table in batches.
pub(crate) struct CsvBatches {
    header: Arc<Header>,
    plan: Plan,
    records: Records,
    /// Rows that were read to decide the types.
    waiting: VecDeque<ByteRecord>,
    shared: Vec<Shared>,
    strays: Vec<Stray>,
    batch_rows: usize,
    rows_given: usize,
    failed: bool,
}

impl CsvBatches {
    /// Reads the header and decides the types: by all rows of a file, or by the first rows of a stream.
    pub fn open(supply: Supply, source: &str, options: &OpenOptions) -> Result<CsvBatches> {
        let start = |open: &dyn Fn() -> std::io::Result<Box<dyn Read>>| -> Result<Records> {
            let text = open().map_err(|error| {
                quorate_gp::Error::data(Location::in_source(source), in_words(&error))
            })?;
            Ok(Records::open(text, source)?)
        };
        let (mut records, again) = match supply {
            Supply::Again(open) => (start(&open)?, Some(open)),
            Supply::Once(text) => (Records::open(text, source)?, None),
        };
        let found: Vec<Found> = records
            .names()
            .iter()
            .map(|name| Found {
                name: name.clone(),
                unreadable: None,
            })
            .collect();
        let plan = Plan::choose(source, &found, options)?;

        let mut inference = Inference::new(&plan);
        let mut waiting = VecDeque::new();
        if !Inference::is_settled(&plan) {
            let mut record = ByteRecord::new();
            let most = match again {
                Some(_) => usize::MAX,
                None => options.sample_rows.max(1),
            };
            while records.row() < most && records.next(&mut record)? {
                inference.observe(&record, &plan, records.row(), source)?;
                if again.is_none() {
                    waiting.push_back(std::mem::take(&mut record));
                }
            }
            if let Some(open) = again {
                let names = records.names().to_vec();
                records = start(&open)?;
                if records.names() != names {
                    return Err(crate::Error::format(
                        source,
                        "the file changed while it was read",
                    ));
                }
            }
        }
        Ok(CsvBatches {
            header: plan.header(inference.types()),
            strays: inference.strays(&plan),
            shared: plan.names.iter().map(|_| Shared::default()).collect(),
            plan,
            records,
            waiting,
            batch_rows: options.batch_rows.max(1),
            rows_given: 0,
            failed: false,
        })
    }

    fn next_record(&mut self, record: &mut ByteRecord) -> quorate_gp::Result<bool> {
        match self.waiting.pop_front() {
            Some(early) => {
                *record = early;
                Ok(true)
            }
            None => self.records.next(record),
        }
    }

    fn read_batch(&mut self) -> quorate_gp::Result<Option<Frame>> {
        let first_row = self.rows_given + 1;
        let mut columns: Vec<Column> = Frame::empty(self.header.clone()).columns;
        let mut record = ByteRecord::new();
        let mut rows = 0;
        while rows < self.batch_rows && self.next_record(&mut record)? {
            for (index, column) in columns.iter_mut().enumerate() {
                let bytes = record.get(self.plan.positions[index]).unwrap_or_default();
                let name = &self.header.names[index];
                match column {
                    Column::Number(cells) => {
                        let column_type = self.header.types[index];
                        let value = cell::value(bytes, column_type).ok_or_else(|| {
                            self.misfit(bytes, column_type, first_row + rows, name)
                        })?;
                        cells.push(value);
                    }
                    Column::Text(cells) => cells.push(if cell::is_missing(bytes) {
                        None
                    } else {
                        let text = check_text(bytes, &self.header.source, first_row + rows, name)?;
                        Some(self.shared[index].get(text))
                    }),
                }
            }
            rows += 1;
        }
        self.rows_given += rows;
        if rows == 0 {
            return Ok(None);
        }
        Frame::new(self.header.clone(), columns, first_row).map(Some)
    }

    fn misfit(
        &self,
        bytes: &[u8],
        column_type: ColumnType,
        row: usize,
        name: &str,
    ) -> quorate_gp::Error {
        quorate_gp::Error::data(
            Location::in_source(&self.header.source)
                .row(row)
                .column(name),
            cell::misfit(bytes, column_type),
        )
    }
}

impl Batches for CsvBatches {
    fn header(&self) -> &Arc<Header> {
        &self.header
    }

    fn next_batch(&mut self) -> quorate_gp::Result<Option<Frame>> {
        if self.failed {
            return Ok(None);
        }
        let batch = self.read_batch();
        self.failed = batch.is_err();
        batch
    }

    fn notes(&self) -> &[String] {
        &self.plan.notes
    }

    fn strays(&self) -> &[Stray] {
        &self.strays
    }
}
