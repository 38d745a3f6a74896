//! Cells written as text: numbers, booleans, dates, and the ways to write that there is no value.

use std::sync::Arc;

use quorate_gp::data::ColumnType;

use crate::date;

/// Texts that say that there is no value, as spreadsheets, databases and other languages write it; `docs/cli.md` lists
/// them. `na` and `none` in small letters are words that labels may be.
const MISSING: [&[u8]; 5] = [b"NA", b"N/A", b"n/a", b"#N/A", b"None"];
/// The same in capitals or small letters.
const MISSING_IN_ANY_CASE: [&[u8]; 2] = [b"nan", b"null"];
/// The longest of them.
const LONGEST_MISSING: usize = 4;

/// True for a cell that says that there is no value: an empty one, or one with such a text.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.is_empty()
        || cell.len() <= LONGEST_MISSING
            && (MISSING.contains(&cell)
                || MISSING_IN_ANY_CASE
                    .iter()
                    .any(|text| cell.eq_ignore_ascii_case(text)))
}

/// A number, also an infinite one.
pub(crate) fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

/// True or false, as 1 or 0.
pub(crate) fn boolean(cell: &[u8]) -> Option<f64> {
    let cell = cell.trim_ascii();
    if cell.eq_ignore_ascii_case(b"true") {
        Some(1.0)
    } else if cell.eq_ignore_ascii_case(b"false") {
        Some(0.0)
    } else {
        None
    }
}

/// A cell of a column of the given type (not text); NaN when it is missing, nothing when it does not fit.
pub(crate) fn value(cell: &[u8], column_type: ColumnType) -> Option<f64> {
    let parsed = match column_type {
        ColumnType::Number | ColumnType::Text => number(cell),
        ColumnType::Boolean => {
            boolean(cell).or_else(|| number(cell).filter(|&x| x == 0.0 || x == 1.0))
        }
        ColumnType::Date => date::parse(cell),
    };
    parsed.or_else(|| is_missing(cell).then_some(f64::NAN))
}

/// What a cell looks like on its own; nothing when it is missing.
pub(crate) fn kind(cell: &[u8]) -> Option<ColumnType> {
    if is_missing(cell) {
        None
    } else if number(cell).is_some() {
        Some(ColumnType::Number)
    } else if boolean(cell).is_some() {
        Some(ColumnType::Boolean)
    } else if date::parse(cell).is_some() {
        Some(ColumnType::Date)
    } else {
        Some(ColumnType::Text)
    }
}

/// A cell for a message: all of it, or its beginning.
pub(crate) fn shown(cell: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(cell);
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().count() > SHOWN {
        shown.push('…');
    }
    shown
}

/// The problem of a cell that does not fit its column.
pub(crate) fn misfit(cell: &[u8], column_type: ColumnType) -> String {
    let shown = shown(cell);
    let expected = match column_type {
        ColumnType::Number => "a number",
        ColumnType::Boolean => "true or false",
        ColumnType::Date => "a date such as 2024-05-31 or 2024-05-31T12:30:00",
        ColumnType::Text => "text",
    };
    format!("«{shown}» is not {expected}; correct the cell, or leave it empty if it is not known")
}

/// Texts that are equal share their memory, as the levels of a category do; a column of texts that are all different
/// stops looking for equal ones.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    known: std::collections::HashSet<Arc<str>>,
}

impl Shared {
    const MOST: usize = 10_000;

    pub fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        if self.known.len() < Self::MOST {
            self.known.insert(new.clone());
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_what_they_look_like() {
        for (cell, expected) in [
            ("1.5", Some(ColumnType::Number)),
            (" -2e-3 ", Some(ColumnType::Number)),
            (".5", Some(ColumnType::Number)),
            ("1e999", Some(ColumnType::Number)),
            ("-inf", Some(ColumnType::Number)),
            ("007", Some(ColumnType::Number)),
            ("1,234", Some(ColumnType::Text)),
            ("12 m", Some(ColumnType::Text)),
            ("0x10", Some(ColumnType::Text)),
            ("1_000", Some(ColumnType::Text)),
            ("True", Some(ColumnType::Boolean)),
            ("yes", Some(ColumnType::Text)),
            ("2024-02-29", Some(ColumnType::Date)),
            ("2023-02-29", Some(ColumnType::Text)),
            ("na", Some(ColumnType::Text)),
            ("", None),
            ("  ", None),
            ("NA", None),
            ("NaN", None),
            ("nan", None),
            ("null", None),
            ("NULL", None),
            ("N/A", None),
            (" n/a ", None),
            ("#N/A", None),
            ("None", None),
            ("none", Some(ColumnType::Text)),
        ] {
            assert_eq!(kind(cell.as_bytes()), expected, "«{cell}»");
        }
    }

    #[test]
    fn cells_of_a_known_type() {
        assert_eq!(value(b"1e999", ColumnType::Number), Some(f64::INFINITY));
        assert_eq!(value(b"x", ColumnType::Number), None);
        assert!(value(b"", ColumnType::Date).is_some_and(f64::is_nan));
        assert_eq!(value(b"1", ColumnType::Boolean), Some(1.0));
        assert_eq!(value(b"2", ColumnType::Boolean), None);
        assert_eq!(value(b"1970-01-02", ColumnType::Date), Some(1.0));
        assert_eq!(value(b"5", ColumnType::Date), None);
    }

    #[test]
    fn equal_texts_share_their_memory() {
        let mut shared = Shared::default();
        assert!(Arc::ptr_eq(&shared.get("a"), &shared.get("a")));
    }
}
