//! Text tables as people write them, and the errors when they cannot be read.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::io::{Cursor, Read, Write};

use common::{message, read_text, text};
use quorate_gp::data::{Column, ColumnType, read_all};
use quorate_table::{OpenOptions, open, open_reader};

fn plain() -> OpenOptions {
    OpenOptions::default()
}

fn numbers(cells: &[f64]) -> Column {
    Column::Number(cells.to_vec())
}

#[test]
fn types_follow_from_all_cells() {
    let frame = read_text(
        "n,b,d,t,empty,mixed,m\n1,true,2024-01-01,x,,1,NA\n2.5,FALSE,2024-01-02T12:00,y,,true,null\n,,,,,2024-01-01,3\n",
        &plain(),
    )
    .unwrap();
    use ColumnType::{Boolean, Date, Number, Text};
    assert_eq!(
        frame.header.types,
        [Number, Boolean, Date, Text, Number, Text, Number]
    );
    assert_eq!(frame.columns[3], text(&["x", "y", ""]));
    assert_eq!(frame.columns[5], text(&["1", "true", "2024-01-01"]));
    let Column::Number(flags) = &frame.columns[1] else {
        panic!()
    };
    assert_eq!(flags[..2], [1.0, 0.0]);
    assert!(flags[2].is_nan());
}

#[test]
fn a_late_cell_of_a_file_decides_its_column() {
    let mut table = String::from("x\n");
    for row in 0..60_000 {
        table += &format!("{row}\n");
    }
    table += "late\n";
    assert_eq!(
        read_text(&table, &plain()).unwrap().header.types,
        [ColumnType::Text]
    );
}

#[test]
fn a_late_cell_of_a_stream_that_does_not_fit_is_an_error_with_its_place() {
    let mut table = String::from("x,y\n");
    for row in 0..30 {
        table += &format!("{row},1\n");
    }
    table += "late,1\n";
    let options = plain().sample_rows(10).batch_rows(4);
    let mut table = open_reader(Cursor::new(table), "-", &options).unwrap();
    assert_eq!(
        read_all(&mut *table).unwrap_err().to_string(),
        "-:31:x: «late» is not a number; correct the cell, or leave it empty if it is not known"
    );
    assert_eq!(table.next_batch().unwrap(), None);
}

#[test]
fn a_stream_gives_all_rows_once() {
    let table = "x\n1\n2\n3\n4\n5\n";
    for sample in [1, 3, 5, 50] {
        let options = plain().sample_rows(sample).batch_rows(2);
        let mut table = open_reader(Cursor::new(table), "-", &options).unwrap();
        assert_eq!(
            read_all(&mut *table).unwrap().columns[0],
            numbers(&[1.0, 2.0, 3.0, 4.0, 5.0])
        );
    }
}

#[test]
fn ways_of_writing_that_are_understood() {
    let expected = [numbers(&[1.0, 3.0]), text(&["p", "q r"])];
    for table in [
        "a,b\n1,p\n3,q r\n",
        "a,b\r\n1,p\r\n3,q r\r\n",
        "\u{feff}a,b\n1,p\n3,q r\n",
        "a;b\n1;p\n3;q r\n",
        "a\tb\n1\tp\n3\tq r",
        "a|b\n1|p\n3|q r",
        "\"a\",\"b\"\n\"1\",\"p\"\n3,\"q r\"",
        " a , b \n 1 ,p\n3,q r\n\n\n   \n",
        "\n\na,b\n1,p\n\n3,q r\n",
    ] {
        let frame = read_text(table, &plain()).unwrap();
        assert_eq!(frame.header.names, ["a", "b"], "{table:?}");
        assert_eq!(frame.columns, expected, "{table:?}");
    }
}

#[test]
fn numbers_that_are_not_plain() {
    let frame = read_text("a;b;c\n1,234;1e999;-0\n1;-inf;+2\n", &plain()).unwrap();
    assert_eq!(frame.columns[0], text(&["1,234", "1"]));
    assert_eq!(
        frame.columns[1],
        numbers(&[f64::INFINITY, f64::NEG_INFINITY])
    );
    assert_eq!(frame.columns[2], numbers(&[0.0, 2.0]));
}

