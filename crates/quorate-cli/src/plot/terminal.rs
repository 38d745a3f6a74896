//! Figures as characters: a shaded band, a line of braille dots, and points, with axes around them.
//!
//! A cell shows the foremost thing in it: line, then point, then band. Colours are ANSI codes, which the stream that
//! prints them removes where they are not wanted; the picture can be read without them.

use anstyle::{AnsiColor, Effects, Style};

use super::range::Range;
use super::scale::{Ticks, ticks};
use super::{Figure, Mark};

const LINE: Style = AnsiColor::BrightCyan.on_default().effects(Effects::BOLD);
const POINT: Style = AnsiColor::Yellow.on_default();
const BAND: Style = AnsiColor::Blue.on_default();
const AXIS: Style = Style::new().effects(Effects::DIMMED);

const POINT_GLYPH: char = '•';
const BAND_GLYPH: char = '░';

/// Bits of a braille character (U+2800 + bits) by dot row and dot column.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// The figure as lines of text, `width` characters wide at most and with `height` rows of picture.
pub fn render(figure: &Figure, width: usize, height: usize) -> String {
    let Some((x, y)) = figure.extent() else {
        return String::new();
    };
    let height = height.max(4);
    let rows = ticks(y, (height / 4).max(2));
    let margin = rows
        .labels
        .iter()
        .map(|l| l.chars().count())
        .max()
        .unwrap_or(0)
        + 2;
    let columns = width.saturating_sub(margin + 1).max(10);
    let mut canvas = Canvas::new(columns, height, x, y);
    for series in &figure.series {
        match &series.mark {
            Mark::Band(rows) => canvas.band(rows),
            Mark::Line(rows) => canvas.line(rows),
            Mark::Points(rows) => canvas.points(rows),
            Mark::Dashes(_) | Mark::Rings(_) | Mark::Shades(_) | Mark::Bars(_) => {}
        }
    }
    let mut text = String::new();
    text.push_str(&format!("{:margin$} {}\n", "", figure.y_label));
    for row in 0..height {
        let label = canvas.label_of_row(row, &rows);
        let joint = if label.is_empty() { '│' } else { '┤' };
        text.push_str(&format!(
            "{AXIS}{label:>width$} {joint}{AXIS:#}",
            width = margin - 1
        ));
        text.push_str(&canvas.row(row));
        text.push('\n');
    }
    text.push_str(&bottom_axis(figure, margin, columns, x));
    text.push_str(&legend(figure, margin));
    text
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    point: bool,
    band: bool,
}

struct Canvas {
    columns: usize,
    rows: usize,
    x: Range,
    y: Range,
    cells: Vec<Cell>,
}

impl Canvas {
    fn new(columns: usize, rows: usize, x: Range, y: Range) -> Self {
        Self {
            columns,
            rows,
            x,
            y,
            cells: vec![Cell::default(); columns * rows],
        }
    }

    /// The dot row (four a cell, 0 on top) of a value.
    fn dot_row(&self, value: f64) -> usize {
        let rows = (self.rows * 4) as f64;
        (((1.0 - self.y.fraction(value)) * rows) as usize).min(self.rows * 4 - 1)
    }

    fn column_of(&self, x: f64) -> usize {
        ((self.x.fraction(x) * self.columns as f64) as usize).min(self.columns - 1)
    }

    /// The x in the middle of slice `index` when the width is cut into `slices`.
    fn x_at(&self, index: usize, slices: usize) -> f64 {
        let fraction = (index as f64 + 0.5) / slices as f64;
        self.x.low + fraction * self.x.high - fraction * self.x.low
    }

    fn band(&mut self, rows: &[(f64, f64, f64)]) {
        let lower: Vec<_> = rows.iter().map(|&(x, lower, _)| (x, lower)).collect();
        let upper: Vec<_> = rows.iter().map(|&(x, _, upper)| (x, upper)).collect();
        for column in 0..self.columns {
            let x = self.x_at(column, self.columns);
            if let (Some(low), Some(high)) = (height_at(&lower, x), height_at(&upper, x)) {
                for row in self.dot_row(high) / 4..=self.dot_row(low) / 4 {
                    self.cells[row * self.columns + column].band = true;
                }
            }
        }
    }

    fn line(&mut self, rows: &[(f64, f64)]) {
        let mut last: Option<usize> = None;
        for slice in 0..self.columns * 2 {
            let here = height_at(rows, self.x_at(slice, self.columns * 2)).map(|y| self.dot_row(y));
            if let Some(row) = here {
                // A steep stretch is joined to the neighbouring slice, so that the curve has no holes.
                let (from, to) = match last {
                    Some(before) if before < row => (before + 1, row),
                    Some(before) if before > row => (row, before - 1),
                    _ => (row, row),
                };
                for dot in from..=to {
                    self.cells[(dot / 4) * self.columns + slice / 2].dots |=
                        DOTS[dot % 4][slice % 2];
                }
            }
            last = here;
        }
    }

    fn points(&mut self, rows: &[(f64, f64)]) {
        for &(x, y) in rows {
            if x.is_finite() && y.is_finite() {
                let cell = (self.dot_row(y) / 4) * self.columns + self.column_of(x);
                self.cells[cell].point = true;
            }
        }
    }

