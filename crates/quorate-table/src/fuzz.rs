//! Plain functions of bytes for mutation loops and coverage-guided fuzzers: any bytes give a table or an error, never a
//! panic.

use quorate_gp::data::{Batches, ColumnType};

use crate::{Format, OpenOptions, Result, open_bytes, open_reader};

/// Reads the bytes as every format, in every way; returns how many of the readings gave a whole table.
pub fn read_bytes(data: &[u8]) -> usize {
    let mut whole = 0;
    let options = OpenOptions::default().batch_rows(7).sample_rows(5);
    for format in [
        Format::Csv,
        Format::CsvGz,
        Format::Parquet,
        Format::Arrow,
        Format::ArrowStream,
    ] {
        whole += drain(open_bytes(data.to_vec(), format, "fuzz", &options));
    }
    whole += drain(open_reader(
        std::io::Cursor::new(data.to_vec()),
        "-",
        &options,
    ));
    let types = [
        ColumnType::Number,
        ColumnType::Boolean,
        ColumnType::Date,
        ColumnType::Text,
    ];
    for column_type in types {
        let expected = ["a", "b", "c", "x", "y"].map(|name| (name.to_owned(), column_type));
        let options = options.clone().expect(expected.to_vec());
        whole += drain(open_bytes(
            data.to_vec(),
            Format::of_bytes(data),
            "fuzz",
            &options,
        ));
    }
    whole
}

/// Reads a table to its end; 1 when that worked.
fn drain(opened: Result<Box<dyn Batches>>) -> usize {
    let Ok(mut table) = opened else { return 0 };
    loop {
        match table.next_batch() {
            Ok(Some(frame)) => assert!(frame.rows() > 0 || frame.columns.is_empty()),
            Ok(None) => return 1,
            Err(_) => return 0,
        }
    }
}
