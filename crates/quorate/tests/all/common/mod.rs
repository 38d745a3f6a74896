//! What the tests share: golden files, real tables, and a record of what had to be skipped.
#![allow(clippy::unwrap_used)]

pub mod dense;
pub mod double;
pub mod quantities;
pub mod shards;
pub mod textbook;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorate::gp::data::{Column, ColumnKind, ColumnType, Frame, Header, InputColumn, read_all};
use quorate::gp::kernel::{BoundKernel, Kernel};
use serde_json::Value;

pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every JSON file of a folder of `golden/`, by name.
pub fn golden(folder: &str) -> Vec<(String, Value)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(workspace().join("golden").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

/// A file of the data folder, when that folder is there.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("QUORATE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => workspace().join("../shared/data"),
    };
    let path = folder.join(name);
    path.exists().then_some(path)
}

/// The table a golden file speaks of, its checksum verified; none when it is not here.
pub fn table(golden: &Value) -> Option<Frame> {
    let name = golden["data"].as_str().unwrap();
    let path = if golden["committed"].as_bool().unwrap() {
        workspace().join("golden/data").join(name)
    } else {
        data_file(name)?
    };
    let bytes = std::fs::read(&path).unwrap();
    use sha2::Digest;
    let sum: String = sha2::Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        sum,
        golden["sha256"].as_str().unwrap(),
        "{}",
        path.display()
    );
    Some(read(&path))
}

pub fn read(path: &Path) -> Frame {
    let mut source = quorate_table::open(path, &quorate_table::OpenOptions::default()).unwrap();
    read_all(source.as_mut()).unwrap()
}

pub fn numbers_of(frame: &Frame, name: &str) -> Vec<f64> {
    match frame.column(name) {
        Some(Column::Number(values)) => values.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

/// Says that a test could not run for want of data; `cargo xtask test` counts these.
pub fn skipped(what: &str) {
    eprintln!("skipped: needs data: {what}");
    if let Some(log) = std::env::var_os("QUORATE_SKIP_LOG") {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        writeln!(file, "{what}").unwrap();
    }
}

/// A kernel of one number, `x`.
pub fn bound(text: &str) -> BoundKernel {
    let column = InputColumn {
        name: "x".into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    text.parse::<Kernel>().unwrap().bind(&[column]).unwrap()
}

/// A table of numbers.
pub fn frame(columns: Vec<(&str, Vec<f64>)>) -> Frame {
    let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let header = Header {
        source: String::new(),
        names,
        types: vec![ColumnType::Number; columns.len()],
    };
    let columns = columns.into_iter().map(|(_, cells)| Column::Number(cells));
    Frame::new(Arc::new(header), columns.collect(), 1).unwrap()
}
