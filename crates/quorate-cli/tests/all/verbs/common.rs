//! What every verb does: quiet, JSON, threads, help.

use super::{FIT, with_train};
use crate::harness::Place;

#[test]
fn quiet_commands_print_nothing_and_json_commands_one_object() {
    let place = with_train();
    let outcome = place.run(&format!("{FIT} -q")).ok();
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let json = place.run(&format!("{FIT} --json")).ok().json();
    assert_eq!(json["rows"], 40);
    assert_eq!(json["inputs"], serde_json::json!(["a", "b", "site"]));
    assert_eq!(json["model"], "model.quorate");
    assert!(json["leave_one_out"]["rmse"].as_f64().unwrap() > 0.0);
    assert!(json["outcome"].as_str().unwrap().ends_with('.'));
}

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    let place = Place::new();
    place
        .run("generate categories -n 300 --seed 4 -o train.csv")
        .ok();
    place
        .run("generate categories -n 1500 --seed 5 -o test.csv")
        .ok();
    for threads in [1, 2] {
        place
            .run(&format!(
                "fit train.csv --target y --restarts 1 --threads {threads} -o {threads}.quorate"
            ))
            .ok();
        place
            .run(&format!(
                "predict {threads}.quorate test.csv --threads {threads} -o {threads}.csv"
            ))
            .ok();
    }
    assert_eq!(place.bytes("1.quorate"), place.bytes("2.quorate"));
    assert_eq!(place.bytes("1.csv"), place.bytes("2.csv"));
}

#[test]
fn help_has_an_example_for_every_verb() {
    let place = Place::new();
    let help = place.run("--help").ok().stdout;
    for verb in [
        "demo",
        "fit",
        "plan",
        "predict",
        "evaluate",
        "inspect",
        "report",
        "prepare",
        "update",
        "merge",
        "forget",
        "generate",
        "reproduce",
        "compare",
        "serve",
        "ask",
        "network",
        "completions",
    ] {
        assert!(help.contains(&format!("  {verb}")), "{help}");
        let own = place.run(&format!("{verb} --help")).ok().stdout;
        assert!(
            own.contains("Examples:") && own.contains(&format!("  quorate {verb}")),
            "{own}"
        );
        assert!(own.contains("--json") && own.contains("--threads"), "{own}");
    }
    assert!(place.run("--version").ok().stdout.starts_with("quorate "));
    assert_eq!(place.run("").code, Some(2));
}
