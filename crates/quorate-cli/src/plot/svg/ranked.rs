//! Named quantities as horizontal bars, one below the other.

use super::shades::Shades;
use super::text::{escape, push, shortened};

/// Height of one bar with the space below it.
const ROW: f64 = 24.0;
/// The whole width of a page.
const WIDTH: f64 = 1100.0;
/// Height of the title of a document.
const HEAD: f64 = 44.0;
/// Characters of a name that are shown.
const LONGEST: usize = 32;

/// Named quantities, none of them negative.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// Heading.
    pub title: String,
    /// What the figure shows, in words.
    pub description: String,
    /// Name, length, and what is written behind the bar.
    pub bars: Vec<(String, f64, String)>,
}

/// The bars as an element of a page, in the order given; the page brings the style sheet.
pub fn inline_bars(ranked: &Ranked) -> String {
    let height = ROW * ranked.bars.len() as f64 + 8.0;
    let mut svg = String::new();
    super::open(
        &mut svg,
        &ranked.title,
        &ranked.description,
        (WIDTH, height),
        false,
    );
    draw(&mut svg, ranked, 4.0);
    svg.push_str("</svg>\n");
    svg
}

/// The bars as a complete SVG document, in the order given, with tables of shades below.
pub fn document_bars(ranked: &Ranked, below: &[Shades]) -> String {
    let bars = ROW * ranked.bars.len() as f64 + HEAD + 12.0;
    let height = bars + below.iter().map(Shades::height).sum::<f64>();
    let mut svg = String::new();
    super::open(
        &mut svg,
        &ranked.title,
        &ranked.description,
        (WIDTH, height),
        true,
    );
    push(
        &mut svg,
        format_args!("  <style>\n{}\n  </style>", super::STYLE),
    );
    push(
        &mut svg,
        format_args!("  <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>"),
    );
    push(
        &mut svg,
        format_args!(
            "  <text class=\"title\" x=\"14\" y=\"26\">{}</text>",
            escape(&ranked.title)
        ),
    );
    draw(&mut svg, ranked, HEAD);
    let mut top = bars;
    for shades in below {
        shades.draw(&mut svg, top);
        top += shades.height();
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the bars below `top`.
fn draw(svg: &mut String, ranked: &Ranked, top: f64) {
    let longest = ranked
        .bars
        .iter()
        .map(|(name, _, _)| name.chars().count().min(LONGEST))
        .max()
        .unwrap_or(0);
    let behind = ranked
        .bars
        .iter()
        .map(|(_, _, text)| text.chars().count())
        .max()
        .unwrap_or(0);
    let left = 14.0 + 7.2 * longest as f64;
    let right = 14.0 + 7.2 * behind as f64;
    let largest = ranked
        .bars
        .iter()
        .map(|bar| bar.1)
        .filter(|length| length.is_finite())
        .fold(0.0, f64::max);
    for (index, (name, length, text)) in ranked.bars.iter().enumerate() {
        let y = top + ROW * index as f64;
        let share = if largest > 0.0 && length.is_finite() {
            length.max(0.0) / largest
        } else {
            0.0
        };
        let width = (share * (WIDTH - left - right)).max(1.0);
        push(
            svg,
            format_args!(
                "  <g><title>{}: {}</title>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <rect class=\"bar\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{}\" rx=\"2\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
                escape(name),
                escape(text),
                left - 8.0,
                y + 14.5,
                escape(&shortened(name, LONGEST)),
                y + 3.0,
                ROW - 8.0,
                left + width + 7.0,
                y + 14.5,
                escape(text)
            ),
        );
    }
}
