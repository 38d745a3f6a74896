//! A figure of bands, lines and points, drawn as an SVG file or as characters in a terminal.
//!
//! A [`Figure`] says what is shown; [`svg::render`] and [`terminal::render`] say how.

mod scale;
pub mod svg;
pub mod terminal;

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
}

/// One named series of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its shape and numbers.
    pub mark: Mark,
}

/// What a plot shows; series are drawn in order, the first one at the back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Heading of the figure.
    pub title: String,
    /// Name of the horizontal axis.
    pub x_label: String,
    /// Name of the vertical axis.
    pub y_label: String,
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
            series: Vec::new(),
        }
    }

    /// The same figure with one more series in front of the others.
    pub fn with(mut self, name: impl Into<String>, mark: Mark) -> Self {
        self.series.push(Series {
            name: name.into(),
            mark,
        });
        self
    }

    /// Smallest and largest finite x and y of all series, `None` when there is nothing to draw.
    fn extent(&self) -> Option<(Range, Range)> {
        let mut x = Range::EMPTY;
        let mut y = Range::EMPTY;
        for series in &self.series {
            match &series.mark {
                Mark::Band(rows) => {
                    for &(at, lower, upper) in rows {
                        x.include(at);
                        y.include(lower);
                        y.include(upper);
                    }
                }
                Mark::Line(rows) | Mark::Dashes(rows) | Mark::Points(rows) => {
                    for &(at, value) in rows {
                        x.include(at);
                        y.include(value);
                    }
                }
            }
        }
        (x.low <= x.high && y.low <= y.high).then(|| (x.opened(), y.opened()))
    }
}

/// A closed interval of finite numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const EMPTY: Range = Range {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn include(&mut self, value: f64) {
        if value.is_finite() {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        }
    }

    /// The same range, widened when it is a single number so that it can be divided by its width.
    fn opened(self) -> Range {
        if self.high > self.low {
            return self;
        }
        let half = if self.low == 0.0 {
            1.0
        } else {
            self.low.abs() / 2.0
        };
        Range {
            low: (self.low - half).max(f64::MIN),
            high: (self.high + half).min(f64::MAX),
        }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end. Halves keep the width finite for numbers near 1e308.
    fn fraction(&self, value: f64) -> f64 {
        (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }
}
