//! Streams and ends that need more than a line of `bad_input.table`.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use crate::harness;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use harness::{Place, assert_only};

#[test]
fn a_folder_that_may_not_be_written_is_named_before_any_work() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_model();
    let locked = place.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere; then there is nothing to test.
    if File::create(locked.join("probe")).is_ok() {
        return;
    }
    let outcome = place.run("predict model.quorate test.csv -o locked/out.csv");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(outcome.stderr, "locked/out.csv: permission denied\n");
    assert_only(
        &place,
        &["locked", "model.quorate", "test.csv", "train.csv"],
    );
}

/// The most memory a prediction of `rows` rows has held when its last rows come out, in bytes.
#[cfg(target_os = "linux")]
fn peak_of_prediction(place: &Place, rows: usize) -> u64 {
    place.write("queries.csv", harness::rows(rows, 3));
    let mut command = place.command("predict model.quorate queries.csv --keep all");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // More is left than the buffers hold, so the process is still there.
    let left = 9000;
    assert_eq!(lines.by_ref().take(rows - left).count(), rows - left);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert_eq!(lines.count(), left + 1);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    kibibytes * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn predictions_need_no_more_memory_for_a_larger_table() {
    let place = Place::with_model();
    // Rows are answered 65,536 at a time: both tables are longer than two pieces.
    let small = peak_of_prediction(&place, 150_000);
    let large = peak_of_prediction(&place, 900_000);
    // Eight columns a row: held whole, the larger table would take at least 48 MB more.
    assert!(large < small + 20_000_000, "{small} bytes, then {large}");
}

/// The most memory a command has held, in bytes, looked at while it runs.
#[cfg(target_os = "linux")]
fn peak_of(place: &Place, line: &str) -> u64 {
    let mut child = place.command(line).stdout(Stdio::null()).spawn().unwrap();
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = found.unwrap_or(0).max(peak);
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    assert_eq!(code, Some(0), "{line}");
    peak * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_stream_is_fitted_in_the_memory_of_its_chunks() {
    let place = Place::new();
    // Chunks have 50,000 rows: both tables are longer than two.
    place.write("short.csv", harness::rows(150_000, 3));
    place.write("long.csv", harness::rows(600_000, 3));
    let line = "--target y --mode landmarks --landmarks 20 --kernel se(ard)*category --learn none";
    let peak = |table: &str| peak_of(&place, &format!("fit {table} {line} -q -o m.quorate"));
    let (short, long) = (peak("short.csv"), peak("long.csv"));
    // Held whole, the longer table would take at least 25 MB more as numbers alone.
    assert!(long < short + 10_000_000, "{short} bytes, then {long}");
    let page = place.run("inspect m.quorate --json").ok().json();
    assert_eq!(page["rows"], 600_000);
}

#[test]
fn a_stream_from_standard_input_learns_from_its_first_rows() {
    let place = Place::new();
    let table = harness::rows(52_000, 3);
    let line = "fit - --target y --mode landmarks --landmarks 20 --kernel se(ard)*category --learn none --json -o m.quorate";
    let report = place.run_with(line, &table).ok().json();
    assert_eq!(report["rows"], 52_000);
    let notes = report["notes"].to_string();
    assert!(notes.contains("50000 first rows"), "{notes}");
}
