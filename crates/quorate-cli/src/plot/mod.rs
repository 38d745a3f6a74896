//! A figure of bands, bars, lines and points, drawn as SVG or as characters in a terminal.
//!
//! A [`Figure`] says what is shown; [`svg::document`], [`svg::inline`] and [`terminal::render`] say how.

mod range;
mod scale;
pub mod svg;
pub mod terminal;

use range::Range;

/// What a series looks like. Numbers that are not finite are left out of the drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// The area between two curves: `(x, lower, upper)` in order of x.
    Band(Vec<(f64, f64, f64)>),
    /// A curve.
    Line(Vec<(f64, f64)>),
    /// A thin dashed curve for comparison; a terminal is too coarse for it and leaves it out.
    Dashes(Vec<(f64, f64)>),
    /// Separate points.
    Points(Vec<(f64, f64)>),
    /// Circles around places. Not in a terminal.
    Rings(Vec<(f64, f64)>),
    /// Points with a shade from 0, pale, to 1, strong: `(x, y, shade)`. Not in a terminal.
    Shades(Vec<(f64, f64, f64)>),
    /// Bars that stand on zero: `(from, to, height)`. Not in a terminal.
    Bars(Vec<(f64, f64, f64)>),
}

/// The colour of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// The usual one of its mark.
    #[default]
    Own,
    /// One of six that can be told apart, counted from 0; larger numbers begin again.
    Number(usize),
    /// In the background.
    Faint,
}

/// One named series of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend; a series without a name is not in the legend.
    pub name: String,
    /// Its shape and numbers.
    pub mark: Mark,
    /// Its colour.
    pub tone: Tone,
}

/// How an axis is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axis {
    /// Equal steps are equal factors. Numbers that are not positive are left out.
    pub logarithmic: bool,
    /// Lowest and highest number shown, instead of those of the series.
    pub range: Option<(f64, f64)>,
}

/// What a plot shows; series are drawn in order, the first one at the back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Heading of the figure.
    pub title: String,
    /// What the figure shows, in words, for those who cannot see it.
    pub description: String,
    /// Name of the horizontal axis.
    pub x_label: String,
    /// Name of the vertical axis.
    pub y_label: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, back to front.
    pub series: Vec<Series>,
}

impl Figure {
    /// A figure with no series yet.
    pub fn new(
        title: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            ..Self::default()
        }
    }

    /// The same figure with one more series in front of the others.
    pub fn with(self, name: impl Into<String>, mark: Mark) -> Self {
        self.with_tone(name, mark, Tone::Own)
    }

    /// The same, in a colour of its own.
    pub fn with_tone(mut self, name: impl Into<String>, mark: Mark, tone: Tone) -> Self {
        self.series.push(Series {
            name: name.into(),
            mark,
            tone,
        });
        self
    }

    /// The same figure, described in words.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Smallest and largest x and y of all series on their axes, `None` when there is nothing to draw.
    fn extent(&self) -> Option<(Range, Range)> {
        let mut x = Range::EMPTY;
        let mut y = Range::EMPTY;
        for series in &self.series {
            match &series.mark {
                Mark::Band(rows) => {
                    for &(at, lower, upper) in rows {
                        x.include(self.x.place(at));
                        y.include(self.y.place(lower));
                        y.include(self.y.place(upper));
                    }
                }
                Mark::Bars(rows) => {
                    for &(from, to, height) in rows {
                        x.include(self.x.place(from));
                        x.include(self.x.place(to));
                        y.include(self.y.place(height));
                        y.include(self.y.place(0.0));
                    }
                }
                Mark::Shades(rows) => {
                    for &(at, value, _) in rows {
                        x.include(self.x.place(at));
                        y.include(self.y.place(value));
                    }
                }
                Mark::Line(rows) | Mark::Dashes(rows) | Mark::Points(rows) | Mark::Rings(rows) => {
                    for &(at, value) in rows {
                        x.include(self.x.place(at));
                        y.include(self.y.place(value));
                    }
                }
            }
        }
        (x.low <= x.high && y.low <= y.high).then(|| (self.x.shown(x), self.y.shown(y)))
    }
}

impl Axis {
    /// Where a number lies along the axis: itself or its logarithm; not a number where it has no place.
    fn place(&self, value: f64) -> f64 {
        match self.logarithmic {
            false => value,
            true if value > 0.0 => value.log10(),
            true => f64::NAN,
        }
    }

    /// The part of the axis that is shown when the series fill `filled`.
    fn shown(&self, filled: Range) -> Range {
        match self.range {
            Some((low, high)) => Range {
                low: self.place(low),
                high: self.place(high),
            },
            None => filled,
        }
        .opened()
    }
}
