//! Named quantities with error bars, one below the other (Williams and Barber 1998, figure 2).

use super::STYLE;
use super::text::{escape, push, shortened};

/// Height of one line.
const ROW: f64 = 26.0;
const WIDTH: f64 = 760.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = 48.0;
/// Characters of a name that are shown.
const LONGEST: usize = 36;

/// One quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its name.
    pub name: String,
    /// Centre of the bar.
    pub mean: f64,
    /// Half its length.
    pub deviation: f64,
    /// Where the square is.
    pub maximum: f64,
}

/// The intervals as a complete SVG document.
pub fn intervals(title: &str, description: &str, axis: &str, rows: &[Interval]) -> String {
    let longest = rows.iter().map(|row| row.name.chars().count().min(LONGEST));
    let left = 24.0 + 7.2 * longest.max().unwrap_or(0) as f64;
    let right = 24.0;
    let height = TOP + ROW * rows.len() as f64 + BOTTOM;
    let ends = rows.iter().flat_map(|row| {
        let (low, high) = (row.mean - row.deviation, row.mean + row.deviation);
        [low.min(row.maximum), high.max(row.maximum)]
    });
    let (mut low, mut high) = ends
        .filter(|end| end.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
            (low.min(end), high.max(end))
        });
    if low > high {
        (low, high) = (-1.0, 1.0);
    }
    let room = 0.05 * (high - low).max(0.5);
    (low, high) = (low - room, high + room);
    let x = |value: f64| left + (value - low) / (high - low) * (WIDTH - left - right);

    let mut svg = String::new();
    super::open(&mut svg, title, description, (WIDTH, height), true);
    push(&mut svg, format_args!("  <style>\n{STYLE}\n  </style>"));
    push(
        &mut svg,
        format_args!(
            "  <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n  \
             <text class=\"title\" x=\"24\" y=\"28\">{}</text>\n  \
             <text x=\"24\" y=\"52\">ring and bar: mean and one standard deviation; square: the maximum</text>",
            escape(title)
        ),
    );
    let bottom = TOP + ROW * rows.len() as f64;
    for tick in ticks(low, high) {
        push(
            &mut svg,
            format_args!(
                "  <line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{bottom:.1}\"/>\
                 <text x=\"{0:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">{tick}</text>",
                x(tick),
                TOP - 8.0,
                bottom + 18.0
            ),
        );
    }
    push(
        &mut svg,
        format_args!(
            "  <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            0.5 * (left + WIDTH - right),
            bottom + 38.0,
            escape(axis)
        ),
    );
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        let finite = [row.mean, row.deviation, row.maximum];
        if finite.iter().any(|value| !value.is_finite()) {
            continue;
        }
        push(
            &mut svg,
            format_args!(
                "  <g><title>{}: {:.3} +- {:.3}, maximum {:.3}</title>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <line class=\"line\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <circle class=\"ring\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>\
                 <rect class=\"bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/></g>",
                escape(&row.name),
                row.mean,
                row.deviation,
                row.maximum,
                left - 10.0,
                y + 4.5,
                escape(&shortened(&row.name, LONGEST)),
                x(row.mean - row.deviation),
                x(row.mean + row.deviation),
                x(row.mean),
                x(row.maximum) - 3.5,
                y - 3.5
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Whole or half steps, or tens of them, that fill the axis with at most ten.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let mut step = 0.5;
    while (high - low) / step > 10.0 {
        step *= 2.0;
    }
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|tick| tick as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_its_name_bar_ring_and_square() {
        let rows = [("a <b>", -3.0), ("noise", 1.25)].map(|(name, mean)| Interval {
            name: name.to_owned(),
            mean,
            deviation: 0.5,
            maximum: mean + 0.1,
        });
        let svg = intervals("Title", "what it shows", "logarithm", &rows);
        assert_eq!(svg.matches("class=\"ring\"").count(), 2);
        assert_eq!(svg.matches("class=\"bar\"").count(), 2);
        assert!(svg.contains("a &lt;b&gt;: -3.000 +- 0.500, maximum -2.900"));
        assert!(svg.starts_with("<svg xmlns") && svg.ends_with("</svg>\n"));
    }
}
