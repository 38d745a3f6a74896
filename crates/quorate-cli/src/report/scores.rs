//! Scores: the few that matter first, and all of them in a table.

use quorate::Scores;

use super::{Page, html};
use crate::plot::svg::escape;
use crate::text::{percent, significant};

/// The first thing on the page: five numbers and a sentence.
pub fn glance(page: &Page<'_>) -> String {
    let Some(scores) = page.scores() else {
        return String::new();
    };
    let short = |value: f64| significant(value, 4);
    let tiles: String = [
        (
            "RMSE",
            short(scores.rmse),
            format!(
                "{} deviations of the target",
                short(scores.rmse_standardised)
            ),
        ),
        ("MAE", short(scores.mae), "mean absolute error".to_owned()),
        (
            "NLPD",
            short(scores.nlpd),
            format!(
                "{} for the standardised target",
                short(scores.nlpd_standardised)
            ),
        ),
        (
            "CRPS",
            short(scores.crps),
            "error of the whole distribution".to_owned(),
        ),
        (
            "95 % coverage",
            percent(scores.coverage_95),
            format!("mean width {}", short(scores.width_95)),
        ),
    ]
    .iter()
    .map(|(name, value, note)| {
        format!(
            "<div class=\"tile\"><dt>{}</dt><dd>{}</dd><dd class=\"note\">{}</dd></div>\n",
            escape(name),
            escape(value),
            escape(note)
        )
    })
    .collect();
    let (good, sentence) = verdict(scores);
    format!(
        "<dl class=\"tiles\">\n{tiles}</dl>\n<p class=\"verdict {}\">{}</p>\n",
        if good { "good" } else { "bad" },
        escape(&sentence)
    )
}

/// What the scores say, and whether it is good news.
fn verdict(scores: &Scores) -> (bool, String) {
    let explained = match scores.smse {
        Some(share) if share < 1.0 => format!(
            "Predictions explain {} of the target's variance. ",
            percent(1.0 - share)
        ),
        Some(_) => "Predictions are no better than the mean of these rows. ".to_owned(),
        None => String::new(),
    };
    let better = scores.smse.is_none_or(|share| share < 1.0);
    let outer = Coverage::new(0.95, scores.coverage_95, scores.n);
    let inner = Coverage::new(0.5, scores.coverage_50, scores.n);
    let calibration = match (outer.judge(), inner.judge()) {
        (Judgement::Right, Judgement::Right) => {
            format!("Intervals hold what they promise: {outer} and {inner}.")
        }
        (Judgement::Right, Judgement::Wide) => format!(
            "The wide intervals are right ({outer}), the narrow ones wider than needed ({inner}): many errors are small and a \
             few are large."
        ),
        (Judgement::Right, Judgement::Narrow) => {
            format!("The wide intervals are right ({outer}), the narrow ones too narrow ({inner}).")
        }
        (Judgement::Narrow, _) => {
            format!("Intervals are too narrow: {outer}, less than chance explains.")
        }
        (Judgement::Wide, _) => {
            format!("Intervals are wider than needed: {outer}, more than chance explains.")
        }
    };
    let good = outer.judge() == Judgement::Right && better;
    (good, explained + &calibration)
}

/// A promise and what became of it.
struct Coverage {
    promised: f64,
    seen: f64,
    rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Narrow,
    Right,
    Wide,
}

impl Coverage {
    fn new(promised: f64, seen: f64, rows: usize) -> Self {
        Self {
            promised,
            seen,
            rows,
        }
    }

    /// Within two and a half standard deviations of a binomial, or a fiftieth, which nobody minds.
    fn judge(&self) -> Judgement {
        let chance = (self.promised * (1.0 - self.promised) / self.rows as f64).sqrt();
        let room = (2.5 * chance).max(0.02);
        match self.seen - self.promised {
            off if off < -room => Judgement::Narrow,
            off if off > room => Judgement::Wide,
            _ => Judgement::Right,
        }
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let promised = 100.0 * self.promised;
        write!(
            out,
            "{promised:.0} % intervals hold {} of the targets",
            percent(self.seen)
        )
    }
}

/// Every score.
pub fn section(page: &Page<'_>) -> String {
    let Some(scores) = page.scores() else {
        return String::new();
    };
    let value = |number: f64| significant(number, 6);
    let rows: Vec<Vec<String>> = [
        ("n", scores.n.to_string(), "rows scored"),
        ("rmse", value(scores.rmse), "root mean squared error"),
        ("mae", value(scores.mae), "mean absolute error"),
        (
            "crps",
            value(scores.crps),
            "continuous ranked probability score",
        ),
        (
            "nlpd",
            value(scores.nlpd),
            "negative log predictive density",
        ),
        (
            "coverage_50",
            value(scores.coverage_50),
            "share of targets inside the central 50 % interval",
        ),
        (
            "coverage_90",
            value(scores.coverage_90),
            "inside the 90 % interval",
        ),
        (
            "coverage_95",
            value(scores.coverage_95),
            "inside the 95 % interval",
        ),
        (
            "width_50",
            value(scores.width_50),
            "mean width of the 50 % interval",
        ),
        ("width_90", value(scores.width_90), "of the 90 % interval"),
        ("width_95", value(scores.width_95), "of the 95 % interval"),
        (
            "smse",
            scores.smse.map(value).unwrap_or_default(),
            "mean squared error over the variance of the targets",
        ),
        (
            "msll",
            value(scores.msll),
            "nlpd less that of the training targets' mean and variance",
        ),
        (
            "rmse_standardised",
            value(scores.rmse_standardised),
            "in deviations of the training targets",
        ),
        (
            "nlpd_standardised",
            value(scores.nlpd_standardised),
            "of the standardised target",
        ),
    ]
    .map(|(name, number, meaning)| vec![name.to_owned(), number, meaning.to_owned()])
    .to_vec();
    let caption = format!("Of {}.", page.scored());
    let heads = [("score", false), ("value", true), ("meaning", false)];
    html::section(
        "Every score",
        "scores",
        &html::table(&caption, &heads, &rows),
    )
}
