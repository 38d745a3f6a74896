//! Classes on the command line: what is decided, printed and written.

use super::{cells, numbers};
use crate::harness::Place;

/// Field names of the scores of classes, the contract of `evaluate --json`.
const CLASS_SCORES: [&str; 9] = [
    "n",
    "accuracy",
    "error_rate",
    "errors",
    "log_loss",
    "brier",
    "ece",
    "auc",
    "calibration",
];

/// Three classes along a line, named by text or numbers.
fn labelled(names: [&str; 3], rows: std::ops::Range<usize>) -> String {
    let mut text = "a,b,kind\n".to_owned();
    for row in rows {
        let a = (row as f64 * 0.618_034).fract() * 3.0;
        let b = (row as f64 * 0.754_878).fract();
        let class = ((a + 0.2 * b) as usize).min(2);
        text += &format!("{a:.4},{b:.4},{}\n", names[class]);
    }
    text
}

fn fitted(names: [&str; 3]) -> Place {
    let place = Place::new();
    place.write("train.csv", labelled(names, 0..90));
    place.write("test.csv", labelled(names, 90..140));
    let fit = "fit train.csv --target kind --kernel se(ard) --restarts 0 -o model.quorate";
    let said = place.run(fit).ok();
    assert!(
        said.stderr.contains("`kind` was taken for classes"),
        "{}",
        said.stderr
    );
    assert!(said.stdout.contains("log loss"), "{}", said.stdout);
    place
}

#[test]
fn labels_of_text_are_predicted_with_their_probabilities() {
    let place = fitted(["left", "middle", "right"]);
    let out = place
        .run("predict model.quorate test.csv --keep kind")
        .ok()
        .stdout;
    let table = cells(&out);
    assert_eq!(table[0], ["kind", "label", "p_left", "p_middle", "p_right"]);
    let right = table[1..].iter().filter(|row| row[0] == row[1]).count();
    assert!(right >= 46, "{right} of 50");
    let sums = ["p_left", "p_middle", "p_right"].map(|name| numbers(&out, name));
    for row in 0..50 {
        let sum: f64 = sums.iter().map(|column| column[row]).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    let json = place
        .run("evaluate model.quorate test.csv --json")
        .ok()
        .json();
    let names: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(names, CLASS_SCORES);
    assert_eq!(json["errors"].as_f64().unwrap(), (50 - right) as f64);
    let page = place.run("inspect model.quorate").ok().stdout;
    assert!(
        page.contains("3 classes") && page.contains("temperature"),
        "{page}"
    );
}

#[test]
fn labels_of_numbers_stay_numbers_and_can_be_predicted_as_such() {
    let place = fitted(["1", "2", "3"]);
    let table = cells(&place.run("predict model.quorate test.csv").ok().stdout);
    assert_eq!(table[0], ["label", "p_1", "p_2", "p_3"]);
    assert!(
        table[1..]
            .iter()
            .all(|row| ["1", "2", "3"].contains(&row[0].as_str()))
    );
    let line =
        "fit train.csv --target kind --task regression --kernel se --restarts 0 -o n.quorate";
    let said = place.run(line).ok().stdout;
    assert!(said.contains("RMSE"), "{said}");
}

#[test]
fn several_targets_are_written_and_scored_by_name() {
    let place = Place::new();
    place.write("train.csv", labelled(["1.5", "2.5", "4"], 0..60));
    let line = "fit train.csv --target b,kind --kernel se --restarts 0 -o m.quorate";
    place.run(line).ok();
    let table = cells(&place.run("predict m.quorate train.csv").ok().stdout);
    let names = ["mean", "std", "lower", "upper"];
    let names = ["b", "kind"].map(|target| names.map(|name| format!("{target}_{name}")));
    assert_eq!(table[0], names.concat());
    let json = place.run("evaluate m.quorate train.csv --json").ok().json();
    assert_eq!(
        (json["n"].as_u64(), &json["targets"][1]["target"]),
        (Some(60), &"kind".into())
    );
    assert!(json["targets"][0]["rmse"].as_f64().unwrap() < 1.0);
}

#[test]
fn what_classes_cannot_have_is_refused() {
    let place = fitted(["left", "middle", "right"]);
    for (line, problem) in [
        (
            "predict model.quorate test.csv --quantiles 0.5",
            "predicts classes",
        ),
        (
            "fit train.csv --target kind --task binary -o out.quorate",
            "needs two labels, and `kind` has 3",
        ),
        (
            "fit train.csv --target kind --task regression -o out.quorate",
            "must be a column of numbers",
        ),
        (
            "fit train.csv --target kind --noise-variance 1 -o out.quorate",
            "numbers only",
        ),
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(1), "{line}");
        assert!(
            outcome.stderr.contains(problem),
            "{line}: {}",
            outcome.stderr
        );
    }
    place.write("odd.csv", labelled(["left", "middle", "above"], 0..30));
    let outcome = place.run("evaluate model.quorate odd.csv");
    assert!(outcome.stderr.contains("odd.csv:"), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("«above» was not among those of training")
    );
}

#[test]
fn a_page_about_classes_counts_what_was_taken_for_what() {
    let place = fitted(["left", "mid & dle", "right"]);
    let said = place.run("report model.quorate test.csv -o page.html").ok();
    assert!(said.stdout.contains("scored on 50 rows"), "{}", said.stdout);
    let page = place.read("page.html");
    super::report::assert_well_formed(&page);
    let found = super::report::data(&page);
    let scores = place
        .run("evaluate model.quorate test.csv --json")
        .ok()
        .json();
    assert_eq!(found["scores"], scores);
    // The same counts from the predictions themselves.
    let told = place
        .run("predict model.quorate test.csv --keep kind")
        .ok()
        .stdout;
    let table = cells(&told);
    let names = ["left", "mid & dle", "right"];
    for (seen, row) in names
        .iter()
        .zip(found["account"]["confusion"].as_array().unwrap())
    {
        for (taken, count) in names.iter().zip(row.as_array().unwrap()) {
            let own = |cells: &&Vec<String>| cells[0] == *seen && cells[1] == *taken;
            let counted = table[1..].iter().filter(own).count();
            assert_eq!(count.as_u64(), Some(counted as u64), "{seen} {taken}");
        }
    }
    // Without a table the page has the scores that the model keeps.
    let said = place.run("report model.quorate -o page.html").ok();
    assert!(said.stderr.contains("not shown"), "{}", said.stderr);
    super::report::assert_well_formed(&place.read("page.html"));
}
