//! Real tables, where the data folder is at hand.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::{assert_same, data_file, read_table, write_table};
use quorate_gp::data::{Column, ColumnType, Roles, Schema};
use quorate_table::OpenOptions;

#[test]
fn kin40k_has_its_rows_and_columns() {
    let Some(path) = data_file("kin40k.parquet") else {
        return;
    };
    let frame = read_table(&path, &OpenOptions::default()).unwrap();
    assert_eq!((frame.rows(), frame.columns.len()), (40_000, 9));
    let (schema, notes) = Schema::learn(&frame, &Roles::of_target("y")).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(schema.columns().len(), 8);
    let data = schema.training_data(&frame).unwrap();
    assert_eq!(data.members().len(), 40_000);
    let mean: f64 = data
        .targets()
        .iter()
        .zip(data.weights())
        .map(|(y, w)| y * w)
        .sum::<f64>()
        / data.total_weight();
    assert!(mean.abs() < 1e-10);
}

#[test]
fn california_has_207_missing_cells() {
    let Some(path) = data_file("california.csv.gz") else {
        return;
    };
    let frame = read_table(&path, &OpenOptions::default()).unwrap();
    assert_eq!(frame.rows(), 20_640);
    let (schema, _) = Schema::learn(&frame, &Roles::of_target("y")).unwrap();
    assert_eq!(schema.missing_cells(), [("total_bedrooms", 207)]);
    assert_eq!(schema.columns().len(), 9);
    assert_eq!(schema.encode(&frame).unwrap().missing_cells, 207);
}

#[test]
fn mcycle_merges_its_repeated_inputs() {
    let Some(path) = data_file("mcycle.csv.gz") else {
        return;
    };
    let frame = read_table(&path, &OpenOptions::default()).unwrap();
    let (schema, _) = Schema::learn(&frame, &Roles::of_target("y")).unwrap();
    let data = schema.training_data(&frame).unwrap();
    assert_eq!(data.members().len(), 133);
    assert_eq!(data.rows(), 94);
    assert_eq!(data.total_weight(), 133.0);
}

#[test]
fn every_real_table_survives_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "mcycle.csv.gz",
        "abalone.csv.gz",
        "california.csv.gz",
        "naval.parquet",
    ] {
        let Some(path) = data_file(name) else { return };
        let frame = read_table(&path, &OpenOptions::default()).unwrap();
        assert!(
            frame
                .header
                .types
                .iter()
                .all(|&column_type| column_type == ColumnType::Number)
        );
        for copy in ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"] {
            let copy = folder.path().join(copy);
            write_table(&copy, std::slice::from_ref(&frame)).unwrap();
            assert_same(&frame, &read_table(&copy, &OpenOptions::default()).unwrap());
        }
    }
}

#[test]
fn the_data_folder_lists_itself() {
    let Some(path) = data_file("index.csv") else {
        return;
    };
    let index = read_table(&path, &OpenOptions::default()).unwrap();
    let Some(Column::Text(files)) = index.column("file") else {
        panic!("{:?}", index.header)
    };
    let Some(Column::Number(rows)) = index.column("rows") else {
        panic!("{:?}", index.header)
    };
    for (file, &rows) in files.iter().zip(rows) {
        let Some(path) = data_file(file.as_deref().unwrap()) else {
            continue;
        };
        let mut table = quorate_table::open(&path, &OpenOptions::default()).unwrap();
        let mut found = 0;
        while let Some(frame) = table.next_batch().unwrap() {
            found += frame.rows();
        }
        assert_eq!(found as f64, rows, "{file:?}");
    }
}
