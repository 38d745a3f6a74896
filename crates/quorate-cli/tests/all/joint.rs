//! Committees that are asked jointly, or locally with landmarks, as people would use them.
#![allow(clippy::unwrap_used)]

use crate::harness;

use harness::{Place, rows};

#[test]
fn a_joint_committee_is_fitted_inspected_and_asked_in_blocks() {
    let place = Place::new();
    place.write("train.csv", rows(80, 1));
    place.write("new.csv", rows(50, 2));
    let line = "fit train.csv --target y --mode joint --parts column:site --part-size 30 --questions 20 --companions 15 --kernel se(ard)*category --learn none -o m.quorate";
    let outcome = place.run(line).ok();
    assert!(
        outcome.stdout.contains("Held-out scores over 8 rows"),
        "{outcome:?}"
    );
    let page = place.run("inspect m.quorate").ok().stdout;
    assert!(
        page.contains("parts of at most 30 rows, asked about 20 rows together and 15 more"),
        "{page}"
    );
    let json = place.run("inspect m.quorate --json").ok().json();
    assert_eq!(json["method"]["joint"]["questions"], 20);
    let spec = place.run("inspect m.quorate --spec").ok().stdout;
    place.write("spec.json", spec);
    place
        .run("fit train.csv --spec spec.json -o again.quorate --threads 1")
        .ok();
    assert_eq!(place.bytes("m.quorate"), place.bytes("again.quorate"));

    // The second block of a table is the first block of the table without the rows before it.
    let text = place.read("new.csv");
    let lines: Vec<&str> = text.lines().collect();
    let rest: Vec<&str> = lines[..1].iter().chain(&lines[21..]).copied().collect();
    place.write("rest.csv", rest.join("\n"));
    let whole = place.run("predict m.quorate new.csv").ok().stdout;
    let part = place.run("predict m.quorate rest.csv").ok().stdout;
    assert_eq!(whole.lines().count(), 51);
    let [whole, part] = [&whole, &part].map(|text| text.lines().skip(1).collect::<Vec<_>>());
    assert_eq!(whole[20..], part[..]);
}

#[test]
fn local_experts_with_landmarks_are_fitted_inspected_and_asked() {
    let place = Place::new();
    place.write("train.csv", rows(80, 1));
    let line = "fit train.csv --target y --mode local --landmarks 12 --neighbours 10 --kernel se(ard)*category --learn none -o m.quorate";
    let outcome = place.run(line).ok();
    assert!(
        outcome.stdout.contains("Held-out scores over 8 rows"),
        "{outcome:?}"
    );
    let page = place.run("inspect m.quorate").ok().stdout;
    assert!(page.contains("12 landmarks for all others"), "{page}");
    let scores = place.run("evaluate m.quorate train.csv --json").ok().json();
    assert!(scores["rmse"].as_f64().unwrap() > 0.0);
    let refused = place.run("forget m.quorate --part part-1 -o n.quorate");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("keeps its rows"), "{refused:?}");
}
