//! Streams and ends that need more than a line of `bad_input.table`.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod harness;

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
    let small = peak_of_prediction(&place, 30_000);
    let large = peak_of_prediction(&place, 900_000);
    // Eight columns a row: held whole, the larger table would take at least 55 MB more.
    assert!(large < small + 20_000_000, "{small} bytes, then {large}");
}
