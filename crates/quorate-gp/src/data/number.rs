//! How a column of numbers becomes a standardised one, also where a few of them lie far from all others or where their logarithms
//! tell more.

use serde::{Deserialize, Serialize};

use super::scale::Scale;

/// Fourth moment, in squared variances, from which a column is squeezed; a normal distribution has 3, and n rows of which
/// one lies far out have n. Below it length scales find their way: squeezing what has 5 to 100 made regressions worse.
const HEAVY: f64 = 500.0;

/// The unit of distances from the median is their mean, but at most this many times the median of those that are not 0.
const MOST_MEDIANS: f64 = 5.0;

/// Fewer different numbers than that are codes of something, not measurements.
const MEASURED: usize = 5;

/// Positive numbers of which the largest is less than so many times the smallest have logarithms that are nearly lines.
const LEAST_RATIO: f64 = 2.0;

/// The least of the numbers whose logarithms are taken, in the unit of `asinh`: there it grows within 1 % as fast as the logarithm.
const LEAST_IN_UNITS: f64 = 8.0;

/// The scaling of a column of numbers: standardised, of its `asinh` where it is squeezed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberScale {
    /// Mean and deviation, of the squeezed numbers where they are squeezed.
    #[serde(flatten)]
    pub standard: Scale,
    /// Median of the numbers and their usual distance from it: `asinh` of the distance in these units is what is standardised. Where
    /// logarithms are taken, 0 and a unit far below all numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squeezed: Option<Scale>,
}

impl NumberScale {
    /// The scaling with nothing squeezed.
    pub fn plain(standard: Scale) -> Self {
        Self {
            standard,
            squeezed: None,
        }
    }

    /// The scaling of numbers with weights, squeezed; none where they have no outliers that ask for it.
    ///
    /// A column most of whose rows share a thousandth of its range leaves them too close to tell apart, and those that
    /// lie outside too far from each other to learn from.
    pub fn of_outliers(standard: Scale, cells: &[(f64, f64)]) -> Option<Self> {
        let total: f64 = cells.iter().map(|(_, weight)| weight).sum();
        let fourth = cells
            .iter()
            .map(|&(value, weight)| weight * standard.apply(value).powi(4));
        let moment = fourth.sum::<f64>() / total;
        // A rare yes among many noes is no outlier: standardised, two values stay what they are.
        let (low, high) = range(cells);
        let is_flag = cells.iter().all(|&(cell, _)| cell == low || cell == high);
        if moment.is_nan() || moment < HEAVY || is_flag {
            return None;
        }
        let middle = median(cells, total);
        let around = Scale {
            mean: middle,
            deviation: 1.0,
        };
        let away = |&(value, weight): &(f64, f64)| (around.apply(value).abs(), weight);
        let distances: Vec<(f64, f64)> = cells.iter().map(away).collect();
        let mean: f64 = distances.iter().map(|(far, own)| own / total * far).sum();
        // The mean alone would follow one absurd number wherever it goes.
        let apart: Vec<(f64, f64)> = distances.into_iter().filter(|cell| cell.0 > 0.0).collect();
        let weight = apart.iter().map(|(_, weight)| weight).sum();
        let squeezed = Scale {
            mean: middle,
            deviation: mean.min(MOST_MEDIANS * median(&apart, weight)),
        };
        Self::squeezed_by(squeezed, cells)
    }

