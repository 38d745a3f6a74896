//! The series of a figure.

use std::fmt::Write;

use super::super::{Mark, Series, Tone};
use super::text::push;
use super::view::View;

/// Up to this many, points are large.
const FEW: usize = 40;
/// Above this many, points become smaller and paler.
const MANY: usize = 300;
/// Points of one element do not add up where they overlap, so many points are spread over this many elements: crowded
/// places look darker.
const LAYERS: usize = 24;
/// Steps between pale and strong.
pub const SHADES: usize = 5;

/// The class of a series, with its colour.
pub fn class(mark: &str, tone: Tone) -> String {
    match tone {
        Tone::Own => mark.to_owned(),
        Tone::Number(number) => format!("{mark} n{}", number % 6),
        Tone::Faint => format!("{mark} faint"),
    }
}

/// Draws one series.
pub fn draw(svg: &mut String, series: &Series, view: &View) {
    let tone = series.tone;
    match &series.mark {
        Mark::Band(rows) => band(svg, rows, view),
        Mark::Bars(rows) => bars(svg, rows, view),
        Mark::Line(rows) => curve(svg, &class("line", tone), rows, view),
        Mark::Dashes(rows) => curve(svg, &class("dashes", tone), rows, view),
        Mark::Points(rows) => dots(svg, &class("point", tone), rows, view),
        Mark::Rings(rows) => {
            for (x, y) in rows.iter().filter_map(|&(x, y)| view.place(x, y)) {
                push(
                    svg,
                    format_args!("  <circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>"),
                );
            }
        }
        Mark::Shades(rows) => shades(svg, rows, view),
    }
}

/// Shades are drawn in turns, so that in a crowd none covers all the others.
fn shades(svg: &mut String, rows: &[(f64, f64, f64)], view: &View) {
    let small = if rows.len() > MANY { " small" } else { "" };
    for layer in 0..LAYERS {
        for shade in 0..SHADES {
            let rows = rows.iter().skip(layer).step_by(LAYERS);
            let own: Vec<(f64, f64)> = rows
                .filter(|row| step(row.2) == Some(shade))
                .map(|row| (row.0, row.1))
                .collect();
            dots(svg, &format!("point shade s{shade}{small}"), &own, view);
        }
    }
}

fn step(shade: f64) -> Option<usize> {
    shade
        .is_finite()
        .then(|| ((shade * SHADES as f64).max(0.0) as usize).min(SHADES - 1))
}

fn band(svg: &mut String, rows: &[(f64, f64, f64)], view: &View) {
    let rows: Vec<_> = rows
        .iter()
        .filter(|(x, lower, upper)| [x, lower, upper].iter().all(|value| value.is_finite()))
        .collect();
    let upper = rows.iter().map(|(x, _, upper)| (*x, *upper));
    let lower = rows.iter().rev().map(|(x, lower, _)| (*x, *lower));
    let outline = path(upper.chain(lower), view);
    if !outline.is_empty() {
        push(
            svg,
            format_args!("  <path class=\"band\" d=\"{outline}Z\"/>"),
        );
    }
}

fn bars(svg: &mut String, rows: &[(f64, f64, f64)], view: &View) {
    for &(from, to, height) in rows {
        let (Some((left, top)), Some((right, bottom))) =
            (view.place(from, height), view.place(to, 0.0))
        else {
            continue;
        };
        let gap = if right - left > 6.0 { 1.0 } else { 0.0 };
        push(
            svg,
            format_args!(
                "  <rect class=\"bar\" x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\"/>",
                left + gap / 2.0,
                top.min(bottom),
                (right - left - gap).max(0.0),
                (bottom - top).abs()
            ),
        );
    }
}

fn dots(svg: &mut String, class: &str, rows: &[(f64, f64)], view: &View) {
    let places: Vec<(f64, f64)> = rows.iter().filter_map(|&(x, y)| view.place(x, y)).collect();
    let (layers, many) = match places.len() {
        count if count > MANY => (LAYERS, " many"),
        count if count <= FEW && !class.contains("shade") => (1, " few"),
        _ => (1, ""),
    };
    for layer in 0..layers.min(places.len()) {
        let mut outline = String::new();
        for (x, y) in places.iter().skip(layer).step_by(layers) {
            // A line of no length with round ends is a dot. Writing into a String cannot fail.
            let _ = write!(outline, "M{x:.1} {y:.1}h0");
        }
        push(
            svg,
            format_args!("  <path class=\"{class}{many}\" d=\"{outline}\"/>"),
        );
    }
}

fn curve(svg: &mut String, class: &str, rows: &[(f64, f64)], view: &View) {
    let outline = path(rows.iter().copied(), view);
    if !outline.is_empty() {
        push(
            svg,
            format_args!("  <path class=\"{class}\" d=\"{}\"/>", outline.trim_end()),
        );
    }
}

fn path(rows: impl Iterator<Item = (f64, f64)>, view: &View) -> String {
    let mut outline = String::new();
    for (x, y) in rows.filter_map(|(x, y)| view.place(x, y)) {
        let command = if outline.is_empty() { 'M' } else { 'L' };
        // Writing into a String cannot fail.
        let _ = write!(outline, "{command}{x:.2} {y:.2} ");
    }
    outline
}
