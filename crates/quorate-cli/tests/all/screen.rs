//! What a person sees in a terminal: progress while it lasts, then the result; pictures in colour.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use crate::harness;

use harness::terminal::{Screen, run};
use harness::{Place, assert_snapshot};

/// Times, counts and bars differ from run to run: a number becomes `#`, a bar becomes `=`, spaces become one, and a time
/// becomes seconds.
fn normalised(line: &str) -> String {
    let mut text = String::new();
    for character in line.trim().chars() {
        let sign = match character {
            '0'..='9' => '#',
            '━' | '─' => '=',
            other => other,
        };
        if !(matches!(sign, '#' | '=' | ' ') && text.ends_with(sign)) {
            text.push(sign);
        }
    }
    text.replace("# min # s", "# s")
}

#[test]
fn progress_shows_stage_bar_and_time_left_and_then_goes() {
    let place = Place::new();
    place
        .run("generate friedman -n 800 --seed 1 -o train.csv")
        .ok();
    let line = "fit train.csv --target y --kernel matern32(ard) --restarts 6 -o model.quorate";
    let seen = run(place.command(line), 100);
    assert_eq!(seen.code, Some(0), "{}", seen.raw);
    let mut shapes: Vec<String> = Screen::drawn(&seen.raw)
        .iter()
        .map(|line| normalised(line))
        .filter(|line| line.starts_with("learning"))
        .collect();
    shapes.sort();
    shapes.dedup();
    assert_snapshot("progress.txt", &(shapes.join("\n") + "\n"));
    let last = Screen::after(&seen.raw);
    assert!(
        last.iter()
            .any(|line| line.starts_with("Wrote model.quorate")),
        "{last:#?}"
    );
    assert!(
        !last.iter().any(|line| line.contains('━')),
        "the bar stayed: {last:#?}"
    );
}

#[test]
fn the_picture_of_the_demo_is_the_one_we_know() {
    let place = Place::new();
    let seen = run(place.command("demo"), 90);
    assert_eq!(seen.code, Some(0), "{}", seen.raw);
    let screen = Screen::after(&seen.raw);
    let first = screen
        .iter()
        .position(|line| line.starts_with("1. A noisy sine"))
        .unwrap();
    let last = screen
        .iter()
        .position(|line| line.contains("95 % interval"))
        .unwrap();
    let picture: String = screen[first + 1..=last]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    assert_snapshot("demo.txt", &picture);
    assert!(seen.raw.contains("\u{1b}[34m░"), "no colours in a terminal");
}

#[test]
fn no_color_is_respected_and_quiet_is_quiet() {
    let place = Place::with_model();
    let mut command = place.command("inspect model.quorate");
    command.env("NO_COLOR", "1");
    let plain = run(command, 100);
    assert!(!plain.raw.contains('\u{1b}'), "{}", plain.raw);
    let coloured = run(place.command("inspect model.quorate"), 100);
    assert!(coloured.raw.contains("\u{1b}[1m"), "{}", coloured.raw);
    let line = "fit train.csv --target y --kernel se(ard) --restarts 3 -q -o again.quorate";
    assert_eq!(run(place.command(line), 100).raw, "");
}
