//! A table comes back from every format as it was written.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::io::Cursor;
use std::sync::Arc;

use common::{assert_same, mixed_frame, read_table, write_table};
use proptest::prelude::*;
use quorate_gp::data::{Column, Frame, read_all};
use quorate_table::{OpenOptions, open_reader};

const NAMES: [&str; 5] = ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow"];

#[test]
fn every_type_survives_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let frame = mixed_frame();
    for name in NAMES {
        let path = folder.path().join(name);
        write_table(&path, std::slice::from_ref(&frame)).unwrap();
        let back = read_table(&path, &OpenOptions::default()).unwrap();
        assert_same(&frame, &back);
        assert_eq!(back.header.source, path.display().to_string());
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "a temporary file stayed behind");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn every_format_can_come_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let frame = mixed_frame();
    for name in NAMES {
        let path = folder.path().join(name);
        write_table(&path, std::slice::from_ref(&frame)).unwrap();
        let stream = Cursor::new(std::fs::read(&path).unwrap());
        let mut table = open_reader(stream, "-", &OpenOptions::default()).unwrap();
        assert_same(&frame, &read_all(&mut *table).unwrap());
    }
}

#[test]
fn the_stream_form_of_arrow_is_read() {
    use arrow_array::RecordBatch;
    use arrow_array::{ArrayRef, Float64Array, StringArray};
    use arrow_ipc::writer::StreamWriter;
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.5), None, Some(3.0)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
    let batch = RecordBatch::try_from_iter([("x", numbers), ("s", texts)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.arrow");
    std::fs::write(&path, &bytes).unwrap();
    let from_file = read_table(&path, &OpenOptions::default()).unwrap();
    let mut piped = open_reader(Cursor::new(bytes), "-", &OpenOptions::default()).unwrap();
    let piped = read_all(&mut *piped).unwrap();
    assert_same(&from_file, &piped);
    assert_eq!(piped.rows(), 6);
    assert_eq!(
        piped.columns[1],
        common::text(&["a", "b", "", "a", "b", ""])
    );
}

#[test]
fn frames_written_one_by_one_come_back_as_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let whole = mixed_frame();
    let parts = [
        whole.select_rows(&[0, 1]),
        whole.select_rows(&[2]),
        whole.select_rows(&[3, 4]),
    ];
    for name in NAMES {
        let path = folder.path().join(name);
        write_table(&path, &parts).unwrap();
        for batch_rows in [1, 2, 3, 100] {
            let options = OpenOptions::default().batch_rows(batch_rows);
            let mut table = quorate_table::open(&path, &options).unwrap();
            let mut frames = Vec::new();
            while let Some(frame) = table.next_batch().unwrap() {
                assert!(frame.rows() <= batch_rows);
                frames.push(frame);
            }
            let back = Frame::concat(frames).unwrap();
            assert_same(&whole, &back);
            assert_eq!(back.row_number(4), 5);
        }
    }
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let frame = Frame::from_columns(vec![
        ("x", Column::Number(vec![])),
        ("y", Column::Number(vec![])),
    ])
    .unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        write_table(&path, std::slice::from_ref(&frame)).unwrap();
        assert_same(&frame, &read_table(&path, &OpenOptions::default()).unwrap());
    }
}

/// Text that looks like something else (a number, a date, nothing) is read as that from a text table.
fn plain_text() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        1 => Just(None),
        5 => "[a-zA-Z;,\" \n\r\tαβ]{1,12}".prop_map(|text| Some(format!("t{text}"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_numbers_and_texts_survive_every_format(
        rows in prop::collection::vec((prop::num::f64::ANY, plain_text()), 1..20)
    ) {
        let numbers = rows.iter().map(|row| row.0).chain([1.0]).collect();
        let texts = rows.iter().map(|row| row.1.as_deref().map(Arc::from)).chain([Some(Arc::from("x"))]).collect();
        let frame = Frame::from_columns(vec![("n", Column::Number(numbers)), ("s", Column::Text(texts))]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in NAMES {
            let path = folder.path().join(name);
            write_table(&path, std::slice::from_ref(&frame)).unwrap();
            assert_same(&frame, &read_table(&path, &OpenOptions::default()).unwrap());
        }
    }
}
