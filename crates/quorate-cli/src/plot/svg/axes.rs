//! Axes, their ticks and names.

use super::super::Figure;
use super::super::range::Range;
use super::super::scale::{Ticks, logarithmic_ticks, ticks};
use super::text::{escape, push};
use super::view::{Layout, View};

/// Room that the labels of the vertical axis need on its left. Text is not measured here; 7.5 px a character is wide
/// enough for digits of 13 px.
pub fn room(figure: &Figure, view: &View) -> f64 {
    let labels = vertical(figure, view).labels;
    let longest = labels.iter().map(|label| label.chars().count()).max();
    40.0 + 7.5 * longest.unwrap_or(0) as f64
}

fn vertical(figure: &Figure, view: &View) -> Ticks {
    let Layout {
        height,
        top,
        bottom,
        ..
    } = view.layout;
    ticks_of(figure.y.logarithmic, view.y, (height - bottom - top) / 55.0)
}

fn ticks_of(logarithmic: bool, range: Range, wanted: f64) -> Ticks {
    match logarithmic {
        true => logarithmic_ticks(range),
        false => ticks(range, wanted as usize),
    }
}

/// Draws both axes with a grid of horizontal lines.
pub fn axes(svg: &mut String, figure: &Figure, view: &View) {
    let Layout {
        width,
        height,
        left,
        right,
        top,
        bottom,
    } = view.layout;
    let (right, bottom) = (width - right, height - bottom);
    let Ticks { places, labels } = vertical(figure, view);
    for (place, label) in places.iter().zip(labels) {
        let y = view.down(*place);
        push(
            svg,
            format_args!("  <path class=\"grid\" d=\"M{left} {y:.2}H{right}\"/>"),
        );
        push(
            svg,
            format_args!(
                "  <text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{label}</text>",
                left - 8.0,
                y + 4.5
            ),
        );
    }
    let Ticks { places, labels } = ticks_of(figure.x.logarithmic, view.x, (right - left) / 80.0);
    for (place, label) in places.iter().zip(labels) {
        let x = view.across(*place);
        push(
            svg,
            format_args!("  <path class=\"axis\" d=\"M{x:.2} {bottom}v5\"/>"),
        );
        push(
            svg,
            format_args!(
                "  <text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                bottom + 20.0
            ),
        );
    }
    push(
        svg,
        format_args!("  <path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/>"),
    );
    push(
        svg,
        format_args!(
            "  <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            (left + right) / 2.0,
            height - 12.0,
            escape(&figure.x_label)
        ),
    );
    let middle = (top + bottom) / 2.0;
    push(
        svg,
        format_args!(
            "  <text transform=\"translate(18 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&figure.y_label)
        ),
    );
}
