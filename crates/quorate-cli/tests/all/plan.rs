//! What a plan says, and that a fit does what its plan said.
#![allow(clippy::unwrap_used)]

use crate::harness;

use harness::Place;

#[test]
fn a_plan_shows_every_way_with_memory_and_time_and_starts_nothing() {
    let place = Place::with_model();
    let before = place.names();
    let text = place.run("plan train.csv --target y").ok().stdout;
    for piece in ["40 rows", "exact", "neighbours", "landmarks", "MiB", " s"] {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    assert_eq!(place.names(), before);
    let plan = place.run("plan train.csv --target y --json").ok().json();
    assert_eq!(plan["chosen"]["way"], "exact");
    assert_eq!(plan["shape"]["rows"], 40);
    assert!(plan["chosen"]["bytes"].as_u64().unwrap() > 1 << 20);
    assert!(plan["chosen"]["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_fit_tells_its_plan_and_follows_it() {
    let place = Place::with_model();
    let line = "--target y --kernel se(ard)*category --learn none";
    let fit = place
        .run(&format!("fit train.csv {line} --memory 1GiB -o m.quorate"))
        .ok();
    assert!(fit.stdout.starts_with("Plan  exact: about "), "{fit:?}");
    let spec = place.run("inspect m.quorate --spec").ok();
    assert_eq!(spec.json()["memory"], "1GiB");
    let fit = place
        .run(&format!(
            "fit train.csv {line} --method committee --json -o m.quorate"
        ))
        .ok();
    assert_eq!(fit.json()["planned"]["way"], "local");
    let page = place.run("inspect m.quorate --json").ok().json();
    assert_eq!(page["method"]["local"]["neighbours"], 150);
}

#[test]
fn an_exact_fit_of_many_rows_learns_from_neighbourhoods_and_scores_a_sample() {
    let place = Place::new();
    place
        .run("generate friedman -n 4200 --seed 2 -o train.csv")
        .ok();
    place.run("generate friedman -n 300 -o test.csv").ok();
    let line = "fit train.csv --target y --kernel se(ard) --restarts 0 --method exact --json";
    let fit = place.run(&format!("{line} -o m.quorate")).ok().json();
    assert_eq!(fit["planned"]["way"], "exact");
    assert_eq!(fit["leave_one_out"]["n"], 1000);
    let page = place.run("inspect m.quorate --json").ok().json();
    assert_eq!(page["method"], "exact");
    assert!(page["conditional"]["steps"].as_u64().unwrap() > 0);
    let scores = place.run("evaluate m.quorate test.csv --json").ok().json();
    // The sample's own scores foretell those of new rows: both are of the noise, 1, and little else.
    let (seen, new) = (&fit["leave_one_out"]["rmse"], &scores["rmse"]);
    let (seen, new) = (seen.as_f64().unwrap(), new.as_f64().unwrap());
    assert!((seen / new - 1.0).abs() < 0.15 && new < 1.2, "{seen} {new}");
}
