//! Numbers as short text.

use std::time::Duration;

/// `value` with `digits` significant digits, without an exponent where that stays short.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.is_nan() {
        return "not a number".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    let digits = digits.max(1);
    // The exponent is read after rounding, so that 9.9996 counts as 10.00 and not as 9.9996.
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..7).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{mantissa}e{exponent}")
}

/// A share as a percentage with one decimal: `95.0 %`.
pub fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{:.1} %", share * 100.0)
    } else {
        significant(share, 3)
    }
}

/// A count with its noun in the right number, digits in groups of three: `1 row`, `12,000 rows`.
pub fn count(number: usize, noun: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.len() > 4 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let ending = if number == 1 { "" } else { "s" };
    format!("{grouped} {noun}{ending}")
}

/// A size in bytes: `812 B`, `4.2 KiB`.
pub fn bytes(number: u64) -> String {
    let mut size = number as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            let decimals = if unit == "B" || size >= 100.0 { 0 } else { 1 };
            return format!("{size:.decimals$} {unit}");
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// A time span as people say it: `0.42 s`, `17 s`, `3 min 20 s`, `2 h 5 min`.
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        s if s < 9.95 => format!("{s:.2} s"),
        s if s < 59.5 => format!("{s:.0} s"),
        s if s < 3570.0 => {
            let whole = s.round() as u64;
            format!("{} min {} s", whole / 60, whole % 60)
        }
        s => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_kept_over_all_sizes() {
        for (value, text) in [
            (0.0, "0"),
            (std::f64::consts::PI, "3.142"),
            (-0.000123456, "-0.0001235"),
            (123456.7, "123457"),
            (9.9996, "10.00"),
            (0.99996, "1.000"),
            (1.5e300, "1.500e300"),
            (1.23456e-9, "1.235e-9"),
            (f64::NEG_INFINITY, "-∞"),
            (f64::NAN, "not a number"),
        ] {
            assert_eq!(significant(value, 4), text);
        }
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!(count(1234, "row"), "1234 rows");
        assert_eq!(count(1234567, "row"), "1,234,567 rows");
    }

    #[test]
    fn shares_sizes_and_spans_carry_their_unit() {
        assert_eq!(percent(0.9512), "95.1 %");
        assert_eq!(bytes(812), "812 B");
        assert_eq!(bytes(4301), "4.2 KiB");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
        assert_eq!(duration(Duration::from_millis(420)), "0.42 s");
        assert_eq!(duration(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(duration(Duration::from_secs(7500)), "2 h 5 min");
        assert_eq!(duration(Duration::from_secs_f64(59.7)), "1 min 0 s");
    }
}
