//! `evaluate`: scores of tables of any length.

use super::{SCORES, numbers};
use crate::harness::{Place, rows};

#[test]
fn evaluate_prints_every_score() {
    let place = Place::with_model();
    let json = place
        .run("evaluate model.quorate test.csv --json")
        .ok()
        .json();
    let names: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, SCORES);
    assert_eq!(json["n"], 15);
    let text = place.run("evaluate model.quorate test.csv").ok().stdout;
    let head = "Scores of model.quorate on 15 rows of test.csv\n";
    assert!(text.starts_with(head), "{text}");
    // RMSE by hand from the predictions.
    let mean = numbers(
        &place.run("predict model.quorate test.csv").ok().stdout,
        "mean",
    );
    let target = numbers(&place.read("test.csv"), "y");
    let squares: f64 = mean.iter().zip(&target).map(|(m, y)| (m - y).powi(2)).sum();
    let rmse = (squares / 15.0).sqrt();
    assert!((json["rmse"].as_f64().unwrap() - rmse).abs() < 1e-12);
}

#[test]
fn scores_of_a_long_table_are_those_of_its_predictions_in_every_format() {
    let place = Place::with_model();
    // More rows than are answered at a time, and than one batch of any reader.
    place.write("long.csv", rows(20_000, 5));
    place
        .run("predict model.quorate long.csv --keep all -o long.parquet")
        .ok();
    let scores = |name: &str| {
        let line = format!("evaluate model.quorate {name} --json");
        place.run(&line).ok().stdout
    };
    let of_text = scores("long.csv");
    assert_eq!(of_text, scores("long.parquet"));
    let json: serde_json::Value = serde_json::from_str(&of_text).unwrap();
    let written = place.run("predict model.quorate long.csv").ok().stdout;
    let (mean, std) = (numbers(&written, "mean"), numbers(&written, "std"));
    let target = numbers(&place.read("long.csv"), "y");
    let rows = target.len() as f64;
    let mut nlpd = 0.0;
    let mut inside = 0.0;
    for row in 0..target.len() {
        let z = (target[row] - mean[row]) / std[row];
        nlpd += 0.5 * (2.0 * std::f64::consts::PI).ln() + std[row].ln() + 0.5 * z * z;
        inside += f64::from(u8::from(z.abs() <= 1.644_853_626_951_472));
    }
    assert!((json["nlpd"].as_f64().unwrap() - nlpd / rows).abs() < 1e-9);
    assert_eq!(json["coverage_90"].as_f64().unwrap(), inside / rows);
    assert_eq!(json["n"], 20_000);
}

#[test]
fn answers_do_not_depend_on_the_format_even_where_questions_share_experts() {
    let place = Place::new();
    place.write("train.csv", rows(300, 1));
    place.write("long.csv", rows(9000, 2));
    let fit = "fit train.csv --target y --method committee --neighbours 10 --kernel se(ard)*category --learn none -o m.quorate";
    place.run(fit).ok();
    place.run("predict m.quorate long.csv -o out.csv").ok();
    let mean = numbers(&place.read("out.csv"), "mean");
    let target = numbers(&place.read("long.csv"), "y");
    let squares: f64 = mean.iter().zip(&target).map(|(m, y)| (m - y).powi(2)).sum();
    let json = place.run("evaluate m.quorate long.csv --json").ok().json();
    let rmse = json["rmse"].as_f64().unwrap();
    assert!((rmse - (squares / 9000.0).sqrt()).abs() < 1e-12);
}
