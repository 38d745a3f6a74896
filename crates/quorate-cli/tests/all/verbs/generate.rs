//! `generate`, `demo` and `completions`: what needs no table.

use crate::harness::{Place, assert_only};

#[test]
fn generate_makes_the_same_table_from_the_same_seed() {
    let place = Place::new();
    let outcome = place.run("generate friedman -n 30 --seed 1 -o a.csv").ok();
    assert!(
        outcome
            .stdout
            .starts_with("Wrote a.csv: 30 rows of friedman"),
        "{outcome:?}"
    );
    place.run("generate friedman -n 30 --seed 1 -o b.csv").ok();
    place.run("generate friedman -n 30 --seed 2 -o c.csv").ok();
    assert_eq!(place.bytes("a.csv"), place.bytes("b.csv"));
    assert_ne!(place.bytes("a.csv"), place.bytes("c.csv"));
    let printed = place.run("generate friedman -n 30 --seed 1").ok().stdout;
    assert_eq!(printed, place.read("a.csv"));
    let json = place.run("generate categories -n 3 --json").ok().json();
    assert_eq!(json["rows"].as_array().unwrap().len(), 3);
    let report = place
        .run("generate sine -n 7 -o s.parquet --json")
        .ok()
        .json();
    assert_eq!(
        (report["rows"].clone(), report["target"].clone()),
        (7.into(), "y".into())
    );
    let help = place.run("generate --help").ok().stdout;
    assert!(
        help.contains("friedman") && help.contains("5 of 10 inputs matter"),
        "{help}"
    );
}

#[test]
fn demo_fits_draws_and_says_what_to_type_next() {
    let place = Place::new();
    let outcome = place.run("demo").ok();
    for piece in [
        "A noisy sine with a gap",
        "░",
        "95 % interval",
        "held-out rows",
        "What to type next",
    ] {
        assert!(
            outcome.stdout.contains(piece),
            "{piece}: {}",
            outcome.stdout
        );
    }
    assert_only(&place, &["quorate-demo"]);
    let svg = place.read("quorate-demo/sine.svg");
    assert!(svg.starts_with("<svg") && svg.contains("95 % interval"));
    // What it says to type next works as typed.
    let next = outcome
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("quorate "));
    let commands: Vec<&str> = next
        .map(|line| line.split("   ").next().unwrap().trim())
        .filter(|line| !line.contains("YOUR"))
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        place.run(command.split("  ").next().unwrap()).ok();
    }
    let json = place.run("demo --json --output other").ok().json();
    let runs = json["runs"].as_array().unwrap();
    for run in runs {
        let (rmse, noise) = (
            run["scores"]["rmse"].as_f64().unwrap(),
            run["noise"].as_f64().unwrap(),
        );
        assert!(rmse < 2.5 * noise, "{run}");
        assert!(
            run["scores"]["coverage_95"].as_f64().unwrap() > 0.85,
            "{run}"
        );
    }
}

#[test]
fn completions_know_the_verbs_of_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&format!("completions {shell}")).ok().stdout;
        assert!(
            script.contains("predict") && script.contains("quantiles"),
            "{shell}"
        );
    }
    let json = place.run("completions fish --json").ok().json();
    assert_eq!(json["shell"], "fish");
}
