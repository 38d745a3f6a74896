//! `predict`: columns, formats, intervals.

use super::{cells, numbers};
use crate::harness::Place;

#[test]
fn predict_writes_mean_deviation_and_interval() {
    let place = Place::with_model();
    let outcome = place.run("predict model.quorate test.csv -o out.csv").ok();
    assert_eq!(outcome.stdout, "Wrote out.csv: 15 rows\n");
    let text = place.read("out.csv");
    assert_eq!(cells(&text)[0], ["mean", "std", "lower", "upper"]);
    let (mean, std) = (numbers(&text, "mean"), numbers(&text, "std"));
    let (lower, upper) = (numbers(&text, "lower"), numbers(&text, "upper"));
    assert_eq!(mean.len(), 15);
    for row in 0..15 {
        // 1.959964 is the 97.5 % point of the normal distribution.
        assert!((upper[row] - mean[row] - 1.959_964 * std[row]).abs() < 1e-5 * std[row]);
        assert!((mean[row] - lower[row] - 1.959_964 * std[row]).abs() < 1e-5 * std[row]);
    }
    let bytes = place.bytes("out.csv");
    let piped = place.run("predict model.quorate test.csv").ok();
    assert_eq!(
        piped.stdout.as_bytes(),
        bytes,
        "standard output and file differ"
    );
    let dashed = place.run("predict model.quorate test.csv -o -").ok();
    assert_eq!(dashed.stdout, piped.stdout);
    let input = place.read("test.csv");
    let from_input = place.run_with("predict model.quorate -", &input).ok();
    assert_eq!(from_input.stdout, piped.stdout);
}

#[test]
fn latent_belief_is_narrower_and_quantiles_are_columns() {
    let place = Place::with_model();
    let noisy = place
        .run("predict model.quorate test.csv --interval 0.8 --quantiles 0.1,0.5,0.90")
        .ok()
        .stdout;
    let latent = place
        .run("predict model.quorate test.csv --latent")
        .ok()
        .stdout;
    assert_eq!(
        cells(&noisy)[0],
        ["mean", "std", "lower", "upper", "q0.1", "q0.5", "q0.90"]
    );
    assert_eq!(numbers(&noisy, "q0.5"), numbers(&noisy, "mean"));
    let close = |a: &str, b: &str| {
        let (a, b) = (numbers(&noisy, a), numbers(&noisy, b));
        a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9)
    };
    assert!(close("q0.1", "lower") && close("q0.90", "upper"));
    let (wide, narrow) = (numbers(&noisy, "std"), numbers(&latent, "std"));
    assert!(wide.iter().zip(&narrow).all(|(wide, narrow)| narrow < wide));
    assert_eq!(numbers(&noisy, "mean"), numbers(&latent, "mean"));
}

#[test]
fn kept_columns_come_first_and_stay_as_written() {
    let place = Place::with_model();
    place.write(
        "ids.csv",
        "id,a,b,site,when\n007,1.50,1,north,x\n010,2.0,0.5,west,y\n",
    );
    let some = place
        .run("predict model.quorate ids.csv --keep when,id")
        .ok()
        .stdout;
    let table = cells(&some);
    assert_eq!(table[0], ["when", "id", "mean", "std", "lower", "upper"]);
    assert_eq!(table[1][..2], ["x", "007"]);
    assert_eq!(table[2][..2], ["y", "010"]);
    let all = place
        .run("predict model.quorate ids.csv --keep all")
        .ok()
        .stdout;
    let table = cells(&all);
    assert_eq!(table[0][..5], ["id", "a", "b", "site", "when"]);
    assert_eq!(table[1][..5], ["007", "1.5", "1", "north", "x"]);
    place.write("clash.csv", "mean,a,b,site\n1,1,1,north\n");
    let clash = place.run("predict model.quorate clash.csv --keep mean");
    assert_eq!(clash.code, Some(1));
    assert!(clash.stderr.starts_with("clash.csv:mean: "), "{clash:?}");
}

#[test]
fn predictions_are_the_same_in_every_format() {
    let place = Place::with_model();
    let csv = place.run("predict model.quorate test.csv").ok().stdout;
    for name in ["out.csv", "out.csv.gz", "out.parquet", "out.arrow"] {
        place
            .run(&format!(
                "predict model.quorate test.csv --keep all -o {name}"
            ))
            .ok();
        // Read back: inputs and target are among the kept columns, so the file can be predicted and scored again.
        let json = place
            .run(&format!("predict model.quorate {name} --json"))
            .ok()
            .json();
        let rows = json["rows"].as_array().unwrap();
        let means: Vec<f64> = rows
            .iter()
            .map(|row| row["mean"].as_f64().unwrap())
            .collect();
        assert_eq!(means, numbers(&csv, "mean"), "{name}");
        let scores = place
            .run(&format!("evaluate model.quorate {name} --json"))
            .ok()
            .json();
        assert_eq!(scores["n"], 15, "{name}");
    }
}

#[test]
fn json_predictions_are_rows_with_types() {
    let place = Place::with_model();
    let json = place
        .run("predict model.quorate test.csv --keep site,a --json")
        .ok()
        .json();
    let csv = place.run("predict model.quorate test.csv").ok().stdout;
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 15);
    assert!(rows[0]["site"].is_string() && rows[0]["a"].is_f64());
    let means: Vec<f64> = rows
        .iter()
        .map(|row| row["mean"].as_f64().unwrap())
        .collect();
    assert_eq!(means, numbers(&csv, "mean"));
    let report = place
        .run("predict model.quorate test.csv -o out.csv --json")
        .ok()
        .json();
    assert_eq!(report["rows"], 15);
    assert_eq!(report["output"], "out.csv");
}
