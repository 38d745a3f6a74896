//! Lines and text of a document.

use std::fmt::Write;

/// Appends a line.
pub fn push(svg: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

/// Text as XML character data; characters that XML forbids become a replacement mark.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The beginning of a name that is too long for its place.
pub fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let start: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{start}…")
}
