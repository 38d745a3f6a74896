//! Dates and date-times of ISO 8601 as days since 1970-01-01, with the time of day as a fraction.

use chrono::{Datelike, Days, NaiveDate};

const SECONDS_PER_DAY: f64 = 86_400.0;
const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;
/// Days from 0001-01-01 (day 1) to 1970-01-01.
const EPOCH: i32 = 719_163;

/// `2024-05-31`, `2024-05-31T12:30`, `2024-05-31 12:30:15.25`, each with `Z` or `+02:00` behind the time if wished.
pub(crate) fn parse(cell: &[u8]) -> Option<f64> {
    let cell = cell.trim_ascii();
    if cell.len() < 10 || cell[4] != b'-' || cell[7] != b'-' {
        return None;
    }
    let year = digits(&cell[..4])?;
    let date = NaiveDate::from_ymd_opt(year as i32, digits(&cell[5..7])?, digits(&cell[8..10])?)?;
    let days = f64::from(date.num_days_from_ce() - EPOCH);
    if cell.len() == 10 {
        return Some(days);
    }
    if !matches!(cell[10], b'T' | b't' | b' ') {
        return None;
    }
    Some(days + seconds(&cell[11..])? / SECONDS_PER_DAY)
}

/// Seconds of `hh:mm[:ss[.fraction]]` with an optional zone, which is subtracted.
fn seconds(time: &[u8]) -> Option<f64> {
    let (time, zone) = split_zone(time)?;
    if time.len() < 5 || time[2] != b':' {
        return None;
    }
    let (hours, minutes) = (digits(&time[..2])?, digits(&time[3..5])?);
    let seconds = match time.get(5) {
        None => 0.0,
        Some(b':') => {
            let text = &time[6..];
            let whole = digits(text.get(..2)?)?;
            match text.get(2) {
                None => f64::from(whole),
                Some(b'.') if text.len() > 3 && text[3..].iter().all(u8::is_ascii_digit) => {
                    std::str::from_utf8(text).ok()?.parse().ok()?
                }
                Some(_) => return None,
            }
        }
        Some(_) => return None,
    };
    // A leap second is written 60.
    if hours > 23 || minutes > 59 || seconds >= 61.0 {
        return None;
    }
    Some(f64::from(hours * 3600 + minutes * 60) + seconds - zone)
}

/// The time without its zone, and the zone in seconds east of Greenwich.
fn split_zone(time: &[u8]) -> Option<(&[u8], f64)> {
    if let Some(time) = time.strip_suffix(b"Z").or_else(|| time.strip_suffix(b"z")) {
        return Some((time, 0.0));
    }
    let Some(sign) = time.iter().position(|&byte| byte == b'+' || byte == b'-') else {
        return Some((time, 0.0));
    };
    let zone = &time[sign + 1..];
    let (hours, minutes) = match zone.len() {
        2 => (digits(zone)?, 0),
        4 => (digits(&zone[..2])?, digits(&zone[2..])?),
        5 if zone[2] == b':' => (digits(&zone[..2])?, digits(&zone[3..])?),
        _ => return None,
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    let east = f64::from(hours * 3600 + minutes * 60);
    Some((&time[..sign], if time[sign] == b'-' { -east } else { east }))
}

fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0u32, |value, byte| {
        byte.is_ascii_digit()
            .then(|| value * 10 + u32::from(byte - b'0'))
    })
}

/// Microseconds since 1970-01-01, the finest unit that days as a number resolve; nothing outside the calendar.
pub(crate) fn microseconds(days: f64) -> Option<i64> {
    let micros = (days * MICROSECONDS_PER_DAY as f64).round();
    (micros.abs() < 9e18).then_some(micros as i64)
}

/// The date of a number of days, with its time where it has one; nothing outside the years 0 to 9999.
pub(crate) fn format(days: f64) -> Option<String> {
    let micros = microseconds(days)?;
    let whole = micros.div_euclid(MICROSECONDS_PER_DAY);
    let time = micros.rem_euclid(MICROSECONDS_PER_DAY);
    let epoch = NaiveDate::from_num_days_from_ce_opt(EPOCH)?;
    let distance = Days::new(whole.unsigned_abs());
    let date = if whole < 0 {
        epoch.checked_sub_days(distance)?
    } else {
        epoch.checked_add_days(distance)?
    };
    if !(0..=9999).contains(&date.year()) {
        return None;
    }
    let mut text = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
    if time > 0 {
        let (seconds, fraction) = (time / 1_000_000, time % 1_000_000);
        text += &format!(
            "T{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        if fraction > 0 {
            text += format!(".{fraction:06}").trim_end_matches('0');
        }
    }
    Some(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn dates_known_by_hand() {
        for (cell, days) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-03-01", 11017.0),
            ("1970-01-02T12:00", 1.5),
            ("1970-01-01 06:00:00", 0.25),
            ("1970-01-01T00:00:00.5", 0.5 / 86400.0),
            ("1970-01-01T02:00:00+02:00", 0.0),
            ("1970-01-01T00:00:00-0600", 0.25),
            ("1970-01-01T12:00:00Z", 0.5),
            ("1970-01-01T12+06", f64::NAN),
        ] {
            let expected = (!days.is_nan()).then_some(days);
            assert_eq!(parse(cell.as_bytes()), expected, "{cell}");
        }
    }

    #[test]
    fn what_is_not_a_date() {
        for cell in [
            "",
            "2024",
            "2024-1-1",
            "2024-13-01",
            "2024-02-30",
            "2024-02-01X",
            "2024-02-01T",
            "2024-02-01T24:00",
            "2024-02-01T12:60",
            "2024-02-01T12:00:99",
            "2024-02-01T12:00:00.",
            "2024-02-01T12:00:0x",
            "+024-02-01",
            "2024-02-01T12:00+99:00",
            "2024-02-01T12:00:00.5e3",
            "12:30:00",
            "2024/02/01",
        ] {
            assert_eq!(parse(cell.as_bytes()), None, "{cell}");
        }
    }

    #[test]
    fn a_date_is_written_as_it_was_read() {
        for text in [
            "1970-01-01",
            "1815-06-18",
            "2024-02-29",
            "2024-05-31T12:30:15",
            "2024-05-31T23:59:59.999999",
            "1901-01-01T00:00:00.25",
            "0000-01-01",
            "9999-12-31",
        ] {
            assert_eq!(format(parse(text.as_bytes()).unwrap()).unwrap(), text);
        }
        for days in [f64::INFINITY, f64::NAN, 1e300, 1e8] {
            assert_eq!(format(days), None, "{days}");
        }
    }
}
