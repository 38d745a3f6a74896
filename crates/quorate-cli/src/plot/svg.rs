//! Figures as SVG text: one self-contained file that reads well on a light and on a dark page.

use std::fmt::Write;

use super::scale::{Ticks, ticks};
use super::{Figure, Mark, Range};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 56.0;

/// Colours live in a style sheet so that a page's dark scheme can replace them.
const STYLE: &str = "\
    text { font: 13px system-ui, sans-serif; fill: #333a44; }
    .title { font-size: 16px; font-weight: 600; }
    .page { fill: #ffffff; }
    .grid { stroke: #e3e6ea; stroke-width: 1; }
    .axis { stroke: #8a93a0; stroke-width: 1; }
    .band { fill: #4c8bd6; fill-opacity: 0.22; }
    .line { fill: none; stroke: #1f66b8; stroke-width: 2; stroke-linejoin: round; }
    .dashes { fill: none; stroke: #7a828e; stroke-width: 1.5; stroke-dasharray: 6 4; }
    .point { fill: #c4541c; fill-opacity: 0.75; }
    @media (prefers-color-scheme: dark) {
      text { fill: #d5dbe3; }
      .page { fill: #16191e; }
      .grid { stroke: #2a3038; }
      .axis { stroke: #77808d; }
      .band { fill: #5fa2f0; fill-opacity: 0.25; }
      .line { stroke: #7db8ff; }
      .dashes { stroke: #9aa3af; }
      .point { fill: #ff9a62; }
    }";

/// The figure as a complete SVG document.
pub fn render(figure: &Figure) -> String {
    let mut svg = String::new();
    let title = escape(&figure.title);
    push(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{title}\">"
        ),
    );
    push(&mut svg, format_args!("  <title>{title}</title>"));
    push(&mut svg, format_args!("  <style>\n{STYLE}\n  </style>"));
    push(
        &mut svg,
        format_args!("  <rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"),
    );
    push(
        &mut svg,
        format_args!("  <text class=\"title\" x=\"{LEFT}\" y=\"26\">{title}</text>"),
    );
    legend(&mut svg, figure);
    if let Some((x, y)) = figure.extent() {
        let view = View { x, y: y.padded() };
        axes(&mut svg, figure, &view);
        for series in &figure.series {
            draw(&mut svg, &series.mark, &view);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Data units to places on the page.
struct View {
    x: Range,
    y: Range,
}

impl View {
    fn across(&self, x: f64) -> f64 {
        LEFT + self.x.fraction(x) * (WIDTH - LEFT - RIGHT)
    }

    fn down(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.fraction(y) * (HEIGHT - TOP - BOTTOM)
    }

    fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        (x.is_finite() && y.is_finite()).then(|| (self.across(x), self.down(y)))
    }
}

fn draw(svg: &mut String, mark: &Mark, view: &View) {
    match mark {
        Mark::Band(rows) => {
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
        Mark::Line(rows) => curve(svg, "line", rows, view),
        Mark::Dashes(rows) => curve(svg, "dashes", rows, view),
        Mark::Points(rows) => {
            for (x, y) in rows.iter().filter_map(|&(x, y)| view.place(x, y)) {
                push(
                    svg,
                    format_args!(
                        "  <circle class=\"point\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"2.6\"/>"
                    ),
                );
            }
        }
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

fn axes(svg: &mut String, figure: &Figure, view: &View) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let Ticks { places, labels } = ticks(view.y, 6);
    for (place, label) in places.iter().zip(labels) {
        let y = view.down(*place);
        push(
            svg,
            format_args!("  <path class=\"grid\" d=\"M{LEFT} {y:.2}H{right}\"/>"),
        );
        push(
            svg,
            format_args!(
                "  <text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{label}</text>",
                LEFT - 8.0,
                y + 4.5
            ),
        );
    }
    let Ticks { places, labels } = ticks(view.x, 8);
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
        format_args!("  <path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\"/>"),
    );
    push(
        svg,
        format_args!(
            "  <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            (LEFT + right) / 2.0,
            HEIGHT - 14.0,
            escape(&figure.x_label)
        ),
    );
    let middle = (TOP + bottom) / 2.0;
    push(
        svg,
        format_args!(
            "  <text transform=\"translate(20 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&figure.y_label)
        ),
    );
}

/// One sample and name a series, in a row under the title.
fn legend(svg: &mut String, figure: &Figure) {
    const ROW: f64 = 48.0;
    let mut x = LEFT;
    for series in &figure.series {
        let sample = match series.mark {
            Mark::Band(_) => {
                format!(
                    "<rect class=\"band\" x=\"{x}\" y=\"{}\" width=\"22\" height=\"12\"/>",
                    ROW - 6.0
                )
            }
            Mark::Line(_) => format!("<path class=\"line\" d=\"M{x} {ROW}h22\"/>"),
            Mark::Dashes(_) => format!("<path class=\"dashes\" d=\"M{x} {ROW}h22\"/>"),
            Mark::Points(_) => format!(
                "<circle class=\"point\" cx=\"{}\" cy=\"{ROW}\" r=\"3\"/>",
                x + 11.0
            ),
        };
        push(svg, format_args!("  {sample}"));
        push(
            svg,
            format_args!(
                "  <text x=\"{}\" y=\"{}\">{}</text>",
                x + 28.0,
                ROW + 4.5,
                escape(&series.name)
            ),
        );
        // Text is not measured here; 7.2 px a character is wide enough for 13 px sans-serif.
        x += 28.0 + 7.2 * series.name.chars().count() as f64 + 18.0;
    }
}

fn push(svg: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

/// Text as XML character data; characters that XML forbids become a replacement mark.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

impl Range {
    /// A little room above and below, so that no mark touches the frame.
    fn padded(self) -> Range {
        let room = (self.high / 2.0 - self.low / 2.0) * 0.08;
        Range {
            low: (self.low - room).max(f64::MIN),
            high: (self.high + room).min(f64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        Figure::new("A <b> & \"c\"\u{1}", "x", "y")
            .with(
                "95 % interval",
                Mark::Band(vec![(0.0, -1.0, 1.0), (1.0, -2.0, 2.0)]),
            )
            .with(
                "mean",
                Mark::Line(vec![(0.0, 0.0), (0.5, f64::NAN), (1.0, 0.5)]),
            )
            .with("truth", Mark::Dashes(vec![(0.0, 0.1), (1.0, 0.4)]))
            .with("rows", Mark::Points(vec![(0.2, 0.3), (f64::INFINITY, 1.0)]))
    }

    /// Walks the document's tags: every opened element is closed in order, and no attribute or text holds a bare `<` or `&`.
    fn assert_well_formed(svg: &str) {
        let mut open = Vec::new();
        let mut rest = svg;
        while let Some(start) = rest.find('<') {
            assert_entities(&rest[..start]);
            let end = start + rest[start..].find('>').expect("tag ends");
            let tag = &rest[start + 1..end];
            assert_entities(tag);
            assert!(!tag.contains('<'), "{tag}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name.to_owned()));
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().expect("name").to_owned());
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty(), "{open:?}");
        assert_eq!(rest.trim(), "");
    }

    fn assert_entities(text: &str) {
        for piece in text.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;"]
                    .iter()
                    .any(|e| piece.starts_with(e)),
                "{piece}"
            );
        }
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn document_is_well_formed_and_text_is_escaped() {
        let svg = render(&figure());
        assert_well_formed(&svg);
        assert!(svg.contains("A &lt;b&gt; &amp; &quot;c&quot;\u{fffd}"));
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn numbers_that_are_not_finite_are_left_out() {
        let svg = render(&figure());
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("<circle class=\"point\"").count(), 2); // one row, one in the legend
    }

    #[test]
    fn every_mark_stays_inside_the_frame() {
        let view = View {
            x: Range {
                low: 0.0,
                high: 2.0,
            },
            y: Range {
                low: -1.0,
                high: 1.0,
            },
        };
        assert_eq!(view.place(0.0, -1.0), Some((LEFT, HEIGHT - BOTTOM)));
        assert_eq!(view.place(2.0, 1.0), Some((WIDTH - RIGHT, TOP)));
        assert_eq!(view.place(f64::NAN, 0.0), None);
    }

    #[test]
    fn figures_with_nothing_or_one_point_or_huge_numbers_are_drawn() {
        assert_well_formed(&render(&Figure::new("empty", "x", "y")));
        for y in [0.0, 3.0, 1e300, -f64::MAX] {
            let svg = render(&Figure::new("one", "x", "y").with("p", Mark::Points(vec![(1.0, y)])));
            assert_well_formed(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
