//! What the tests of tables share.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorate_gp::data::{Column, ColumnType, Frame, Header, read_all};
use quorate_table::{Format, OpenOptions, Result, TableWriter, open, open_bytes};

/// A file of the data folder (`QUORATE_DATA`, else `../shared/data` beside the workspace), when it is there.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("QUORATE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: needs data ({name})");
    None
}

pub fn text(cells: &[&str]) -> Column {
    let cell = |&text: &&str| (!text.is_empty()).then(|| Arc::from(text));
    Column::Text(cells.iter().map(cell).collect())
}

/// Every type, with missing cells, awkward texts and awkward numbers.
pub fn mixed_frame() -> Frame {
    let header = Header {
        source: String::new(),
        names: ["number", "flag", "day", "moment", "wörd, \"odd\""]
            .map(String::from)
            .to_vec(),
        types: vec![
            ColumnType::Number,
            ColumnType::Boolean,
            ColumnType::Date,
            ColumnType::Date,
            ColumnType::Text,
        ],
    };
    let columns = vec![
        Column::Number(vec![0.1 + 0.2, -1e300, f64::NAN, 5e-324, 7.0]),
        Column::Number(vec![1.0, 0.0, f64::NAN, 1.0, 0.0]),
        Column::Number(vec![0.0, -1.0, 19_000.0, f64::NAN, 11_016.0]),
        Column::Number(vec![0.5, 19_723.75, f64::NAN, -0.25, 0.0]),
        text(&["a,b", "line\nbreak", "", "\"quoted\"", "ünïcödé"]),
    ];
    Frame::new(Arc::new(header), columns, 1).unwrap()
}

/// Equal header and equal cells, with NaN equal to NaN.
pub fn assert_same(left: &Frame, right: &Frame) {
    assert_eq!(left.header.names, right.header.names);
    assert_eq!(left.header.types, right.header.types);
    assert_eq!(left.rows(), right.rows());
    for (index, (one, other)) in left.columns.iter().zip(&right.columns).enumerate() {
        match (one, other) {
            (Column::Number(one), Column::Number(other)) => {
                for (a, b) in one.iter().zip(other) {
                    assert!(
                        a == b || (a.is_nan() && b.is_nan()),
                        "column {index}: {a} and {b}"
                    );
                }
            }
            _ => assert_eq!(one, other),
        }
    }
}

pub fn write_table(path: &Path, frames: &[Frame]) -> Result<()> {
    let mut writer = TableWriter::create(path, &frames[0].header)?;
    for frame in frames {
        writer.write(frame)?;
    }
    writer.finish()
}

pub fn read_table(path: &Path, options: &OpenOptions) -> Result<Frame> {
    Ok(read_all(&mut *open(path, options)?)?)
}

pub fn read_text(text: &str, options: &OpenOptions) -> Result<Frame> {
    let bytes = text.as_bytes().to_vec();
    Ok(read_all(&mut *open_bytes(
        bytes,
        Format::Csv,
        "t.csv",
        options,
    )?)?)
}

/// The message of reading a text table.
pub fn message(text: &str, options: &OpenOptions) -> String {
    read_text(text, options).unwrap_err().to_string()
}
