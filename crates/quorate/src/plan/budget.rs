//! Amounts as people write them: `8GiB`, `2min`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Memory(pub u64);

/// A span of time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub f64);

/// Units of memory; the exact ones that print an amount back come first, from the largest.
const MEMORY: [(&str, f64); 9] = [
    ("TiB", 1_099_511_627_776.0),
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("KiB", 1024.0),
    ("B", 1.0),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
];
const TIME: [(&str, f64); 5] = [
    ("h", 3600.0),
    ("min", 60.0),
    ("s", 1.0),
    ("m", 60.0),
    ("d", 86_400.0),
];

impl FromStr for Memory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match amount(text, &MEMORY) {
            Some(bytes) if bytes >= 1.0 && bytes < u64::MAX as f64 => Ok(Self(bytes as u64)),
            _ => Err(Error::Spec(format!(
                "`{text}` is no amount of memory: write it like 8GiB or 500MB"
            ))),
        }
    }
}

impl FromStr for Span {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match amount(text, &TIME) {
            Some(seconds) if seconds > 0.0 => Ok(Self(seconds)),
            _ => Err(Error::Spec(format!(
                "`{text}` is no span of time: write it like 90s, 2min or 1.5h"
            ))),
        }
    }
}

/// A number and its unit, with or without a space between them.
fn amount(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim();
    let (_, size) = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let amount = number * size;
    amount.is_finite().then_some(amount)
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 500 MB is a whole number of kibibytes and a half: whole units only, so that the text gives the number back.
        let exact = |(_, size): &&(&str, f64)| self.0.is_multiple_of(*size as u64);
        let (unit, size) = MEMORY.iter().find(exact).unwrap_or(&("B", 1.0));
        write!(f, "{}{unit}", self.0 / *size as u64)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.0)
    }
}

impl TryFrom<String> for Memory {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Memory> for String {
    fn from(memory: Memory) -> String {
        memory.to_string()
    }
}

impl TryFrom<String> for Span {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        span.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them_and_print_back() {
        for (text, bytes, shown) in [
            ("8GiB", 8 << 30, "8GiB"),
            ("500 MB", 500_000_000, "500000000B"),
            ("1.5gib", 3 << 29, "1536MiB"),
            ("17B", 17, "17B"),
        ] {
            let memory: Memory = text.parse().unwrap();
            assert_eq!(memory, Memory(bytes), "{text}");
            assert_eq!(memory.to_string(), shown);
            assert_eq!(shown.parse::<Memory>().unwrap(), memory);
        }
        for (text, seconds) in [("90s", 90.0), ("2min", 120.0), ("1.5 h", 5400.0)] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span, Span(seconds));
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
    }

    #[test]
    fn what_is_no_amount_is_refused_with_an_example() {
        for text in [
            "", "8", "GiB", "-1GiB", "0B", "8GiBs", "1e999GiB", "nan GiB", "8 G",
        ] {
            let error = text.parse::<Memory>().unwrap_err().to_string();
            assert!(error.contains("8GiB"), "{text}: {error}");
        }
        for text in ["", "2", "min", "-2min", "0s", "2 minutes"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains("2min"), "{text}: {error}");
        }
    }
}