    /// One row of the picture, with a colour code only where the style changes.
    fn row(&self, row: usize) -> String {
        let mut text = String::new();
        let mut current: Option<Style> = None;
        for cell in &self.cells[row * self.columns..(row + 1) * self.columns] {
            let (glyph, style) = match cell {
                Cell {
                    dots: 0,
                    point: false,
                    band: false,
                } => (' ', None),
                Cell {
                    dots: 0,
                    point: true,
                    ..
                } => (POINT_GLYPH, Some(POINT)),
                Cell {
                    dots: 0,
                    band: true,
                    ..
                } => (BAND_GLYPH, Some(BAND)),
                Cell { dots, .. } => (braille(*dots), Some(LINE)),
            };
            if style != current {
                if let Some(before) = current {
                    text.push_str(&format!("{before:#}"));
                }
                if let Some(next) = style {
                    text.push_str(&format!("{next}"));
                }
                current = style;
            }
            text.push(glyph);
        }
        if let Some(before) = current {
            text.push_str(&format!("{before:#}"));
        }
        text.trim_end().to_owned()
    }

    fn label_of_row(&self, row: usize, ticks: &Ticks) -> String {
        ticks
            .places
            .iter()
            .zip(&ticks.labels)
            .find(|(place, _)| self.dot_row(**place) / 4 == row)
            .map(|(_, label)| label.clone())
            .unwrap_or_default()
    }
}

fn braille(dots: u8) -> char {
    char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ')
}

/// The curve's height at `x` between its two neighbouring rows; `None` outside the curve or at a gap in it.
fn height_at(rows: &[(f64, f64)], x: f64) -> Option<f64> {
    let next = rows.partition_point(|row| row.0 < x);
    let (x1, y1) = *rows.get(next)?;
    if next == 0 {
        return (x1 == x && y1.is_finite()).then_some(y1);
    }
    let (x0, y0) = rows[next - 1];
    let fraction = (x - x0) / (x1 - x0);
    let y = y0 * (1.0 - fraction) + y1 * fraction;
    y.is_finite().then_some(y)
}

/// The line under the picture with its ticks, their labels, and the axis name.
fn bottom_axis(figure: &Figure, margin: usize, columns: usize, x: Range) -> String {
    let canvas = Canvas::new(
        columns,
        1,
        x,
        Range {
            low: 0.0,
            high: 1.0,
        },
    );
    let mut line = vec!['─'; columns];
    let mut labels = vec![' '; columns + margin + 1];
    let Ticks {
        places,
        labels: names,
    } = ticks(x, (columns / 12).max(2));
    for (place, name) in places.iter().zip(names) {
        let column = canvas.column_of(*place);
        line[column] = '┬';
        let name: Vec<char> = name.chars().collect();
        let last = labels.len().saturating_sub(name.len());
        let start = (margin + 1 + column)
            .saturating_sub(name.len() / 2)
            .min(last);
        let end = (start + name.len()).min(labels.len());
        // A label that would touch its neighbour is left out.
        let around = &labels[start.saturating_sub(1)..(end + 1).min(labels.len())];
        if around.iter().all(|cell| *cell == ' ') {
            labels[start..end].copy_from_slice(&name[..end - start]);
        }
    }
    let line: String = line.into_iter().collect();
    let labels: String = labels.into_iter().collect();
    format!(
        "{AXIS}{:margin$}└{line}{AXIS:#}\n{AXIS}{}{AXIS:#}\n{:>end$}\n",
        "",
        labels.trim_end(),
        figure.x_label,
        end = margin + 1 + columns,
    )
}

fn legend(figure: &Figure, margin: usize) -> String {
    let names: Vec<String> = figure
        .series
        .iter()
        .rev()
        .filter_map(|series| {
            let (glyph, style) = match series.mark {
                Mark::Band(_) => (BAND_GLYPH.to_string().repeat(2), BAND),
                Mark::Line(_) => (braille(DOTS[1][0] | DOTS[1][1]).to_string().repeat(2), LINE),
                Mark::Points(_) => (POINT_GLYPH.to_string(), POINT),
                Mark::Dashes(_) | Mark::Rings(_) | Mark::Shades(_) | Mark::Bars(_) => return None,
            };
            Some(format!("{style}{glyph}{style:#} {}", series.name))
        })
        .collect();
    format!("{:margin$} {}\n", "", names.join("   "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture without colour codes.
    fn plain(figure: &Figure, width: usize, height: usize) -> String {
        anstream::adapter::strip_str(&render(figure, width, height)).to_string()
    }

    fn ramp() -> Figure {
        Figure::new("ramp", "input", "output")
            .with(
                "interval",
                Mark::Band(vec![(0.0, -0.5, 0.5), (10.0, 9.0, 11.0)]),
            )
            .with("rows", Mark::Points(vec![(2.0, 9.0)]))
            .with("mean", Mark::Line(vec![(0.0, 0.0), (10.0, 10.0)]))
    }

    #[test]
    fn picture_of_a_ramp_is_the_one_checked_by_eye() {
        let picture = plain(&ramp(), 44, 8);
        let expected = include_str!("terminal_ramp.txt");
        assert_eq!(picture, expected, "\n{picture}");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for width in [40, 60, 100] {
            for line in plain(&ramp(), width, 12).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn nothing_to_draw_gives_no_picture() {
        assert_eq!(render(&Figure::new("", "", ""), 60, 10), "");
        let hole = Figure::new("", "", "").with("p", Mark::Points(vec![(f64::NAN, 1.0)]));
        assert_eq!(render(&hole, 60, 10), "");
    }

    #[test]
    fn gaps_and_huge_numbers_do_not_disturb() {
        let figure = Figure::new("", "x", "y").with(
            "mean",
            Mark::Line(vec![
                (0.0, 1e300),
                (1.0, f64::NAN),
                (2.0, -1e300),
                (3.0, 0.0),
            ]),
        );
        let picture = plain(&figure, 60, 10);
        assert!(picture.lines().count() >= 12);
    }
}
