//! `compare`: what it prints, what it writes, and that it leaves nothing behind.
#![allow(clippy::unwrap_used)]

use crate::harness;

use harness::Place;

#[test]
fn members_and_rules_are_ranked_in_a_table_in_json_and_in_a_picture() {
    let place = Place::with_model();
    let line = "compare train.csv --target y --members linear,rbf,tree --rules bcm,stacking --folds 2 --parts 2";
    let found = place
        .run(&format!("{line} --json --svg out.svg"))
        .ok()
        .json();
    assert_eq!(found["rows"], 40);
    assert_eq!(found["parts"], 2);
    let lines = found["lines"].as_array().unwrap();
    // Three alone, three kinds on parts under two rules, one mixed committee under two.
    assert_eq!(lines.len(), 3 + 6 + 2);
    let nlpd = |place: usize| lines[place]["scores"]["nlpd"].as_f64().unwrap();
    assert!((1..lines.len()).all(|place| nlpd(place - 1) <= nlpd(place)));
    for key in ["rmse", "nlpd", "coverage_95", "crps"] {
        assert!(lines[0]["scores"][key].is_number(), "{key}");
    }
    assert!(lines[0]["seconds"].as_f64().unwrap() >= 0.0);
    let svg = std::fs::read_to_string(place.path("out.svg")).unwrap();
    assert!(
        svg.starts_with("<svg xmlns=") && svg.matches("<rect class=\"bar\"").count() == lines.len()
    );
    // Stacking has weights: of three kinds, and of two parts for each of them.
    assert_eq!(svg.matches("<rect class=\"cell").count(), 3 + 3 * 2);
    let weighed = lines.iter().filter(|line| line["rule"] == "stacking");
    for line in weighed {
        let weights = line["weights"].as_array().unwrap();
        let sum: f64 = weights.iter().map(|w| w["weight"].as_f64().unwrap()).sum();
        assert!(sum > 0.0 && weights[0]["member"].is_string(), "{line}");
    }
    let text = place.run(line).ok().stdout;
    for piece in [
        "11 entries compared on 40 rows",
        "RMSE",
        "NLPD",
        "in 95 %",
        "stacking",
    ] {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    let few = place.run(&format!("{line} --rows 20 -v")).ok();
    assert!(
        few.stdout.contains("on 20 rows") && few.stderr.contains("20 random rows of 40"),
        "{few:?}"
    );
}
