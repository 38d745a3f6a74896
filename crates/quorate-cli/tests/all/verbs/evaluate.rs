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

/// A table of a smooth function whose rows have a noise of their own, known as its variance.
fn of_known_noise(rows: usize, variance: impl Fn(usize) -> f64) -> String {
    let mut text = String::from("x,y,nv\n");
    for row in 0..rows {
        let x = (row as f64 * 0.618_034).fract() * 6.0;
        let error = 3.0 * ((row * row) as f64 * 0.754_877 + 0.3).fract() - 1.5;
        let own = variance(row);
        let y = 40.0 + 10.0 * x.sin() + own.sqrt() * error;
        text += &format!("{x},{y},{own}\n");
    }
    text
}

#[test]
fn known_noise_of_asked_rows_widens_answers_in_units_of_the_target() {
    let place = Place::new();
    let own = |row: usize| 0.5 + (row % 4) as f64;
    place.write("train.csv", of_known_noise(60, own));
    let asked = of_known_noise(20, own);
    place.write("told.csv", &asked);
    let without: Vec<&str> = asked
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0)
        .collect();
    place.write("bare.csv", without.join("\n"));
    for line in [
        "--method exact --kernel se",
        "--method committee --mode local --kernel se",
        "--method committee --mode landmarks --landmarks 15 --kernel se",
        "--method committee --mode joint --part-size 30 --kernel se",
        "--method exact --kernel se --learn hmc --draws 20",
    ] {
        place
            .run(&format!(
                "fit train.csv -t y --noise nv {line} -o m.quorate"
            ))
            .ok();
        let told = place.run("predict m.quorate told.csv").ok();
        assert!(!told.stderr.contains("note"), "{line}: {told:?}");
        let bare = place.run("predict m.quorate bare.csv").ok();
        assert_eq!(bare.stderr.matches("no column `nv`").count(), 1, "{bare:?}");
        let quiet = place.run("-q predict m.quorate bare.csv").ok();
        assert_eq!(quiet.stderr, "", "{quiet:?}");
        let (wide, narrow) = (numbers(&told.stdout, "std"), numbers(&bare.stdout, "std"));
        assert_eq!(numbers(&told.stdout, "mean"), numbers(&bare.stdout, "mean"));
        for row in 0..20 {
            let added = wide[row].powi(2) - narrow[row].powi(2);
            assert!(
                (added - own(row)).abs() < 1e-9,
                "{line}: row {row}: {added}"
            );
        }
        // The function itself has no noise, whoever asks.
        let latent = place.run("predict m.quorate bare.csv --latent").ok();
        assert!(!latent.stderr.contains("no column"), "{latent:?}");
        let same = place.run("predict m.quorate told.csv --latent").ok();
        assert_eq!(latent.stdout, same.stdout);
        // The same from a stream, and beside columns that are kept.
        let stream = place.run_with("predict m.quorate -", &asked).ok();
        assert_eq!(stream.stdout, told.stdout);
        let kept = place.run("predict m.quorate told.csv --keep nv").ok();
        assert_eq!(numbers(&kept.stdout, "std"), wide);

        let scores = |name: &str| {
            let found = place.run(&format!("evaluate m.quorate {name}")).ok();
            let json = place.run(&format!("evaluate m.quorate {name} --json"));
            (found.stderr, json.ok().json())
        };
        let (said, of_told) = scores("told.csv");
        assert!(!said.contains("no column"), "{said}");
        let (said, of_bare) = scores("bare.csv");
        assert_eq!(said.matches("no column `nv`").count(), 1, "{said}");
        assert_eq!(of_told["rmse"], of_bare["rmse"]);
        let nlpd = |own: &serde_json::Value| own["nlpd"].as_f64().unwrap();
        assert!(nlpd(&of_told) < nlpd(&of_bare), "{line}");
    }
}

#[test]
fn known_noise_of_asked_rows_that_is_no_variance_is_refused_with_its_place() {
    let place = Place::new();
    place.write("train.csv", of_known_noise(30, |_| 1.0));
    place
        .run("fit train.csv -t y --noise nv --kernel se -o m.quorate")
        .ok();
    let good = of_known_noise(5, |_| 1.0);
    for (bad, what) in [("-0.5", "-0.5"), ("loud", "loud"), ("", "missing")] {
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        let (rest, _) = lines[3].rsplit_once(',').unwrap();
        lines[3] = format!("{rest},{bad}");
        place.write("bad.csv", lines.join("\n"));
        for verb in ["predict", "evaluate"] {
            let refused = place.run(&format!("{verb} m.quorate bad.csv"));
            assert_eq!(refused.code, Some(1), "{verb} {bad}: {refused:?}");
            for part in ["bad.csv:3", "nv", what] {
                assert!(refused.stderr.contains(part), "{verb} {bad}: {refused:?}");
            }
        }
    }
}
