//! One sample and name a series.

use super::super::{Figure, Mark, Series};
use super::marks::{SHADES, class};
use super::text::{escape, push};
use super::view::Layout;

/// Height of a line of the legend.
pub const LINE: f64 = 20.0;

/// Series that have a name, with the place of each: `(series, x, line)`. A line that is full is followed by another.
fn places(figure: &Figure, layout: Layout) -> Vec<(&Series, f64, usize)> {
    let (mut x, mut line) = (layout.left, 0);
    let named = figure
        .series
        .iter()
        .filter(|series| !series.name.is_empty());
    named
        .map(|series| {
            // Text is not measured here; 7 px a character is wide enough for 13 px sans-serif.
            let width = 28.0 + 7.0 * series.name.chars().count() as f64 + 16.0;
            if x > layout.left && x + width > layout.width {
                (x, line) = (layout.left, line + 1);
            }
            let place = (series, x, line);
            x += width;
            place
        })
        .collect()
}

/// Lines that the legend takes.
pub fn lines(figure: &Figure, layout: Layout) -> usize {
    places(figure, layout).last().map_or(0, |place| place.2 + 1)
}

/// Draws the legend with the middle of its first line at `first`.
pub fn legend(svg: &mut String, figure: &Figure, layout: Layout, first: f64) {
    for (series, x, line) in places(figure, layout) {
        let y = first + LINE * line as f64;
        let sample = match series.mark {
            Mark::Band(_) => rectangle("band", x, y),
            Mark::Bars(_) => rectangle("bar", x, y),
            Mark::Line(_) => format!(
                "<path class=\"{}\" d=\"M{x} {y}h22\"/>",
                class("line", series.tone)
            ),
            Mark::Dashes(_) => format!(
                "<path class=\"{}\" d=\"M{x} {y}h22\"/>",
                class("dashes", series.tone)
            ),
            Mark::Points(_) => format!(
                "<path class=\"{}\" d=\"M{} {y}h0\"/>",
                class("point", series.tone),
                x + 11.0
            ),
            Mark::Rings(_) => format!(
                "<circle class=\"ring\" cx=\"{}\" cy=\"{y}\" r=\"5\"/>",
                x + 11.0
            ),
            Mark::Shades(_) => (0..SHADES)
                .map(|shade| {
                    let x = x + 2.0 + 4.5 * shade as f64;
                    format!("<path class=\"point shade s{shade}\" d=\"M{x} {y}h0\"/>")
                })
                .collect(),
        };
        push(svg, format_args!("  {sample}"));
        push(
            svg,
            format_args!(
                "  <text x=\"{}\" y=\"{}\">{}</text>",
                x + 28.0,
                y + 4.5,
                escape(&series.name)
            ),
        );
    }
}

fn rectangle(class: &str, x: f64, y: f64) -> String {
    format!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"22\" height=\"12\"/>",
        y - 6.0
    )
}
