//! The verbs of landmarks models as people would use them: prepare, update, merge, forget.
#![allow(clippy::unwrap_used)]

use crate::harness;

use harness::{Place, assert_only, rows};

/// A folder with a prepared model and two shards.
fn prepared() -> Place {
    let place = Place::new();
    place.write("sample.csv", rows(60, 1));
    place.write("north.csv", rows(45, 2));
    place.write("south.csv", rows(30, 3));
    place
        .run("prepare sample.csv --target y --kernel se(ard)*category --restarts 0 -o shared.quorate")
        .ok();
    place
}

fn predictions(place: &Place, model: &str) -> Vec<f64> {
    let text = place
        .run(&format!("predict {model} sample.csv"))
        .ok()
        .stdout;
    let cells = text.lines().skip(1).flat_map(|line| line.split(','));
    cells.map(|cell| cell.parse().unwrap()).collect()
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance)
}

#[test]
fn fit_with_landmarks_says_what_it_found() {
    let place = Place::new();
    place.write("train.csv", rows(80, 1));
    let line = "fit train.csv --target y --method committee --mode landmarks --landmarks 20 --kernel se(ard)*category --restarts 0 -o m.quorate";
    let outcome = place.run(line).ok();
    assert!(
        outcome.stdout.contains("Held-out scores over 8 rows"),
        "{outcome:?}"
    );
    let page = place.run("inspect m.quorate").ok().stdout;
    for piece in [
        "20 landmarks",
        "part-1",
        "80",
        "of the landmarks' number",
        "Held-out scores",
    ] {
        assert!(page.contains(piece), "{piece}: {page}");
    }
    let json = place.run("inspect m.quorate --json").ok().json();
    assert_eq!(json["committee"]["landmarks"], 20);
    assert_eq!(json["committee"]["parts"][0]["rows"], 80);
    assert!(json["committee"]["saturation"].as_f64().unwrap() > 0.0);
    assert!(json["held_out"]["rmse"].as_f64().unwrap() > 0.0);
    assert!(json["leave_one_out"].is_null());
    let spec = place.run("inspect m.quorate --spec").ok().stdout;
    place.write("spec.json", spec);
    place
        .run("fit train.csv --spec spec.json -o again.quorate --threads 1")
        .ok();
    assert_eq!(place.bytes("m.quorate"), place.bytes("again.quorate"));
}

#[test]
fn landmarks_can_be_the_rows_of_a_table() {
    let place = Place::new();
    place.write("train.csv", rows(80, 1));
    place.write("test.csv", rows(12, 2));
    let line = "fit train.csv --target y --mode landmarks --landmarks test.csv --kernel se(ard)*category --restarts 0 -o m.quorate";
    place.run(line).ok();
    let json = place.run("inspect m.quorate --json").ok().json();
    assert_eq!(json["committee"]["landmarks"], 12);
    let spec = place.run("inspect m.quorate --spec").ok().stdout;
    place.write("spec.json", spec);
    place
        .run("fit train.csv --spec spec.json -o again.quorate")
        .ok();
    assert_eq!(place.bytes("m.quorate"), place.bytes("again.quorate"));
    place.write("narrow.csv", "x\n1\n");
    let outcome = place.run(&line.replace("test.csv", "narrow.csv"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("narrow.csv"), "{outcome:?}");
    let outcome = place.run(&line.replace("test.csv", "0"));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
}

#[test]
fn shards_merge_in_any_order_to_the_same_bytes() {
    let place = prepared();
    for name in ["north", "south"] {
        let line = format!("update shared.quorate {name}.csv -o {name}.quorate");
        let outcome = place.run(&line).ok();
        assert!(
            outcome.stdout.contains(&format!("as part {name}.csv")),
            "{outcome:?}"
        );
    }
    place
        .run("merge north.quorate south.quorate -o ns.quorate")
        .ok();
    let json = place
        .run("merge south.quorate north.quorate --json -o sn.quorate")
        .ok()
        .json();
    assert_eq!(json["rows"], 75);
    assert_eq!(json["parts"], serde_json::json!(["north.csv", "south.csv"]));
    assert_eq!(place.bytes("ns.quorate"), place.bytes("sn.quorate"));
    place
        .run("update north.quorate south.csv -q -o both.quorate")
        .ok();
    let (a, b) = (
        predictions(&place, "ns.quorate"),
        predictions(&place, "both.quorate"),
    );
    assert!(near(&a, &b, 1e-10));
}

#[test]
fn a_forgotten_part_is_certified_and_gone() {
    let place = prepared();
    place
        .run("update shared.quorate north.csv --keep-parts -o n.quorate")
        .ok();
    place
        .run("update n.quorate south.csv --keep-parts --part-name s -o ns.quorate")
        .ok();
    let outcome = place.run("forget ns.quorate --part s -o left.quorate").ok();
    for piece in [
        "part s, 30 rows",
        "was kept",
        "not recomputed",
        "landmarks",
        "45 rows in 1 part",
    ] {
        assert!(
            outcome.stdout.contains(piece),
            "{piece}: {}",
            outcome.stdout
        );
    }
    assert_eq!(place.bytes("left.quorate"), place.bytes("n.quorate"));

    place
        .run("update shared.quorate north.csv -o n.quorate")
        .ok();
    place.run("update n.quorate south.csv -o ns.quorate").ok();
    let json = place
        .run("forget ns.quorate --data south.csv --json -o left.quorate")
        .ok()
        .json();
    assert_eq!(json["certificate"]["part"], "south.csv");
    assert_eq!(json["certificate"]["summary"], "recomputed");
    assert_eq!(json["rows"], 45);
    let (a, b) = (
        predictions(&place, "left.quorate"),
        predictions(&place, "n.quorate"),
    );
    assert!(near(&a, &b, 1e-8));
}

#[test]
fn a_model_may_be_updated_in_its_place() {
    let place = prepared();
    let input = place.read("north.csv");
    place
        .run_with("update shared.quorate - -q -o shared.quorate", &input)
        .ok();
    let json = place.run("inspect shared.quorate --json").ok().json();
    assert_eq!(json["committee"]["parts"][0]["name"], "standard-input");
    assert_eq!(json["rows"], 45);
    assert_only(
        &place,
        &[
            "north.csv",
            "sample.csv",
            "shared.quorate",
            "south.csv",
            "standard-input",
        ],
    );
}
