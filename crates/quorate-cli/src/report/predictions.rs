//! Predicted against seen, and what is left over.

use quorate::diagnose::SampledRow;

use super::{DRAWN_ROWS, Page, html};
use crate::plot::{Figure, Mark, Tone};
use crate::text::count;

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let Some(found) = page.diagnosis else {
        return String::new();
    };
    let thinned = if found.scores.n > found.sample.len() {
        format!(
            " {} drawn at random from {}.",
            count(found.sample.len(), "row"),
            count(found.scores.n, "row")
        )
    } else {
        String::new()
    };
    debug_assert!(found.sample.len() <= DRAWN_ROWS);
    let target = &page.inspection.target.name;
    html::section(
        "Predictions",
        "predictions",
        &html::cards(&[
            html::figure(
                &against(target, &found.sample),
                &format!("Points on the dashed line are predicted exactly.{thinned}"),
            ),
            html::figure(
                &residuals(target, &found.sample),
                &format!(
                    "Errors in units of their own predicted deviation: 95 % should lie in the band, without a pattern.{thinned}"
                ),
            ),
        ]),
    )
}

fn against(target: &str, rows: &[SampledRow]) -> Figure {
    let values = rows.iter().flat_map(|row| [row.target, row.mean]);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let room = (high / 2.0 - low / 2.0) * 0.05;
    let (low, high) = (low - room, high + room);
    let mut figure = Figure::new(
        "Predicted against seen",
        format!("predicted {target}"),
        format!("seen {target}"),
    )
    .described(
        "Scatter plot of seen targets over predicted means, with the line where they are equal.",
    )
    .with(
        "",
        Mark::Points(rows.iter().map(|row| (row.mean, row.target)).collect()),
    )
    .with(
        "seen as predicted",
        Mark::Dashes(vec![(low, low), (high, high)]),
    );
    if low.is_finite() && high > low {
        figure.x.range = Some((low, high));
        figure.y.range = Some((low, high));
    }
    figure
}

fn residuals(target: &str, rows: &[SampledRow]) -> Figure {
    let scaled = |row: &SampledRow| (row.mean, (row.target - row.mean) / row.deviation);
    let points: Vec<(f64, f64)> = rows
        .iter()
        .map(scaled)
        .filter(|row| row.1.is_finite())
        .collect();
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), row| {
            (low.min(row.0), high.max(row.0))
        });
    Figure::new(
        "Residuals",
        format!("predicted {target}"),
        "error / predicted deviation",
    )
    .described(
        "Scatter plot of standardised errors over predicted means, with a band of 1.96 deviations.",
    )
    .with(
        "95 % of a normal distribution",
        Mark::Band(vec![
            (low, -1.959_964, 1.959_964),
            (high, -1.959_964, 1.959_964),
        ]),
    )
    .with_tone("", Mark::Dashes(vec![(low, 0.0), (high, 0.0)]), Tone::Own)
    .with("", Mark::Points(points))
}
