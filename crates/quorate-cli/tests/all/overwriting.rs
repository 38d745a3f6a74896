//! Output never replaces what it is made from, unless it is a model made from a model.
#![allow(clippy::unwrap_used)]

use crate::harness::{Place, rows};

#[test]
fn what_is_read_is_not_written_over() {
    let place = Place::with_model();
    std::fs::create_dir(place.path("folder")).unwrap();
    let kept = |name: &str| place.bytes(name);
    for (line, name) in [
        ("fit train.csv -t y -o train.csv", "train.csv"),
        ("fit train.csv -t y -o folder/../train.csv", "train.csv"),
        (
            "fit train.csv -t y --checkpoint train.csv -o m.q",
            "train.csv",
        ),
        (
            "fit train.csv -t y --mode landmarks --landmarks test.csv -o test.csv",
            "test.csv",
        ),
        ("prepare train.csv -t y -o ./train.csv", "train.csv"),
        ("compare train.csv -t y --svg train.csv", "train.csv"),
        ("predict model.quorate test.csv -o test.csv", "test.csv"),
        (
            "predict model.quorate test.csv -o model.quorate",
            "model.quorate",
        ),
        ("report model.quorate -o model.quorate", "model.quorate"),
        ("report model.quorate test.csv -o test.csv", "test.csv"),
        (
            "inspect model.quorate --plot model.quorate",
            "model.quorate",
        ),
        ("update model.quorate test.csv -o test.csv", "test.csv"),
        (
            "forget model.quorate --data test.csv -o test.csv",
            "test.csv",
        ),
        ("network fit train.csv --search -o train.csv", "train.csv"),
        (
            "network draw model.quorate -o model.quorate",
            "model.quorate",
        ),
        (
            "network sample model.quorate -o model.quorate",
            "model.quorate",
        ),
        (
            "ask test.csv --agents http://127.0.0.1:1 -o test.csv",
            "test.csv",
        ),
    ] {
        let before = kept(name);
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "{line}: {outcome:?}");
        assert!(
            outcome.stderr.contains("which is read"),
            "{line}: {outcome:?}"
        );
        assert!(kept(name) == before, "{line} changed {name}");
    }
    let twice = place.run("fit train.csv -t y --checkpoint m.q -o ./m.q");
    assert_eq!(twice.code, Some(2), "{twice:?}");
    assert!(twice.stderr.contains("written twice"), "{twice:?}");
}

#[cfg(unix)]
#[test]
fn a_link_to_what_is_read_is_not_written_over_either() {
    let place = Place::with_model();
    std::os::unix::fs::symlink(place.path("test.csv"), place.path("link.csv")).unwrap();
    let outcome = place.run("predict model.quorate test.csv -o link.csv");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert_eq!(place.read("test.csv"), rows(15, 2));
}

#[test]
fn a_model_may_replace_the_one_it_was_made_from() {
    let place = Place::new();
    place.write("sample.csv", rows(60, 1));
    place.write("north.csv", rows(45, 2));
    place
        .run("prepare sample.csv -t y --kernel se(ard)*category --learn none -o m.quorate")
        .ok();
    place
        .run("update m.quorate north.csv --keep-parts -o m.quorate")
        .ok();
    place.run("merge m.quorate -o m.quorate").ok();
    place
        .run("forget m.quorate --part north.csv -o m.quorate")
        .ok();
}
