//! Aligned tables of words and numbers.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::HEADING;

/// On which side the cells of a column line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of text under headings; columns are as wide as their widest cell.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns; headings may be empty.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        Self {
            columns: columns
                .into_iter()
                .map(|(heading, align)| (heading.to_owned(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells that are missing at its end stay empty.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Self {
        self.rows.push(
            cells
                .into_iter()
                .map(|cell| printable(&cell.into()))
                .collect(),
        );
        self
    }

    /// The table as text, two spaces from the left edge and two between columns. No heading line when all are empty.
    pub fn render(&self) -> String {
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, (heading, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(index));
                cells
                    .map(|cell| width(cell))
                    .max()
                    .unwrap_or(0)
                    .max(width(heading))
            })
            .collect();
        let mut text = String::new();
        if self.columns.iter().any(|(heading, _)| !heading.is_empty()) {
            let headings: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
            let line = self.line(&headings, &widths);
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{HEADING}{line}{HEADING:#}");
        }
        for row in &self.rows {
            let _ = writeln!(text, "{}", self.line(row, &widths));
        }
        text
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (index, (_, align)) in self.columns.iter().enumerate() {
            let cell = cells.get(index).map_or("", String::as_str);
            let padding = " ".repeat(widths[index].saturating_sub(width(cell)));
            line.push_str("  ");
            match align {
                Align::Left => line.extend([cell, &padding]),
                Align::Right => line.extend([padding.as_str(), cell]),
            }
        }
        line.trim_end().to_owned()
    }
}

/// Columns of a terminal that a text takes.
fn width(text: &str) -> usize {
    text.width()
}

/// Text from a file as it may be shown in a terminal: control characters, which could move the cursor or worse, are marked.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &Table) -> String {
        anstream::adapter::strip_str(&table.render()).to_string()
    }

    #[test]
    fn columns_line_up_for_narrow_and_wide_characters() {
        let mut table = Table::new([
            ("name", Align::Left),
            ("value", Align::Right),
            ("", Align::Left),
        ]);
        table.row(["age", "1.5", "years"]).row(["身長", "12.25"]);
        assert_eq!(
            plain(&table),
            "  name  value\n  age     1.5  years\n  身長  12.25\n"
        );
    }

    #[test]
    fn empty_headings_take_no_line() {
        let mut table = Table::new([("", Align::Left), ("", Align::Right)]);
        table.row(["rows", "12"]);
        assert_eq!(plain(&table), "  rows  12\n");
    }

    #[test]
    fn control_characters_are_shown_as_a_mark() {
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
