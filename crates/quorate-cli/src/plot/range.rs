//! The part of an axis that a figure shows.

/// A closed interval of finite numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub const EMPTY: Range = Range {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    pub fn include(&mut self, value: f64) {
        if value.is_finite() {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        }
    }

    /// The same range, widened when it is a single number so that it can be divided by its width.
    pub fn opened(self) -> Range {
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

    /// A little room at both ends, so that no mark touches the frame.
    pub fn padded(self, share: f64) -> Range {
        let room = (self.high / 2.0 - self.low / 2.0) * 2.0 * share;
        Range {
            low: (self.low - room).max(f64::MIN),
            high: (self.high + room).min(f64::MAX),
        }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end. Halves keep the width finite for numbers near 1e308.
    pub fn fraction(&self, value: f64) -> f64 {
        (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }
}
