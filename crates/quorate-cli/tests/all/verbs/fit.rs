//! `fit`: what it says, and which columns it takes.

use super::{FIT, with_train};
use crate::harness::{Place, assert_only, rows};

#[test]
fn fit_says_what_it_used_found_and_wrote() {
    let place = with_train();
    let outcome = place.run(FIT).ok();
    for piece in [
        "y from 40 rows and 3 inputs: a, b, site",
        "Kernel",
        "category",
        "Leave-one-out scores over 40 rows",
        "own units",
        "RMSE",
        "95 %",
        "Wrote model.quorate (",
    ] {
        assert!(
            outcome.stdout.contains(piece),
            "{piece}: {}",
            outcome.stdout
        );
    }
    assert!(
        !outcome.stdout.contains('\u{1b}'),
        "colours outside a terminal"
    );
    assert_eq!(outcome.stderr, "", "progress outside a terminal");
    assert_only(&place, &["model.quorate", "train.csv"]);
}

#[test]
fn flags_choose_the_columns() {
    let place = with_train();
    let fit = |flags: &str| {
        let line = format!(
            "fit train.csv --target y --kernel se --learn none -o m.quorate --json {flags}"
        );
        place.run(&line).ok().json()["inputs"].clone()
    };
    assert_eq!(fit("--inputs b,a"), serde_json::json!(["b", "a"]));
    assert_eq!(fit("--ignore site,b"), serde_json::json!(["a"]));
    assert_eq!(fit("--inputs a --weight b"), serde_json::json!(["a"]));
    assert_eq!(fit("--ignore site --noise b"), serde_json::json!(["a"]));
}

#[test]
fn fit_reads_standard_input_and_shows_more_when_asked() {
    let place = with_train();
    place.run(&format!("{FIT} -q")).ok();
    let input = place.read("train.csv");
    let line = FIT
        .replace("train.csv", "-")
        .replace("model.quorate", "piped.quorate");
    let outcome = place.run_with(&format!("{line} -v"), &input).ok();
    assert_eq!(place.bytes("piped.quorate"), place.bytes("model.quorate"));
    assert!(
        outcome.stdout.contains("relevance") && outcome.stdout.contains("evaluations"),
        "{outcome:?}"
    );
}

#[test]
fn names_from_a_file_cannot_steer_the_terminal() {
    let place = Place::new();
    place.write("train.csv", rows(20, 1).replacen("a,b", "a\u{1b}[2J,b", 1));
    let outcome = place
        .run("fit train.csv --target y --kernel se --learn none -o m.quorate")
        .ok();
    let page = place.run("inspect m.quorate -v").ok();
    let error = place.run("fit train.csv --target z -o m.quorate");
    for text in [
        outcome.stdout,
        outcome.stderr,
        page.stdout,
        error.stdout,
        error.stderr,
    ] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
