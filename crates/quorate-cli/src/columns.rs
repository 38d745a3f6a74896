//! Lists of column names on the command line: `age,bmi` or `"last, first",age`.

use std::str::FromStr;

/// Column names, separated by commas; a name that holds a comma or a quote is put in double quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnList(pub Vec<String>);

impl FromStr for ColumnList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = vec![String::new()];
        let mut quoted = false;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let Some(name) = names.last_mut() else { break };
            match character {
                // Two quotes inside a quoted name stand for one.
                '"' if quoted && characters.peek() == Some(&'"') => {
                    characters.next();
                    name.push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => names.push(String::new()),
                other => name.push(other),
            }
        }
        if quoted {
            return Err("a double quote is not closed".to_owned());
        }
        if names.iter().any(String::is_empty) {
            return Err("a column name is empty".to_owned());
        }
        let is_twice = |place: &usize| names[..*place].contains(&names[*place]);
        if let Some(place) = (1..names.len()).find(is_twice) {
            return Err(format!("`{}` is listed twice", names[place]));
        }
        Ok(Self(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        text.parse().map(|list: ColumnList| list.0)
    }

    #[test]
    fn names_are_split_at_commas_outside_quotes() {
        assert_eq!(names("age,bmi").unwrap_or_default(), ["age", "bmi"]);
        assert_eq!(
            names("\"last, first\",age").unwrap_or_default(),
            ["last, first", "age"]
        );
        assert_eq!(
            names("\"say \"\"x\"\"\"").unwrap_or_default(),
            ["say \"x\""]
        );
    }

    #[test]
    fn empty_names_open_quotes_and_repeated_names_are_refused() {
        for text in ["", "a,", ",a", "\"a", "a,b,a"] {
            assert!(names(text).is_err(), "{text}");
        }
    }
}
