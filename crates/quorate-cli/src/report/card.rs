//! Scores of classes, counts, amounts and lifetimes: the few that matter first, and all of them in a table.

use quorate::{Scorecard, Scores};
use serde::Serialize;

use super::{Page, html};
use crate::plot::svg::escape;
use crate::text::{percent, significant};

/// The scores of the page, whatever the task.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Shown<'a> {
    /// Of a number.
    Number(&'a Scores),
    /// Of everything else.
    Other(&'a Scorecard),
}

impl<'a> Shown<'a> {
    /// Those of a page.
    pub fn of(page: &'a Page<'_>) -> Option<Self> {
        let other = || page.card().map(Shown::Other);
        page.scores().map(Shown::Number).or_else(other)
    }
}

/// The first thing on the page: a few numbers.
pub fn glance(page: &Page<'_>) -> String {
    let short = |value: f64| significant(value, 4);
    let tiles: Vec<(&str, String, String)> = match page.card() {
        Some(Scorecard::Classes(scores)) => vec![
            (
                "Errors",
                percent(scores.error_rate),
                format!("{} rows", short(scores.errors)),
            ),
            ("Log loss", short(scores.log_loss), "nats a row".to_owned()),
            (
                "Brier",
                short(scores.brier),
                "squared error of the probabilities".to_owned(),
            ),
            (
                "ECE",
                short(scores.ece),
                "distance between confidence and accuracy".to_owned(),
            ),
            (
                "AUC",
                scores.auc.map(short).unwrap_or_default(),
                "pairs in the right order".to_owned(),
            ),
        ],
        Some(Scorecard::Quantity(scores)) => {
            let mut tiles = vec![
                ("MAE", short(scores.mae), "mean absolute error".to_owned()),
                (
                    "NLPD",
                    short(scores.nlpd),
                    "negative log probability".to_owned(),
                ),
                (
                    "95 % coverage",
                    percent(scores.coverage_95),
                    format!("50 %: {}", percent(scores.coverage_50)),
                ),
            ];
            if let Some(deviance) = scores.poisson_deviance {
                tiles.push(("Deviance", short(deviance), "Poisson, a row".to_owned()));
            }
            if let Some(concordance) = scores.concordance {
                let note = "pairs in the right order".to_owned();
                tiles.push(("Concordance", short(concordance), note));
            }
            tiles
        }
        _ => return String::new(),
    };
    let tile = |(name, value, note): &(&str, String, String)| {
        format!(
            "<div class=\"tile\"><dt>{}</dt><dd>{}</dd><dd class=\"note\">{}</dd></div>\n",
            escape(name),
            escape(value),
            escape(note)
        )
    };
    let tiles: String = tiles.iter().map(tile).collect();
    format!("<dl class=\"tiles\">\n{tiles}</dl>\n")
}

/// Every score that is one number, by the name that `evaluate --json` gives it.
pub fn section(page: &Page<'_>) -> String {
    let Some(Ok(serde_json::Value::Object(scores))) = page.card().map(serde_json::to_value) else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = scores
        .iter()
        .filter_map(|(name, value)| {
            let shown = match value.as_u64() {
                Some(whole) => whole.to_string(),
                None => significant(value.as_f64()?, 6),
            };
            Some(vec![name.clone(), shown, meaning(name).to_owned()])
        })
        .collect();
    let caption = format!("Of {}.", page.scored());
    let heads = [("score", false), ("value", true), ("meaning", false)];
    html::section(
        "Every score",
        "scores",
        &html::table(&caption, &heads, &rows),
    )
}

fn meaning(name: &str) -> &'static str {
    match name {
        "n" => "rows scored",
        "accuracy" => "share of rows whose likeliest class was theirs",
        "error_rate" => "share of the others",
        "errors" => "number of the others",
        "log_loss" => "mean negative log probability of the row's class",
        "brier" => "mean squared distance of the probabilities from the truth",
        "ece" => "expected calibration error",
        "auc" => "area under the ROC curve",
        "observed" => "rows that are not censored",
        "rmse" => "root mean squared error of the mean",
        "mae" => "mean absolute error of the mean",
        "nlpd" => "negative log predictive density",
        "coverage_50" => "share of targets inside the central 50 % interval",
        "coverage_90" => "inside the 90 % interval",
        "coverage_95" => "inside the 95 % interval",
        "poisson_deviance" => "mean of 2 (y log(y / m) - y + m)",
        "concordance" => "share of pairs whose order was foretold",
        _ => "",
    }
}
