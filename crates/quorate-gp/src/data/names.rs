//! Column names: checked for clashes, and the nearest one suggested when a name is not found.

use std::collections::HashSet;

use crate::error::Location;
use crate::{Error, Result};

use super::frame::Header;

/// An error when a column has no name or two columns share one.
pub fn check_names(header: &Header) -> Result<()> {
    let mut seen = HashSet::new();
    for (index, name) in header.names.iter().enumerate() {
        if name.trim().is_empty() {
            return Err(Error::data(
                Location::in_source(&header.source),
                format!(
                    "column {} has no name; give every column a name in the header",
                    index + 1
                ),
            ));
        }
        if !seen.insert(name.as_str()) {
            return Err(Error::data(
                Location::in_source(&header.source).column(name),
                "two columns have this name; rename one of them",
            ));
        }
    }
    Ok(())
}

/// The error for a column that a table does not have, with the nearest name it has.
pub fn unknown_column(header: &Header, name: &str) -> Error {
    let advice = match nearest_name(name, header.names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the table has {}", listed(&header.names)),
    };
    Error::data(
        Location::in_source(&header.source),
        format!("there is no column `{name}`; {advice}"),
    )
}

/// The name most like `wanted`, when one is like it at all: at most a third of its letters (and at least two) differ.
pub fn nearest_name<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = wanted.to_lowercase();
    let allowed = (wanted.chars().count() / 3).max(2);
    names
        .into_iter()
        .map(|name| (edit_distance(&wanted, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= allowed && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Names for a message: the first few of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

/// Fewest single-letter insertions, deletions and changes that turn one word into the other (Levenshtein 1966).
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in right.iter().enumerate() {
            let change = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::ColumnType;

    fn header(names: &[&str]) -> Header {
        Header {
            source: "t.csv".into(),
            names: names.iter().map(|name| name.to_string()).collect(),
            types: vec![ColumnType::Number; names.len()],
        }
    }

    #[test]
    fn distances_known_by_hand() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        let names = ["latitude", "longitude", "y"];
        assert_eq!(nearest_name("lattitude", names), Some("latitude"));
        assert_eq!(nearest_name("Longitude", names), Some("longitude"));
        assert_eq!(nearest_name("population", names), None);
        assert_eq!(nearest_name("q", names), None);
    }

    #[test]
    fn an_unknown_column_names_the_nearest() {
        let error = unknown_column(&header(&["price", "rooms"]), "prise");
        assert_eq!(
            error.to_string(),
            "t.csv: there is no column `prise`; did you mean `price`?"
        );
    }

    #[test]
    fn twice_the_same_name_is_an_error() {
        assert!(check_names(&header(&["a", "b"])).is_ok());
        assert!(check_names(&header(&["a", "a"])).is_err());
        assert!(check_names(&header(&["a", " "])).is_err());
    }
}
