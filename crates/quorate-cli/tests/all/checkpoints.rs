//! Fits and updates that were killed, taken up again: the model has the same bytes as if nothing had happened.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use crate::harness;

use std::time::{Duration, Instant};

use harness::ending::Ending;
use harness::{Place, rows};

/// Five moments of a run of so many seconds, spread and different in every run: what they are must not matter.
fn moments(seconds: f64) -> Vec<Duration> {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut state = u64::from(since.subsec_nanos());
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let moment = |place: u32| seconds * (f64::from(place) + uniform()) / 5.0;
    (0..5).map(moment).map(Duration::from_secs_f64).collect()
}

/// Kills a command line at five moments, each time from a fresh start, and takes it up again; the seconds of a whole run.
fn killed_five_times(place: &Place, line: &str, plain: &str) -> f64 {
    let started = Instant::now();
    place.run(plain).ok();
    let seconds = started.elapsed().as_secs_f64();
    let expected = place.bytes("plain.quorate");
    let mut taken_up = 0;
    for wait in moments(seconds) {
        let (outcome, _) = Ending::Kill(wait).of(place, line);
        // A run that was quicker than its moment is done.
        if outcome.code == Some(137) {
            taken_up += usize::from(place.path("c").exists());
            place.run(line).ok();
        }
        assert!(place.bytes("kept.quorate") == expected, "after {wait:?}");
        assert!(!place.path("c").exists(), "the checkpoint stayed");
        std::fs::remove_file(place.path("kept.quorate")).unwrap();
    }
    assert!(taken_up > 0, "no run was killed in its work");
    seconds
}

/// Kills a command line five times, every run going on from where the last was killed, then lets it end.
fn killed_again_and_again(place: &Place, line: &str, seconds: f64) {
    for wait in moments(seconds) {
        Ending::Kill(wait).of(place, line);
    }
    place.run(line).ok();
    assert!(place.bytes("kept.quorate") == place.bytes("plain.quorate"));
}

#[test]
fn an_exact_fit_that_was_killed_ends_with_the_same_bytes() {
    let place = Place::new();
    place.write("train.csv", rows(120, 2));
    let line = "fit train.csv --target y --restarts 2";
    killed_five_times(
        &place,
        &format!("{line} --checkpoint c -o kept.quorate"),
        &format!("{line} -o plain.quorate"),
    );
}

#[test]
fn a_local_fit_that_was_killed_ends_with_the_same_bytes() {
    let place = Place::new();
    place.write("train.csv", rows(300, 2));
    let line =
        "fit train.csv --target y --method committee --kernel se(ard)*category --neighbours 50";
    killed_five_times(
        &place,
        &format!("{line} --checkpoint c -o kept.quorate"),
        &format!("{line} -o plain.quorate"),
    );
}

#[test]
fn a_stream_that_was_killed_ends_with_the_same_bytes() {
    let place = Place::new();
    place.write("train.csv", rows(60_000, 2));
    let line = "fit train.csv --target y --mode landmarks --landmarks 60 --part-size 200 --kernel se(ard)*category --learn none";
    killed_five_times(
        &place,
        &format!("{line} --checkpoint c -o kept.quorate"),
        &format!("{line} -o plain.quorate"),
    );
}

#[test]
fn an_update_that_was_killed_ends_with_the_same_bytes() {
    let place = Place::new();
    place.write("sample.csv", rows(2000, 2));
    place.write("more.csv", rows(100_000, 3));
    place
        .run("prepare sample.csv --target y --landmarks 120 --part-size 250 --kernel se(ard)*category --learn none -o base.quorate")
        .ok();
    let plain = "update base.quorate more.csv -o plain.quorate";
    let line = "update base.quorate more.csv --checkpoint c -o kept.quorate";
    let seconds = killed_five_times(&place, line, plain);
    killed_again_and_again(&place, line, 0.8 * seconds);
}

#[test]
fn other_rows_behind_the_same_sample_are_noticed() {
    let place = Place::new();
    place.write("sample.csv", rows(2000, 2));
    let table = rows(90_000, 3);
    place.write("more.csv", &table);
    place
        .run("prepare sample.csv --target y --landmarks 150 --kernel se(ard)*category --learn none -o base.quorate")
        .ok();
    let line = "update base.quorate more.csv --checkpoint c -o kept.quorate";
    let mut wait = Duration::from_millis(400);
    // Killed once some parts are in the checkpoint.
    while std::fs::metadata(place.path("c")).map_or(0, |found| found.len()) < 50_000 {
        let (outcome, _) = Ending::Kill(wait).of(&place, line);
        assert_eq!(outcome.code, Some(137), "{outcome:?}");
        wait += Duration::from_millis(300);
    }
    let changed = table.replacen("north", "west", 1);
    assert_ne!(changed, table);
    place.write("more.csv", changed);
    let refused = place.run(line);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("the rows from 1 on are not those"),
        "{refused:?}"
    );
    assert!(!place.path("kept.quorate").exists());
}

#[test]
fn ctrl_c_leaves_a_checkpoint_to_go_on_from() {
    let place = Place::new();
    place.write("train.csv", rows(500, 2));
    let line = "fit train.csv --target y --kernel matern32(ard)*category --restarts 8 --checkpoint c -o m.quorate";
    let (outcome, _) = Ending::Interrupt(Duration::from_millis(900)).of(&place, line);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert_eq!(place.names(), ["c", "train.csv"]);
    let again = place.run(line).ok();
    assert!(
        again.stderr.contains("going on from the checkpoint"),
        "{again:?}"
    );
    assert_eq!(place.names(), ["m.quorate", "train.csv"]);
}