    /// The scaling of the logarithms of numbers with weights; none where one is not positive, or where they are nearly lines.
    ///
    /// It is `asinh` in a unit so small that all numbers of training are far above it: a number to come may be 0 or less.
    pub fn of_logarithms(cells: &[(f64, f64)]) -> Option<Self> {
        let (low, high) = range(cells);
        let mut values: Vec<f64> = cells.iter().map(|cell| cell.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() < MEASURED || low <= 0.0 || high < LEAST_RATIO * low {
            return None;
        }
        let squeezed = Scale {
            mean: 0.0,
            deviation: low / LEAST_IN_UNITS,
        };
        Self::squeezed_by(squeezed, cells)
    }

    fn squeezed_by(squeezed: Scale, cells: &[(f64, f64)]) -> Option<Self> {
        if !squeezed.is_sound() {
            return None;
        }
        let inner = cells
            .iter()
            .map(|&(value, weight)| (squeezed.apply(value).asinh(), weight));
        let (mean, deviation) = Scale::measure(inner);
        deviation.map(|deviation| Self {
            standard: Scale { mean, deviation },
            squeezed: Some(squeezed),
        })
    }

    /// The standardised form.
    pub fn apply(&self, value: f64) -> f64 {
        match self.squeezed {
            None => self.standard.apply(value),
            Some(inner) => self.standard.apply(inner.apply(value).asinh()),
        }
    }

    /// The number with this standardised form.
    pub fn undo(&self, standardised: f64) -> f64 {
        let outer = self.standard.undo(standardised);
        match self.squeezed {
            None => outer,
            // The largest numbers there are may come back beyond them by rounding.
            Some(inner) => inner.undo(outer.sinh()).clamp(f64::MIN, f64::MAX),
        }
    }

    /// The number in the middle, which stands for cells without one.
    pub fn centre(&self) -> f64 {
        self.undo(0.0)
    }

    /// What a standardised 1 is in the column's own units; near the centre where it is squeezed.
    pub fn unit(&self) -> f64 {
        let stretch = |inner: Scale| inner.deviation * self.standard.mean.cosh();
        self.standard.deviation * self.squeezed.map_or(1.0, stretch)
    }

    /// True when all numbers can be used for scaling.
    pub fn is_sound(&self) -> bool {
        self.standard.is_sound() && self.squeezed.is_none_or(|inner| inner.is_sound())
    }
}

/// The least and the largest number.
fn range(cells: &[(f64, f64)]) -> (f64, f64) {
    let each = || cells.iter().map(|cell| cell.0);
    (
        each().fold(f64::MAX, f64::min),
        each().fold(f64::MIN, f64::max),
    )
}

/// The least number that at least half of the weight does not exceed.
fn median(cells: &[(f64, f64)], total: f64) -> f64 {
    let mut sorted = cells.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    for (value, weight) in &sorted {
        below += weight;
        if below >= 0.5 * total {
            return *value;
        }
    }
    sorted.last().map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn scale(cells: &[(f64, f64)]) -> Scale {
        let (mean, deviation) = Scale::measure(cells.iter().copied());
        Scale {
            mean,
            deviation: deviation.unwrap(),
        }
    }

    fn with_outlier(rows: usize, outlier: f64) -> Vec<(f64, f64)> {
        let mut cells: Vec<(f64, f64)> = (0..rows).map(|i| ((i % 7) as f64 - 3.0, 1.0)).collect();
        cells[rows / 2].0 = outlier;
        cells
    }

    #[test]
    fn ordinary_numbers_stay_as_they_are() {
        let cells = with_outlier(2000, 20.0);
        assert_eq!(NumberScale::of_outliers(scale(&cells), &cells), None);
        let few = with_outlier(400, 1e9);
        assert_eq!(NumberScale::of_outliers(scale(&few), &few), None);
        let flag: Vec<(f64, f64)> = (0..2000).map(|i| (f64::from(i == 7), 1.0)).collect();
        assert_eq!(NumberScale::of_outliers(scale(&flag), &flag), None);
    }

    #[test]
    fn outliers_come_near_and_go_back() {
        for outlier in [1e4, -1e9, 1e300, -f64::MAX] {
            let cells = with_outlier(2000, outlier);
            let found = NumberScale::of_outliers(scale(&cells), &cells).unwrap();
            assert!(found.is_sound());
            // Those in the middle can still be told apart.
            assert!(found.apply(3.0) - found.apply(2.0) > 1e-3, "{outlier}");
            for value in [-3.0, 0.0, 2.5, outlier] {
                let there = found.apply(value);
                assert!(there.abs() < 60.0, "{value} -> {there}");
                let back = found.undo(there);
                let unit = found.squeezed.unwrap().deviation;
                assert!(
                    (back - value).abs() <= 1e-12 * (value.abs() + unit),
                    "{back}"
                );
            }
            let step = 1e-6 * found.unit();
            let middle = found.centre();
            let slope = (found.apply(middle + step) - found.apply(middle - step)) / 2e-6;
            assert!((slope - 1.0).abs() < 1e-6, "{slope}");
        }
    }

    #[test]
    fn logarithms_are_those_of_the_library() {
        let cells: Vec<(f64, f64)> = (0..40).map(|i| (1.3f64.powi(i - 7), 1.0)).collect();
        let found = NumberScale::of_logarithms(&cells).unwrap();
        let logarithms: Vec<(f64, f64)> = cells.iter().map(|(x, w)| (x.ln(), *w)).collect();
        let expected = scale(&logarithms);
        for (value, _) in &cells {
            let there = found.apply(*value);
            assert!((there - expected.apply(value.ln())).abs() < 0.01, "{value}");
            assert!((found.undo(there) - value).abs() < 1e-12 * value);
        }
        // The numbers lie evenly, so that the centre is the geometric mean.
        let middle = 1.3f64.powf(12.5);
        assert!((found.centre() / middle - 1.0).abs() < 0.01);
        let step = 1e-6 * found.unit();
        let slope = found.apply(found.centre() + step) - found.apply(found.centre() - step);
        assert!((slope / 2e-6 - 1.0).abs() < 1e-6, "{slope}");
        // What training did not have is answered, not refused, and in order.
        assert!(found.apply(-1.0) < found.apply(0.0));
        assert!(found.apply(0.0) < found.apply(cells[0].0));
        assert!(found.apply(-1e300).is_finite());
    }

    #[test]
    fn logarithms_are_for_positive_numbers_that_differ() {
        let of = |numbers: &[f64]| {
            let cells: Vec<(f64, f64)> = numbers.iter().map(|x| (*x, 1.0)).collect();
            NumberScale::of_logarithms(&cells)
        };
        assert!(of(&[1.0, 3.0, 4.0, 7.0, 9.0]).is_some());
        assert_eq!(of(&[0.0, 3.0, 4.0, 7.0, 9.0]), None);
        assert_eq!(of(&[-1.0, 3.0, 4.0, 7.0, 9.0]), None);
        assert_eq!(of(&[10.0, 12.0, 14.0, 18.0, 19.0]), None);
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 4.0, 1.0]), None);
        assert_eq!(of(&[f64::MIN_POSITIVE / 4.0, 1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn weights_stand_for_copies() {
        let cells = with_outlier(1500, 1e5);
        let weighted: Vec<(f64, f64)> = cells.iter().map(|(value, _)| (*value, 2.0)).collect();
        let copies: Vec<(f64, f64)> = cells.iter().flat_map(|&cell| [cell, cell]).collect();
        let ours = NumberScale::of_outliers(scale(&weighted), &weighted).unwrap();
        let theirs = NumberScale::of_outliers(scale(&copies), &copies).unwrap();
        for value in [-1.0, 0.5, 1e5] {
            assert!((ours.apply(value) - theirs.apply(value)).abs() < 1e-12);
        }
    }
}
