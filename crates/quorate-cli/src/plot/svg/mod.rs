//! Figures as SVG: a file of its own, or an element of a page, that reads well on light, on dark and on paper.

mod axes;
mod graph;
mod intervals;
mod legend;
mod marks;
mod ranked;
mod shades;
mod style;
mod text;
mod view;

pub use graph::graph;
pub use intervals::{Interval, intervals};
pub use ranked::{Ranked, document_bars, inline_bars};
pub use shades::Shades;
pub use style::STYLE;
pub use text::escape;

use super::Figure;
use text::push;
use view::{Layout, View};

/// The figure as a complete SVG document.
pub fn document(figure: &Figure) -> String {
    let mut layout = Layout {
        width: 760.0,
        height: 440.0,
        left: 76.0,
        right: 20.0,
        top: 52.0,
        bottom: 56.0,
    };
    layout.top += legend::LINE * legend::lines(figure, layout) as f64;
    let mut svg = String::new();
    let size = (layout.width, layout.height);
    open(&mut svg, &figure.title, &figure.description, size, true);
    push(&mut svg, format_args!("  <style>\n{STYLE}\n  </style>"));
    push(
        &mut svg,
        format_args!(
            "  <rect class=\"page\" width=\"{}\" height=\"{}\"/>",
            layout.width, layout.height
        ),
    );
    push(
        &mut svg,
        format_args!(
            "  <text class=\"title\" x=\"{}\" y=\"26\">{}</text>",
            layout.left,
            escape(&figure.title)
        ),
    );
    draw(&mut svg, figure, layout, 48.0);
    svg
}

/// The figure as an element of a page, which brings the style sheet and shows the title.
pub fn inline(figure: &Figure) -> String {
    let mut layout = Layout {
        width: 540.0,
        height: 372.0,
        left: 60.0,
        right: 16.0,
        top: 14.0,
        bottom: 52.0,
    };
    layout.top += legend::LINE * legend::lines(figure, layout) as f64;
    let mut svg = String::new();
    let size = (layout.width, layout.height);
    open(&mut svg, &figure.title, &figure.description, size, false);
    draw(&mut svg, figure, layout, 12.0);
    svg
}

/// Begins a drawing with its name and description for those who cannot see it.
fn open(svg: &mut String, title: &str, description: &str, size: (f64, f64), document: bool) {
    let (width, height) = size;
    let title = escape(title);
    let namespace = if document {
        format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"")
    } else {
        String::new()
    };
    push(
        svg,
        format_args!(
            "<svg{namespace} viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">"
        ),
    );
    push(svg, format_args!("  <title>{title}</title>"));
    if !description.is_empty() {
        push(svg, format_args!("  <desc>{}</desc>", escape(description)));
    }
}

fn draw(svg: &mut String, figure: &Figure, layout: Layout, legend_at: f64) {
    legend::legend(svg, figure, layout, legend_at);
    if let Some(mut view) = View::of(figure, layout) {
        view.layout.left = view.layout.left.max(axes::room(figure, &view));
        axes::axes(svg, figure, &view);
        for series in &figure.series {
            marks::draw(svg, series, &view);
        }
    }
    svg.push_str("</svg>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Mark, Tone};

    fn figure() -> Figure {
        Figure::new("A <b> & \"c\"\u{1}", "x", "y")
            .described("What <it> is")
            .with(
                "95 % interval",
                Mark::Band(vec![(0.0, -1.0, 1.0), (1.0, -2.0, 2.0)]),
            )
            .with(
                "mean",
                Mark::Line(vec![(0.0, 0.0), (0.5, f64::NAN), (1.0, 0.5)]),
            )
            .with("truth", Mark::Dashes(vec![(0.0, 0.1), (1.0, 0.4)]))
            .with("share", Mark::Bars(vec![(0.0, 0.5, 0.2), (0.5, 1.0, 0.3)]))
            .with_tone(
                "shade",
                Mark::Shades(vec![(0.1, 0.2, 0.0), (0.2, 0.2, 1.0), (0.3, 0.1, f64::NAN)]),
                Tone::Own,
            )
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
    fn drawings_are_well_formed_and_text_is_escaped() {
        let svg = document(&figure());
        assert_well_formed(&svg);
        assert_well_formed(&inline(&figure()));
        assert!(svg.contains("A &lt;b&gt; &amp; &quot;c&quot;\u{fffd}"));
        assert!(svg.contains("<desc>What &lt;it&gt; is</desc>"));
        assert!(svg.contains("prefers-color-scheme: dark"));
        let bars = inline_bars(&Ranked {
            title: "t<".into(),
            description: String::new(),
            bars: vec![
                ("a & b".into(), 2.0, "2".into()),
                ("n".repeat(90), f64::NAN, "?".into()),
            ],
        });
        assert_well_formed(&bars);
        assert!(bars.contains("a &amp; b") && !bars.contains("NaN"));
    }

    #[test]
    fn numbers_that_are_not_finite_are_left_out() {
        let svg = document(&figure());
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(
            svg.matches("<path class=\"point").count()
                - svg.matches("<path class=\"point shade").count(),
            2
        ); // one row, one in the legend
        let dots = svg.matches("h0").count();
        assert_eq!(dots, 1 + 2 + 1 + 5); // a point, two shades, and their samples in the legend
    }

    #[test]
    fn many_points_are_drawn_once_each() {
        let rows: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), 0.5)).collect();
        let svg = inline(&Figure::new("many", "x", "y").with("", Mark::Points(rows)));
        assert_eq!(svg.matches("h0").count(), 1000);
        assert_well_formed(&svg);
    }

    #[test]
    fn figures_with_nothing_or_one_point_or_huge_numbers_are_drawn() {
        assert_well_formed(&document(&Figure::new("empty", "x", "y")));
        for y in [0.0, 3.0, 1e300, -f64::MAX] {
            let one = Figure::new("one", "x", "y").with("p", Mark::Points(vec![(1.0, y)]));
            let svg = document(&one);
            assert_well_formed(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn a_long_legend_takes_further_lines() {
        let mut long = figure();
        for index in 0..6 {
            let name = format!("a series with a rather long name {index}");
            long = long.with_tone(name, Mark::Line(vec![(0.0, 0.0)]), Tone::Number(index));
        }
        let right = |svg: &str| {
            svg.match_indices("<text x=\"")
                .filter_map(|(at, _)| svg[at + 9..].split('"').next()?.parse::<f64>().ok())
                .fold(0.0, f64::max)
        };
        assert!(right(&inline(&long)) < 540.0);
    }
}
