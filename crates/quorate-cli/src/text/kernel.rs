//! Kernel texts as people read them: the file keeps every digit, a page needs four.

use super::significant;

/// Lists with more numbers than this are only counted.
const LONGEST_LIST: usize = 16;
const DIGITS: usize = 4;

/// The kernel's text with numbers rounded and very long lists counted; names stay as they are.
pub fn readable_kernel(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            quoted(rest)
        } else if first.is_alphabetic() || first == '_' {
            word(rest)
        } else if first.is_ascii_digit() {
            number(rest)
        } else if let Some(list) = list(rest) {
            shown.push_str(&readable_list(&rest[..list]));
            rest = &rest[list..];
            continue;
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if first.is_ascii_digit() {
            shown.push_str(&rounded(token));
        } else {
            shown.push_str(token);
        }
        rest = after;
    }
    shown
}

/// Length of a name in double quotes at the start of `text`.
fn quoted(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

fn word(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len())
}

/// Length of a number without its sign: digits, a point, an exponent.
fn number(text: &str) -> usize {
    let mut before = ' ';
    text.find(|c: char| {
        let part = c.is_ascii_digit()
            || matches!(c, '.' | 'e' | 'E')
            || (matches!(c, '+' | '-') && matches!(before, 'e' | 'E'));
        before = c;
        !part
    })
    .unwrap_or(text.len())
}

/// Length of a list of numbers in brackets at the start of `text`; brackets that hold names are none.
fn list(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let end = inside.find(']')?;
    let numbers = inside[..end]
        .split(',')
        .all(|item| item.trim().parse::<f64>().is_ok());
    numbers.then_some(end + 2)
}

fn readable_list(text: &str) -> String {
    let numbers: Vec<&str> = text
        .trim_matches(['[', ']'])
        .split(',')
        .map(str::trim)
        .collect();
    if numbers.len() > LONGEST_LIST {
        return format!("[{} numbers]", numbers.len());
    }
    let numbers: Vec<String> = numbers.into_iter().map(rounded).collect();
    format!("[{}]", numbers.join(", "))
}

/// A number with few digits; one that is short already stays as it was written.
fn rounded(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.chars().filter(char::is_ascii_digit).count() > DIGITS => {
            significant(value, DIGITS)
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_names_are_not() {
        assert_eq!(
            readable_kernel(
                "26.40982 * matern32(ard, length_scale=[3.113871,41.0,-0.0342881])[x12345, \"a 1.23456\"] + 2"
            ),
            "26.41 * matern32(ard, length_scale=[3.114, 41.0, -0.03429])[x12345, \"a 1.23456\"] + 2"
        );
        assert_eq!(
            readable_kernel("rq(shape=1.2345678e-9)"),
            "rq(shape=1.235e-9)"
        );
    }

    #[test]
    fn long_lists_are_counted() {
        let list = vec!["0.5"; 40].join(",");
        assert_eq!(
            readable_kernel(&format!("category(rank=1, embedding=[{list}])[site]")),
            "category(rank=1, embedding=[40 numbers])[site]"
        );
    }

    #[test]
    fn unfinished_texts_do_no_harm() {
        for text in ["", "se[\"open", "se(length_scale=[1,2", "1e", "é+[", "-"] {
            readable_kernel(text);
        }
        assert_eq!(readable_kernel("se[\"open"), "se[\"open");
    }
}
