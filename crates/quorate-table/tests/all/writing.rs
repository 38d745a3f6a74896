//! Tables appear whole or not at all, and failures are told in plain words.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;
use std::sync::Arc;

use common::{mixed_frame, write_table};
use quorate_gp::data::{Column, ColumnType, Frame, Header};
use quorate_table::{Error, TableWriter};

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn an_unfinished_table_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let frame = mixed_frame();
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "before").unwrap();
        let mut writer = TableWriter::create(&path, &frame.header).unwrap();
        writer.write(&frame).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        std::fs::remove_file(&path).unwrap();
        assert!(entries(folder.path()).is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_as_such() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: needs /dev/full");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"] {
        // A link gives the device the extension of a format.
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let error = write_table(&path, &[mixed_frame()]).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(error.to_string().ends_with("the disk is full"), "{error}");
    }
    let error = write_table(Path::new("/dev/full"), &[mixed_frame()]).unwrap_err();
    assert_eq!(error.to_string(), "/dev/full: the disk is full");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_is_an_error_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs mkfifo");
        return;
    }
    let reader = {
        let path = path.clone();
        std::thread::spawn(move || drop(std::fs::File::open(path).unwrap()))
    };
    let frame = mixed_frame();
    let mut writer = TableWriter::create(&path, &frame.header).unwrap();
    reader.join().unwrap();
    let mut result = Ok(());
    for _ in 0..10_000 {
        result = writer.write(&frame);
        if result.is_err() {
            break;
        }
    }
    let result = result.and_then(|()| writer.finish());
    assert!(matches!(result, Err(Error::BrokenPipe)), "{result:?}");
}

#[test]
fn places_where_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let failed = |name: &str| {
        let message = write_table(&folder.path().join(name), &[mixed_frame()])
            .unwrap_err()
            .to_string();
        message.replace(&folder.path().display().to_string(), "")
    };
    assert_eq!(
        failed("none/t.csv"),
        "/none/t.csv: there is no such file or folder"
    );
    assert_eq!(failed(""), "/: is a folder, not a file");
    assert_eq!(
        failed("t.parqet"),
        "/t.parqet: the extension tells no format; use .csv, .csv.gz, .parquet or .arrow"
    );
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn rows_must_have_the_columns_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let frame = mixed_frame();
    let mut writer = TableWriter::create(folder.path().join("t.csv"), &frame.header).unwrap();
    let other = Frame::from_columns(vec![("x", Column::Number(vec![1.0]))]).unwrap();
    assert!(writer.write(&other).is_err());
}

#[test]
fn a_date_that_no_calendar_has_is_refused_with_its_place() {
    let header = Header {
        source: "in.csv".into(),
        names: vec!["d".into()],
        types: vec![ColumnType::Date],
    };
    let frame = Frame::new(Arc::new(header), vec![Column::Number(vec![0.0, 1e300])], 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.parquet", "t.arrow"] {
        let error =
            write_table(&folder.path().join(name), std::slice::from_ref(&frame)).unwrap_err();
        assert!(error.to_string().contains("in.csv:2:d:"), "{error}");
        assert!(entries(folder.path()).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_are_the_usual_ones() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "x").unwrap();
    let usual = std::fs::metadata(&plain).unwrap().permissions().mode();
    let real = folder.path().join("real.csv");
    let link = folder.path().join("link.csv");
    write_table(&real, &[mixed_frame()]).unwrap();
    assert_eq!(
        std::fs::metadata(&real).unwrap().permissions().mode(),
        usual
    );
    std::fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_table(&link, &[mixed_frame()]).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .starts_with("number,flag,")
    );
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write_table(&path, &[mixed_frame()]).unwrap();
        let first = std::fs::read(&path).unwrap();
        write_table(&path, &[mixed_frame()]).unwrap();
        assert_eq!(first, std::fs::read(&path).unwrap(), "{name}");
    }
}
