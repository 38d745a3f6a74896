//! Mean and deviation that stay finite for any finite numbers, and the scaling made of them.

use serde::{Deserialize, Serialize};

/// Centre and width of some numbers: `(x - mean) / deviation` is their standardised form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Weighted mean.
    pub mean: f64,
    /// Weighted population standard deviation; always positive and normal.
    pub deviation: f64,
}

impl Scale {
    /// Mean and deviation of numbers with weights; a deviation of `None` means that the numbers are all the same.
    ///
    /// Weight k gives the same sums as k copies. Numbers are divided by a power of two near the largest of them, which
    /// is exact, so squares neither overflow nor vanish; the mean is corrected once by the mean of what is left, and
    /// the deviation is taken about it (the two-pass form of Chan, Golub and LeVeque 1983, eq. 1.7).
    pub fn measure(cells: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, Option<f64>) {
        let mut largest = 0.0f64;
        let mut heaviest = 0.0f64;
        let mut range: Option<(f64, f64)> = None;
        for (value, weight) in cells.clone() {
            largest = largest.max(value.abs());
            heaviest = heaviest.max(weight);
            range = Some(range.map_or((value, value), |(low, high)| {
                (low.min(value), high.max(value))
            }));
        }
        let Some((low, high)) = range else {
            return (0.0, None);
        };
        if low == high {
            return (low, None);
        }
        let value_unit = power_of_two_below(largest);
        let weight_unit = power_of_two_below(heaviest);
        let scaled = cells.map(|(value, weight)| (value / value_unit, weight / weight_unit));

        let (mut sum, mut total) = (0.0, 0.0);
        for (value, weight) in scaled.clone() {
            sum += weight * value;
            total += weight;
        }
        let first = sum / total;
        let rest: f64 = scaled
            .clone()
            .map(|(value, weight)| weight * (value - first))
            .sum();
        let mean = first + rest / total;
        let squares: f64 = scaled
            .map(|(value, weight)| weight * (value - mean) * (value - mean))
            .sum();
        let deviation = (squares / total).sqrt() * value_unit;
        // Numbers that differ by less than the smallest normal number cannot be told apart after scaling.
        let deviation = (deviation >= f64::MIN_POSITIVE).then_some(deviation);
        (mean * value_unit, deviation)
    }

    /// The standardised form.
    pub fn apply(&self, value: f64) -> f64 {
        let distance = value - self.mean;
        if distance.is_finite() {
            distance / self.deviation
        } else {
            // Two huge numbers of opposite sign: halves are exact and their difference is finite.
            (value * 0.5 - self.mean * 0.5) / self.deviation * 2.0
        }
    }

    /// The number with this standardised form.
    pub fn undo(&self, standardised: f64) -> f64 {
        let whole = self.mean + self.deviation * standardised;
        if whole.is_finite() {
            whole
        } else {
            (self.mean * 0.5 + self.deviation * 0.5 * standardised) * 2.0
        }
    }

    /// True when both numbers can be used for scaling.
    pub fn is_sound(&self) -> bool {
        self.mean.is_finite() && self.deviation.is_finite() && self.deviation >= f64::MIN_POSITIVE
    }
}

/// The power of two at or just below a positive number, kept in the range whose inverse is finite.
fn power_of_two_below(value: f64) -> f64 {
    let exponent_bits = (value.to_bits() >> 52) & 0x7ff;
    f64::from_bits(exponent_bits.clamp(1, 0x7fd) << 52)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unweighted(values: &[f64]) -> (f64, Option<f64>) {
        Scale::measure(values.iter().map(|&value| (value, 1.0)))
    }

    #[test]
    fn mean_and_deviation_known_by_hand() {
        assert_eq!(
            unweighted(&[1.0, 2.0, 3.0, 6.0]),
            (3.0, Some(3.5f64.sqrt()))
        );
    }

    #[test]
    fn equal_numbers_have_no_deviation() {
        assert_eq!(unweighted(&[0.1, 0.1, 0.1]), (0.1, None));
        assert_eq!(unweighted(&[]), (0.0, None));
    }

    #[test]
    fn huge_and_tiny_numbers_neither_overflow_nor_vanish() {
        let (mean, deviation) = unweighted(&[f64::MAX, -f64::MAX, f64::MAX, -f64::MAX]);
        assert_eq!((mean, deviation), (0.0, Some(f64::MAX)));
        let (mean, deviation) = unweighted(&[1e-300, 3e-300]);
        assert!((mean / 2e-300 - 1.0).abs() < 1e-15);
        assert!((deviation.unwrap() / 1e-300 - 1.0).abs() < 1e-15);
        let (_, deviation) = unweighted(&[0.0, 5e-324]);
        assert_eq!(deviation, None);
    }

    #[test]
    fn a_large_offset_does_not_spoil_the_deviation() {
        let (mean, deviation) = unweighted(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        assert_eq!(mean, 1e9 + 10.0);
        assert_eq!(deviation, Some(22.5f64.sqrt()));
    }

    #[test]
    fn powers_of_two() {
        assert_eq!(power_of_two_below(1.0), 1.0);
        assert_eq!(power_of_two_below(7.9), 4.0);
        assert_eq!(power_of_two_below(0.0), f64::MIN_POSITIVE);
        assert_eq!(power_of_two_below(f64::MAX), 2f64.powi(1022));
    }

    proptest! {
        #[test]
        fn standardise_then_undo_gives_the_number_back(
            values in prop::collection::vec((prop::num::f64::NORMAL | prop::num::f64::ZERO).prop_map(|x| x * 0.5), 2..40)
        ) {
            let (mean, deviation) = unweighted(&values);
            prop_assert!(mean.is_finite());
            if let Some(deviation) = deviation {
                let scale = Scale { mean, deviation };
                prop_assert!(scale.is_sound());
                for &value in &values {
                    let standardised = scale.apply(value);
                    prop_assert!(standardised.abs() <= (values.len() as f64).sqrt() * (1.0 + 1e-9));
                    let back = scale.undo(standardised);
                    let size = value.abs().max(mean.abs()).max(deviation);
                    prop_assert!((back * 0.25 - value * 0.25).abs() <= 1e-14 * size, "{value} came back as {back}");
                }
            }
        }

        #[test]
        fn a_weight_of_k_equals_k_copies(
            rows in prop::collection::vec((-1e3..1e3f64, 0usize..4), 1..30)
        ) {
            let copies: Vec<f64> = rows.iter().flat_map(|&(value, count)| vec![value; count]).collect();
            let weighted = rows.iter().filter(|row| row.1 > 0).map(|&(value, count)| (value, count as f64));
            let (mean, deviation) = Scale::measure(weighted);
            let (copied_mean, copied_deviation) = unweighted(&copies);
            prop_assert!((mean - copied_mean).abs() <= 1e-11);
            prop_assert_eq!(deviation.is_some(), copied_deviation.is_some());
            prop_assert!((deviation.unwrap_or(0.0) - copied_deviation.unwrap_or(0.0)).abs() <= 1e-11);
        }
    }
}
