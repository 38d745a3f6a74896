//! Mistakes on the command line that are noticed early and named for what they are.

use crate::harness::{Place, rows};

#[test]
fn values_that_a_flag_cannot_have_are_usage_errors() {
    let place = Place::with_model();
    for (line, piece) in [
        ("fit train.csv -t y,y -o m.q", "`y` is listed twice"),
        (
            "predict model.quorate test.csv --keep a,a -o out.csv",
            "`a` is listed twice",
        ),
        (
            "fit train.csv -t y --noise-variance 0 -o m.q",
            "a positive number is needed",
        ),
        (
            "fit train.csv -t y --method mixture --experts 200 -o m.q",
            "between 1 and 100",
        ),
        (
            "fit train.csv -t y --learn nuts --draws 1 -o m.q",
            "between 4 and 100000",
        ),
        (
            "compare train.csv -t y --members foo",
            "unknown member `foo`. There are: gp",
        ),
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "{line}: {outcome:?}");
        assert!(outcome.stderr.contains(piece), "{line}: {outcome:?}");
    }
}

#[test]
fn a_table_that_fails_at_once_leaves_nothing_on_standard_output() {
    let place = Place::with_model();
    place.write("bad.csv", "a,b,site\ninf,1,north\n");
    let outcome = place.run("predict model.quorate bad.csv");
    assert_eq!((outcome.code, &*outcome.stdout), (Some(1), ""));
    place.write("none.csv", "a,b,site\n");
    let outcome = place.run("predict model.quorate none.csv").ok();
    assert_eq!(outcome.stdout, "mean,std,lower,upper\n");
}

#[test]
fn a_file_of_another_kind_is_named() {
    let place = Place::with_model();
    place.write("three.csv", "a,b\n1,2\n2,3\n3,5\n4,4\n");
    place.write("graph.json", "{\"parents\": {\"a\": [], \"b\": [\"a\"]}}");
    place
        .run("network fit three.csv --structure graph.json --kernel se -o n.network")
        .ok();
    let outcome = place.run("network query model.quorate --about a");
    assert!(
        outcome.stderr.contains("this is a model, not a network"),
        "{outcome:?}"
    );
    let outcome = place.run("predict n.network three.csv");
    assert!(
        outcome.stderr.contains("this is a network, not a model"),
        "{outcome:?}"
    );
}

#[test]
fn more_landmarks_than_rows_are_as_many_as_rows_differ() {
    let place = Place::new();
    place.write("t.csv", rows(50, 1));
    place
        .run("fit t.csv -t y --mode landmarks --landmarks 100000 --kernel se --learn none -o m.q")
        .ok();
}

#[test]
fn a_committee_is_advised_only_where_it_takes_less() {
    let place = Place::new();
    place.write("t.csv", rows(50, 1));
    let outcome = place.run("plan t.csv -t y --method exact --memory 1MB");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stderr.contains("fewer rows take less"),
        "{outcome:?}"
    );
}
