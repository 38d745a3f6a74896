//! `report`: the numbers on the page are those of the other verbs, and the page needs nothing but itself.

use serde_json::Value;

use super::numbers;
use crate::harness::{Place, assert_only, rows};

const LOCAL: &str = "fit train.csv --target y --method committee --neighbours 12 --kernel se(ard)*category --learn block -o local.quorate";
const LANDMARKS: &str = "fit train.csv --target y --mode landmarks --landmarks 15 --part-size 10 --keep-parts --kernel se(ard)*category --learn none -o landmarks.quorate";

const JOINT: &str = "fit train.csv --target y --mode joint --part-size 10 --kernel se(ard)*category --learn none -o joint.quorate";

/// A folder with an exact, a local, a joint and a landmarks model of the same rows.
fn with_models() -> Place {
    let place = Place::with_model();
    place.run(LOCAL).ok();
    place.run(LANDMARKS).ok();
    place.run(JOINT).ok();
    place
}

/// The numbers that the page holds for programs.
pub fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"quorate-report\">";
    let block = page.split(start).nth(1).unwrap();
    serde_json::from_str(block.split("</script>").next().unwrap()).unwrap()
}

/// Every element is closed in order; text and attributes hold no bare `<` or `&`.
#[track_caller]
pub fn assert_well_formed(page: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let raw = open
            .last()
            .is_some_and(|tag| tag == "style" || tag == "script");
        if !raw {
            for piece in rest[..start].split('&').skip(1) {
                let known = ["amp;", "lt;", "gt;", "quot;"];
                assert!(known.iter().any(|e| piece.starts_with(e)), "{piece:.40}");
            }
        }
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !raw && !tag.ends_with('/') && !tag.starts_with(['!']) && !tag.starts_with("meta")
        {
            open.push(tag.split_whitespace().next().unwrap().to_owned());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn scores_on_the_page_are_those_of_evaluate() {
    let place = with_models();
    for model in ["model", "local", "joint", "landmarks"] {
        let line = format!("report {model}.quorate test.csv -o page.html");
        let said = place.run(&line).ok().stdout;
        assert!(said.starts_with("Wrote page.html ("), "{said}");
        let page = place.read("page.html");
        assert_well_formed(&page);
        let line = format!("evaluate {model}.quorate test.csv --json");
        let scores = place.run(&line).ok().json();
        let found = data(&page);
        assert_eq!(found["scores"], scores, "{model}");
        assert_eq!(found["scored"], "table");
        // What a person reads is what the data say.
        let table = page.split("id=\"scores\"").nth(1).unwrap();
        for (name, value) in scores.as_object().unwrap() {
            let row = table
                .split(&format!("<th scope=\"row\">{name}</th>"))
                .nth(1);
            let cell = row.unwrap().split("<td class=\"right\">").nth(1).unwrap();
            let shown: f64 = cell.split('<').next().unwrap().parse().unwrap();
            let value = value.as_f64().unwrap();
            assert!(
                (shown - value).abs() <= 1e-5 * value.abs(),
                "{name}: {shown} {value}"
            );
        }
    }
}

#[test]
fn calibration_is_counted_from_the_predictions() {
    let place = Place::with_model();
    place.write("test.csv", rows(300, 2));
    place.run("report model.quorate test.csv -o page.html").ok();
    let found = data(&place.read("page.html"));
    let written = place.run("predict model.quorate test.csv").ok().stdout;
    let (mean, std) = (numbers(&written, "mean"), numbers(&written, "std"));
    let target = numbers(&place.read("test.csv"), "y");
    let z: Vec<f64> = (0..300)
        .map(|row| (target[row] - mean[row]) / std[row])
        .collect();
    // Points of the normal distribution function at 0.05, 0.25 and 0.5, by table.
    let below = |point: f64| z.iter().filter(|z| **z < point).count() as f64 / 300.0;
    let pit: Vec<f64> = found["diagnosis"]["pit"]
        .as_array()
        .unwrap()
        .iter()
        .map(|share| share.as_f64().unwrap())
        .collect();
    let sum = |bars: usize| pit[..bars].iter().sum::<f64>();
    assert!((sum(1) - below(-1.644_853_626_951_472)).abs() < 1e-12);
    assert!((sum(5) - below(-0.674_489_750_196_082)).abs() < 1e-12);
    assert!((sum(10) - below(0.0)).abs() < 1e-12);
    assert!((sum(20) - 1.0).abs() < 1e-12);
    for pair in found["diagnosis"]["reliability"].as_array().unwrap() {
        let (level, share) = (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap());
        if (level - 0.5).abs() < 1e-9 {
            let inside = z
                .iter()
                .filter(|z| z.abs() <= 0.674_489_750_196_082)
                .count();
            assert_eq!(share, inside as f64 / 300.0);
        }
    }
}

#[test]
fn without_a_table_the_page_shows_what_the_model_keeps() {
    let place = with_models();
    for model in ["model", "local"] {
        place
            .run(&format!("report {model}.quorate -o page.html"))
            .ok();
        let found = data(&place.read("page.html"));
        let kept = place
            .run(&format!("inspect {model}.quorate --json"))
            .ok()
            .json();
        // The rows are predicted again, and the scores are the same to the last bit.
        assert_eq!(
            found["diagnosis"]["scores"], kept["leave_one_out"],
            "{model}"
        );
        assert_eq!(found["scored"], "leave-one-out");
    }
    let outcome = place.run("report landmarks.quorate -o page.html").ok();
    assert!(outcome.stderr.contains("not shown"), "{outcome:?}");
    let page = place.read("page.html");
    assert_well_formed(&page);
    let found = data(&page);
    let kept = place.run("inspect landmarks.quorate --json").ok().json();
    assert_eq!(found["scores"], kept["held_out"]);
    assert_eq!(found["diagnosis"], Value::Null);
    assert!(page.contains("Not shown") && page.contains("no rows that the model has not seen"));
    // What parts taught adds up to what all of them taught.
    let parts = found["parts"].as_array().unwrap();
    let taught: f64 = parts
        .iter()
        .map(|part| part["effective_parameters"].as_f64().unwrap())
        .sum();
    let all = kept["effective_parameters"].as_f64().unwrap();
    assert!((taught - all).abs() < 1e-8 * all, "{taught} {all}");
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let place = with_models();
    for model in ["model", "local", "joint", "landmarks"] {
        place
            .run(&format!("report {model}.quorate test.csv -o page.html"))
            .ok();
        let page = place.read("page.html");
        for foreign in [
            "http:", "https:", "src=", "href=", "<link", "url(", "@import", "<img",
        ] {
            assert!(!page.contains(foreign), "{model}: {foreign}");
        }
        // The only script is data, which is not executed.
        assert_eq!(page.matches("<script").count(), 1);
        for needed in [
            "prefers-color-scheme: dark",
            "@media print",
            "<title>y:",
            "lang=\"en\"",
        ] {
            assert!(page.contains(needed), "{model}: {needed}");
        }
        // Every picture has a name and a description for those who cannot see it.
        let pictures = page.matches("<svg ").count();
        assert!(pictures >= 8, "{model}: {pictures}");
        assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), pictures);
        assert_eq!(page.matches("<desc>").count(), pictures);
        assert!(!page.contains("NaN") && !page.contains(">inf"), "{model}");
    }
}