#[test]
fn quoted_cells_hold_delimiters_and_lines() {
    let frame = read_text("a,b\n\"x,\"\"y\"\"\nz\",2\n", &plain()).unwrap();
    assert_eq!(frame.columns[0], text(&["x,\"y\"\nz"]));
}

#[test]
fn tables_that_cannot_be_read() {
    for (table, start) in [
        ("", "t.csv: the table is empty"),
        ("\n\n", "t.csv: the table is empty"),
        ("a,b,a\n1,2,3\n", "t.csv:a: two columns have this name"),
        ("a,,c\n1,2,3\n", "t.csv: column 2 has no name"),
        ("1,2,3\n4,5,6\n", "t.csv: the first line holds numbers only"),
        (
            "a,b\n1,2\n3\n",
            "t.csv:2: the row has 1 cell and the header 2 (line 3 of the file)",
        ),
        (
            "a,b\n1,2,3\n",
            "t.csv:1: the row has 3 cells and the header 2",
        ),
    ] {
        let found = message(table, &plain());
        assert!(found.starts_with(start), "{found}");
    }
}

#[test]
fn text_that_is_not_utf8_is_named_by_its_place() {
    let read = |bytes: &[u8]| {
        let mut table = open_reader(Cursor::new(bytes.to_vec()), "t.csv", &plain())?;
        Ok::<_, quorate_table::Error>(read_all(&mut *table)?)
    };
    let error = read(b"a,b\n1,x\n2,caf\xe9\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "t.csv:2:b: the text is not valid UTF-8; save the table as UTF-8"
    );
    let error = read(b"a,\xe9\n1,x\n").unwrap_err().to_string();
    assert!(error.starts_with("t.csv: the name of column 2"), "{error}");
    let error = read(b"\xff\xfea\0,\0b\0").unwrap_err().to_string();
    assert!(error.contains("UTF-16"), "{error}");
}

#[test]
fn known_types_are_enforced_and_text_is_kept_as_written() {
    let expect = |column_type| {
        plain().expect(vec![
            ("a".into(), column_type),
            ("absent".into(), ColumnType::Date),
        ])
    };
    let table = "a,b\n1,x\n0,y\n";
    assert_eq!(
        read_text(table, &expect(ColumnType::Boolean))
            .unwrap()
            .header
            .types[0],
        ColumnType::Boolean
    );
    assert_eq!(
        read_text("a,b\n007,1\n1.50,2\n", &expect(ColumnType::Text))
            .unwrap()
            .columns[0],
        text(&["007", "1.50"])
    );
    assert_eq!(
        message("a,b\n1,x\nabc,y\n", &expect(ColumnType::Number)),
        "t.csv:2:a: «abc» is not a number; correct the cell, or leave it empty if it is not known"
    );
    assert!(
        message("a,b\n1,x\n", &expect(ColumnType::Date))
            .starts_with("t.csv:1:a: «1» is not a date")
    );
    assert!(message("a,b\n7,x\n", &expect(ColumnType::Boolean)).contains("true or false"));
}

#[test]
fn chosen_columns_only() {
    let options = plain().columns(vec!["c".into(), "a".into()]);
    let frame = read_text("a,b,c\n1,2,3\n", &options).unwrap();
    assert_eq!(frame.header.names, ["a", "c"]);
    assert_eq!(frame.columns, [numbers(&[1.0]), numbers(&[3.0])]);
    assert_eq!(
        message("alpha,b\n1,2\n", &plain().columns(vec!["alhpa".into()])),
        "t.csv: there is no column `alhpa`; did you mean `alpha`?"
    );
    assert!(message("alpha,b\n1,2\n", &plain().needed(vec!["q".into()])).contains("no column `q`"));
}

