//! Classes: are probabilities what they say, and what was taken for what.

use quorate::ClassScores;

use super::calibration::CHANCE;
use super::{Page, html};
use crate::plot::{Figure, Mark};
use crate::text::percent;

/// Classes with a column of their own in the table of confusions.
const SHOWN: usize = 30;

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let Some(scores) = page.card().and_then(|card| card.classes()) else {
        return String::new();
    };
    let mut cards = vec![html::figure(
        &reliability(scores),
        "Rows by the probability of their likeliest class, and the share of them that it was right about. On the diagonal \
         probabilities are what they say; below it they are too sure.",
    )];
    cards.push(html::table(
        "Rows by the probability of their likeliest class.",
        &[
            ("probability", false),
            ("rows", true),
            ("mean probability", true),
            ("right", true),
        ],
        &steps(scores),
    ));
    cards.extend(confusion(page));
    html::section("Calibration", "calibration", &html::cards(&cards))
}

fn reliability(scores: &ClassScores) -> Figure {
    let band = scores.calibration.iter().map(|step| {
        let p = step.confidence;
        let chance = CHANCE * (p * (1.0 - p) / step.rows.max(1.0)).sqrt();
        (p, (p - chance).max(0.0), (p + chance).min(1.0))
    });
    let points: Vec<(f64, f64)> = scores
        .calibration
        .iter()
        .map(|step| (step.confidence, step.accuracy))
        .collect();
    let mut figure = Figure::new(
        "Reliability of probabilities",
        "probability of the likeliest class",
        "share that was right",
    )
    .described("Accuracy over confidence; the diagonal when calibrated.")
    .with("what chance explains", Mark::Band(band.collect()))
    .with("", Mark::Dashes(vec![(0.0, 0.0), (1.0, 1.0)]))
    .with("seen", Mark::Line(points.clone()))
    .with("", Mark::Points(points));
    figure.x.range = Some((0.0, 1.0));
    figure.y.range = Some((0.0, 1.0));
    figure
}

fn steps(scores: &ClassScores) -> Vec<Vec<String>> {
    let step = |own: &quorate::Confidence| {
        vec![
            format!("{} to {}", percent(own.from), percent(own.to)),
            format!("{:.0}", own.rows),
            percent(own.confidence),
            percent(own.accuracy),
        ]
    };
    scores.calibration.iter().map(step).collect()
}

/// What was taken for what: a row for each class, a column for each decision.
fn confusion(page: &Page<'_>) -> Option<String> {
    let counts = page.account?.confusion.as_ref()?;
    let shares = &page.inspection.classes.as_ref()?.shares;
    let shown = counts.len().min(SHOWN);
    let labels: Vec<&str> = shares.iter().map(|(label, _)| label.as_str()).collect();
    let mut heads = vec![("seen \\ likeliest", false)];
    heads.extend(labels.iter().take(shown).map(|label| (*label, true)));
    heads.push(("right", true));
    let rows: Vec<Vec<String>> = counts
        .iter()
        .enumerate()
        .take(shown)
        .map(|(class, own)| {
            let all: usize = own.iter().sum();
            let mut cells = vec![labels.get(class).copied().unwrap_or("").to_owned()];
            cells.extend(own.iter().take(shown).map(usize::to_string));
            cells.push(match all {
                0 => String::new(),
                _ => percent(own[class] as f64 / all as f64),
            });
            cells
        })
        .collect();
    let caption = match counts.len() > shown {
        true => format!("What was taken for what, of the first {shown} classes."),
        false => {
            "What was taken for what: a row for each class, a column for each decision.".to_owned()
        }
    };
    Some(html::wide_table(&caption, &heads, &rows))
}
