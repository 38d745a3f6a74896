//! Counts and lifetimes on the command line: what is decided, printed and written.

use super::{cells, numbers};
use crate::harness::Place;

/// Claims of policies that were watched for a share of a year; the site triples the rate.
fn claims(rows: std::ops::Range<usize>) -> String {
    let mut text = "age,site,years,claims,hours,died\n".to_owned();
    for row in rows {
        let age = (row as f64 * 0.618_034).fract() * 40.0 + 20.0;
        let site = if row % 2 == 0 { "north" } else { "south" };
        let years = 0.25 + (row as f64 * 0.754_878).fract();
        let rate = if row % 2 == 0 { 1.0 } else { 3.0 };
        let claims = (rate * years + (row as f64 * 0.569_84).fract()).floor();
        let hours = rate * (0.2 + 3.0 * (row as f64 * 0.324_72).fract());
        let died = u8::from(hours < 6.0);
        text += &format!(
            "{age:.2},{site},{years:.3},{claims},{:.3},{died}\n",
            hours.min(6.0)
        );
    }
    text
}

fn with_claims() -> Place {
    let place = Place::new();
    place.write("train.csv", claims(0..100));
    place.write("test.csv", claims(100..160));
    place
}

#[test]
fn counts_have_rates_probabilities_and_a_deviance() {
    let place = with_claims();
    let fit = "fit train.csv --target claims --inputs age,site --exposure years --kernel se[age]+category[site] --restarts 0 -o m.quorate";
    let said = place.run(fit).ok();
    assert!(
        said.stderr.contains("`claims` was taken for counts"),
        "{}",
        said.stderr
    );
    assert!(
        said.stdout.contains("mean Poisson deviance"),
        "{}",
        said.stdout
    );
    let predict =
        "predict m.quorate test.csv --keep site,years --probability-of 0,1 --quantiles 0.5";
    let out = place.run(predict).ok().stdout;
    let names = [
        "site", "years", "mean", "std", "lower", "upper", "q0.5", "p_0", "p_1",
    ];
    assert_eq!(cells(&out)[0], names);
    let (mean, years, none) = (
        numbers(&out, "mean"),
        numbers(&out, "years"),
        numbers(&out, "p_0"),
    );
    let rates = mean.iter().zip(&years).map(|(mean, years)| mean / years);
    let (north, south): (Vec<_>, Vec<_>) = rates.enumerate().partition(|(row, _)| row % 2 == 0);
    let average = |rates: &[(usize, f64)]| rates.iter().map(|(_, rate)| rate).sum::<f64>() / 30.0;
    assert!(average(&south) > 1.7 * average(&north));
    assert!(
        mean.iter()
            .zip(&none)
            .all(|(mean, none)| (0.5 * (-mean).exp()..1.0).contains(none))
    );
    let json = place.run("evaluate m.quorate test.csv --json").ok().json();
    place.run("report m.quorate test.csv -o page.html").ok();
    let page = place.read("page.html");
    super::report::assert_well_formed(&page);
    let page = super::report::data(&page);
    assert_eq!(page["scores"], json);
    let pit = page["account"]["pit"].as_array().unwrap();
    let sum: f64 = pit.iter().map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let found: Vec<&String> = json.as_object().unwrap().keys().collect();
    let names = [
        "n",
        "observed",
        "rmse",
        "mae",
        "nlpd",
        "coverage_50",
        "coverage_90",
        "coverage_95",
        "poisson_deviance",
    ];
    assert_eq!(found, names);
    let page = place.run("inspect m.quorate").ok().stdout;
    assert!(
        page.contains("likelihood") && page.contains("poisson"),
        "{page}"
    );
    let other = place.run("predict m.quorate test.csv --survival-at 3");
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("about lifetimes"), "{}", other.stderr);
}

#[test]
fn lifetimes_have_medians_survival_and_concordance() {
    let place = with_claims();
    let fit = "fit train.csv --target hours --inputs age,site --event died --kernel se[age]+category[site] --restarts 0 -o m.quorate";
    place.run(fit).ok();
    let out = place
        .run("predict m.quorate test.csv --survival-at 1,4.5")
        .ok()
        .stdout;
    let names = [
        "mean",
        "median",
        "std",
        "lower",
        "upper",
        "survival_1",
        "survival_4.5",
    ];
    assert_eq!(cells(&out)[0], names);
    let (early, late) = (numbers(&out, "survival_1"), numbers(&out, "survival_4.5"));
    assert!(
        early
            .iter()
            .zip(&late)
            .all(|(early, late)| early > late && *late > 0.0)
    );
    let json = place
        .run("evaluate m.quorate test.csv --horizons 2,4 --json")
        .ok()
        .json();
    assert!(json["concordance"].as_f64().unwrap() > 0.6, "{json}");
    assert_eq!(json["brier_at"][1]["time"].as_f64(), Some(4.0));
    let text = place.run("evaluate m.quorate test.csv").ok().stdout;
    assert!(
        text.contains("Brier at") && text.contains("censored"),
        "{text}"
    );
}

#[test]
fn bad_columns_of_counts_and_lifetimes_are_named() {
    let place = with_claims();
    let good = claims(0..30);
    let fit = "fit bad.csv --target claims --inputs age --exposure years -o out.quorate";
    let lines: Vec<&str> = good.lines().collect();
    for (column, cell, problem) in [
        (2, "0", "bad.csv:3:years: the exposure is 0"),
        (2, "-1", "must be above 0"),
        (2, "", "bad.csv:3:years: the exposure is missing"),
        (3, "-2", "bad.csv:3:claims: the target is -2"),
        (3, "0.5", "a count is needed"),
    ] {
        let mut row: Vec<&str> = lines[3].split(',').collect();
        row[column] = cell;
        let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        all[3] = row.join(",");
        place.write("bad.csv", all.join("\n"));
        let said = place.run(fit);
        assert_eq!(said.code, Some(1), "{}", said.stderr);
        assert!(said.stderr.contains(problem), "{}", said.stderr);
    }
    for (line, code, problem) in [
        (
            "fit train.csv --target claims --exposure year -o out.quorate",
            1,
            "did you mean `years`?",
        ),
        (
            "fit train.csv --target hours --event died --censored died -o out.quorate",
            2,
            "cannot be used with",
        ),
        (
            "fit train.csv --target claims --likelihood poisson --inference ep -o out.quorate",
            1,
            "is for classes",
        ),
        (
            "fit train.csv --target claims --likelihood weibull --exposure years -o out.quorate",
            1,
            "about counts and amounts",
        ),
        (
            "predict train.csv test.csv --survival-at 0 -o out.csv",
            2,
            "positive number",
        ),
    ] {
        let said = place.run(line);
        assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
        assert!(said.stderr.contains(problem), "{line}: {}", said.stderr);
    }
}