#[test]
fn names_from_a_file_cannot_become_markup() {
    let place = Place::new();
    let evil = "</script><img src=x onerror=alert(1)>&\u{1b}";
    let table = rows(40, 1).replacen("a,b,site,y", &format!("{evil},b,site,y<i>"), 1);
    place.write("train.csv", table);
    place
        .run("fit train.csv --target y<i> --kernel se(ard) --learn none -o m.quorate")
        .ok();
    place.run("report m.quorate train.csv -o page.html").ok();
    let page = place.read("page.html");
    assert_well_formed(&page);
    assert!(!page.contains("<img") && !page.contains("<i>") && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;&amp;"));
    let inputs = data(&page)["inspection"]["inputs"].clone();
    assert_eq!(inputs[0]["name"], evil);
}

#[test]
fn a_long_table_is_thinned_for_the_eye_and_counted_in_full() {
    let place = Place::with_model();
    place.write("long.csv", rows(9000, 2));
    place.run("report model.quorate long.csv -o page.html").ok();
    let page = place.read("page.html");
    assert!(page.contains("2500 rows drawn at random from 9000 rows"));
    assert_eq!(data(&page)["scores"]["n"], 9000);
    assert!(page.len() < 600_000, "{}", page.len());
    let printed = place
        .run("report model.quorate long.csv -o - --threads 1")
        .ok()
        .stdout;
    assert_eq!(printed, page, "standard output, and any number of threads");
    assert_only(
        &place,
        &[
            "long.csv",
            "model.quorate",
            "page.html",
            "test.csv",
            "train.csv",
        ],
    );
    let json = place
        .run("report model.quorate long.csv -o page.html --json")
        .ok()
        .json();
    assert_eq!(json["bytes"], page.len());
    assert_eq!(json["scores"]["n"], 9000);
}

#[test]
fn one_input_shows_the_function_and_no_number_no_map() {
    let place = Place::new();
    place.run("generate sine -n 60 -o train.csv").ok();
    place
        .run("fit train.csv --target y --kernel se --learn none -o m.quorate")
        .ok();
    place.run("report m.quorate -o page.html").ok();
    assert!(place.read("page.html").contains("The function"));
    place.write("train.csv", rows(40, 1));
    place
        .run("fit train.csv --target y --inputs site --kernel category --learn none -o m.quorate")
        .ok();
    place.run("report m.quorate -o page.html").ok();
    let page = place.read("page.html");
    assert!(page.contains("Maps: the kernel reads no number"));
    assert_well_formed(&page);
}
