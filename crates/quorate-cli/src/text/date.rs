//! Dates, which tables hold as days since 1970-01-01.

use chrono::DateTime;

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// Days since 1970-01-01 as a date, with the time of day where there is one; the plain number when no calendar has it.
pub fn date(days: f64) -> String {
    let form = if days.fract() == 0.0 {
        "%Y-%m-%d"
    } else {
        "%Y-%m-%dT%H:%M:%S%.f"
    };
    match DateTime::from_timestamp_millis((days * MILLISECONDS_A_DAY).round() as i64) {
        Some(date) => date.format(form).to_string(),
        None => days.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates_and_parts_of_days_times() {
        assert_eq!(date(0.0), "1970-01-01");
        assert_eq!(date(-1.0), "1969-12-31");
        assert_eq!(date(19_358.25), "2023-01-01T06:00:00");
        assert_eq!(date(1e18), "1000000000000000000");
    }
}