#[test]
fn a_quotation_mark_that_is_never_closed_does_not_swallow_the_machine() {
    let endless = Cursor::new("a,b\n1,\"2\n").chain(std::io::repeat(b'x'));
    let error = match open_reader(endless, "-", &plain()) {
        Err(error) => error.to_string(),
        Ok(mut table) => read_all(&mut *table).unwrap_err().to_string(),
    };
    assert!(
        error.starts_with("-:1: the row does not end within 64 MiB"),
        "{error}"
    );
}

#[test]
fn files_that_are_not_there_or_not_tables() {
    let folder = tempfile::tempdir().unwrap();
    let failed = |name: &str, bytes: Option<&[u8]>| {
        let path = folder.path().join(name);
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).unwrap();
        }
        let message = match open(&path, &plain()) {
            Err(error) => error.to_string(),
            Ok(mut table) => read_all(&mut *table).unwrap_err().to_string(),
        };
        message.replace(&folder.path().display().to_string(), "")
    };
    assert_eq!(
        failed("none.csv", None),
        "/none.csv: there is no such file or folder"
    );
    assert_eq!(failed("", None), "/: is a folder, not a file");
    assert!(
        failed("t.parquet", Some(b"a,b\n1,2\n")).starts_with("/t.parquet: is not a Parquet file")
    );
    assert!(failed("t.arrow", Some(b"a,b\n1,2\n")).starts_with("/t.arrow: is not an Arrow file"));
    assert!(failed("t.xlsx", Some(b"PK\x03\x04..")).contains("export the table as CSV"));
    assert!(failed("t.parquet", Some(b"PAR1")).contains("damaged"));
    assert!(failed("t.arrow", Some(b"ARROW1")).contains("damaged"));
    assert!(failed("empty.csv", Some(b"")).contains("the table is empty"));

    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writeln!(zipped, "a,b").unwrap();
    for row in 0..50_000 {
        writeln!(zipped, "{row},{}", row * 7919 % 10007).unwrap();
    }
    let bytes = zipped.finish().unwrap();
    let found = failed("t.csv.gz", Some(&bytes[..bytes.len() / 2]));
    assert!(
        found.ends_with("the file ends too early; it is damaged or was not copied whole"),
        "{found}"
    );
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20].fill(0xff);
    let found = failed("t.csv.gz", Some(&damaged));
    assert!(found.starts_with("/t.csv.gz:"), "{found}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_named_pipe_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs mkfifo");
        return;
    }
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || std::fs::write(path, "x,y\n1,2\n3,4\n").unwrap())
    };
    let frame = common::read_table(&path, &plain()).unwrap();
    writer.join().unwrap();
    assert_eq!(frame.columns[0], numbers(&[1.0, 3.0]));
}

#[test]
fn an_empty_line_is_a_row_of_one_column_and_nothing_among_several() {
    let one = read_text("x\na\n\nc\n", &plain()).unwrap();
    assert_eq!(one.columns[0], text(&["a", "", "c"]));
    let two = read_text("x,y\na,1\n\nc,3\n", &plain()).unwrap();
    assert_eq!(two.columns[0], text(&["a", "c"]));
}

#[test]
fn a_column_that_is_text_because_of_a_few_cells_is_told_with_the_first_of_them() {
    let mut table = String::from("few,many,day,flag\n");
    for row in 1..=40 {
        let few = if row % 10 == 7 { "-" } else { "1.5" };
        let many = if row % 8 == 7 { "-" } else { "1.5" };
        let day = if row == 3 { "2020-02-30" } else { "2020-02-28" };
        let flag = if row == 3 { "maybe" } else { "true" };
        table += &format!("{few},{many},{day},{flag}\n");
    }
    let source = open_reader(Cursor::new(table), "t.csv", &plain()).unwrap();
    let told: Vec<String> = (source.strays().iter())
        .map(|stray| format!("{} {stray}", stray.location("t.csv")))
        .collect();
    assert_eq!(
        told,
        [
            "t.csv:7:few: «-» is not a number, and 36 of the 40 cells of the column are numbers",
            "t.csv:3:day: «2020-02-30» is not a date, and 39 of the 40 cells of the column are dates",
        ]
    );
}
