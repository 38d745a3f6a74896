//! Round numbers for the ticks of an axis.

use super::range::Range;

/// The ticks of one axis: their places and their labels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ticks {
    /// Places in the data's units, ascending.
    pub places: Vec<f64>,
    /// One label a place.
    pub labels: Vec<String>,
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten inside `range`: about `wanted` of them.
pub(super) fn ticks(range: Range, wanted: usize) -> Ticks {
    let step = nice_step(range, wanted);
    let first = (range.low / step).ceil();
    let last = (range.high / step).floor();
    // Past 2^53 steps from zero the multiples can no longer be told apart: label the two ends instead.
    let countable = first.abs().max(last.abs()) < 9.0e15;
    let places: Vec<f64> = if countable && last - first < 100.0 {
        (0..=(last - first).max(0.0) as usize)
            .map(|index| {
                let place = (first + index as f64) * step;
                // Multiples of a decimal step carry rounding dust; a tick at -0 or 1e-17 is meant to be 0.
                if place.abs() < step * 1e-6 {
                    0.0
                } else {
                    place
                }
            })
            .collect()
    } else {
        vec![range.low, range.high]
    };
    let labels = places.iter().map(|&place| label(place, step)).collect();
    Ticks { places, labels }
}

/// Ticks of a logarithmic axis, whose range is of powers of ten: whole powers, with 2 and 5 between where they are few.
pub(super) fn logarithmic_ticks(range: Range) -> Ticks {
    let (first, last) = (range.low.floor() as i32, range.high.ceil() as i32);
    let every = ((last - first) / 8).max(1);
    let digits: &[f64] = match range.high - range.low {
        width if width < 1.2 => &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        width if width < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let mut ticks = Ticks {
        places: Vec::new(),
        labels: Vec::new(),
    };
    for power in (first..=last).filter(|power| (power - first) % every == 0) {
        for digit in digits {
            let value = digit * 10f64.powi(power);
            let place = value.log10();
            if place >= range.low && place <= range.high {
                ticks.places.push(place);
                ticks.labels.push(label(value, 10f64.powi(power)));
            }
        }
    }
    ticks
}

fn nice_step(range: Range, wanted: usize) -> f64 {
    let rough = (range.high / wanted.max(1) as f64 - range.low / wanted.max(1) as f64)
        .max(f64::MIN_POSITIVE);
    let power = 10f64
        .powf(rough.log10().floor())
        .clamp(f64::MIN_POSITIVE, 1e308);
    let factor = rough / power;
    let nice = match factor {
        f if f < 1.5 => 1.0,
        f if f < 3.5 => 2.0,
        f if f < 7.5 => 5.0,
        _ => 10.0,
    };
    (nice * power).min(f64::MAX)
}

/// As many decimals as the step needs; powers of ten for very large and very small numbers.
fn label(place: f64, step: f64) -> String {
    if place == 0.0 {
        return "0".to_owned();
    }
    let largest = place.abs().max(step);
    if !(1e-4..1e6).contains(&largest) {
        return short_exponent(place);
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let text = format!("{place:.decimals$}");
    if largest < 1e4 { text } else { grouped(&text) }
}

/// Digits before the point in groups of three.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

fn short_exponent(value: f64) -> String {
    let text = format!("{value:.3e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}e{power}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, wanted: usize) -> Vec<String> {
        ticks(Range { low, high }, wanted).labels
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-1.13, 1.2, 5), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels(0.0312, 0.0349, 4), ["0.032", "0.033", "0.034"]);
        assert_eq!(labels(0.0, 20_000.0, 2), ["0", "10,000", "20,000"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_and_few() {
        let ticks = |low: f64, high: f64| {
            let range = Range {
                low: low.log10(),
                high: high.log10(),
            };
            logarithmic_ticks(range).labels
        };
        assert_eq!(ticks(0.5, 2e4), ["1", "10", "100", "1000", "10,000"]);
        assert_eq!(ticks(0.01, 0.3), ["0.01", "0.02", "0.05", "0.1", "0.2"]);
        assert!(ticks(1e-300, 1e300).len() < 20);
        assert!(!ticks(3.0, 5.5).is_empty());
    }

    #[test]
    fn ticks_of_extreme_ranges_stay_finite_and_short() {
        for (low, high) in [
            (-1e300, 1e300),
            (-f64::MAX, f64::MAX),
            (1e-300, 2e-300),
            (1e15, 1e15 + 1.0),
            (0.0, f64::MIN_POSITIVE),
        ] {
            let ticks = ticks(Range { low, high }, 5);
            assert!(!ticks.places.is_empty(), "{low} {high}");
            assert!(ticks.places.len() < 20);
            assert!(ticks.places.iter().all(|place| place.is_finite()));
            assert!(ticks.labels.iter().all(|label| label.len() < 20));
        }
        assert_eq!(
            labels(0.0, 4e300, 4),
            ["0", "1e300", "2e300", "3e300", "4e300"]
        );
    }
}
