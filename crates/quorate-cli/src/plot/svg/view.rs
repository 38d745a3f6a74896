//! Places on the page.

use super::super::range::Range;
use super::super::{Axis, Figure};

/// Size of a drawing and of the margins around its frame.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// Data units to places on the page.
pub struct View {
    pub layout: Layout,
    pub x: Range,
    pub y: Range,
    x_axis: Axis,
    y_axis: Axis,
}

impl View {
    /// The view of a figure, if there is anything to draw.
    pub fn of(figure: &Figure, layout: Layout) -> Option<Self> {
        let (x, y) = figure.extent()?;
        Some(Self {
            layout,
            x,
            y: match figure.y.range {
                Some(_) => y,
                None => y.padded(0.04),
            },
            x_axis: figure.x,
            y_axis: figure.y,
        })
    }

    /// Of a place on the horizontal axis.
    pub fn across(&self, x: f64) -> f64 {
        let Layout {
            width, left, right, ..
        } = self.layout;
        left + self.x.fraction(x) * (width - left - right)
    }

    /// Of a place on the vertical axis.
    pub fn down(&self, y: f64) -> f64 {
        let Layout {
            height,
            top,
            bottom,
            ..
        } = self.layout;
        height - bottom - self.y.fraction(y) * (height - top - bottom)
    }

    /// Of a row, where both numbers have a place inside the frame.
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x_axis.place(x), self.y_axis.place(y));
        let inside =
            |range: &Range, value: f64| (-1e-9..=1.0 + 1e-9).contains(&range.fraction(value));
        (inside(&self.x, x) && inside(&self.y, y)).then(|| (self.across(x), self.down(y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Mark;

    #[test]
    fn every_mark_stays_inside_the_frame() {
        let layout = Layout {
            width: 200.0,
            height: 100.0,
            left: 10.0,
            right: 20.0,
            top: 5.0,
            bottom: 15.0,
        };
        let mut figure =
            Figure::new("", "", "").with("", Mark::Line(vec![(0.0, -1.0), (2.0, 1.0)]));
        figure.y.range = Some((-1.0, 1.0));
        let view = View::of(&figure, layout).expect("something to draw");
        assert_eq!(view.place(0.0, -1.0), Some((10.0, 85.0)));
        assert_eq!(view.place(2.0, 1.0), Some((180.0, 5.0)));
        for outside in [(f64::NAN, 0.0), (0.0, 2.0), (-0.1, 0.0)] {
            assert_eq!(view.place(outside.0, outside.1), None);
        }
        figure.x.logarithmic = true;
        figure.x.range = Some((1.0, 100.0));
        let view = View::of(&figure, layout).expect("something to draw");
        assert_eq!(view.place(10.0, 0.0), Some((95.0, 45.0)));
        assert_eq!(view.place(0.0, 0.0), None);
    }
}
