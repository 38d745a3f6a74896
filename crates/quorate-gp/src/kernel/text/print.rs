//! A kernel's tree as text, and where in that text each part of it stands.

use std::fmt;

use super::catalogue::Key;
use super::tree::{Atom, Factor, Kernel, Value};
use crate::Error;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.kernel(self);
        f.write_str(&printer.text)
    }
}

/// A part of an atom that an error can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) enum Place {
    /// The atom's name.
    Name,
    /// The column of this rank inside the brackets.
    Column(usize),
    /// The key of a setting.
    Key(Key),
}

impl Kernel {
    /// An error that shows the text form and points at a part of the atom of this rank (in reading order).
    pub(in crate::kernel) fn error_at(&self, atom: usize, place: Place, problem: String) -> Error {
        let mut printer = Printer::default();
        printer.kernel(self);
        let find = |wanted: Place| {
            printer
                .places
                .iter()
                .find(|(rank, known, _)| *rank == atom && *known == wanted)
                .map(|(_, _, position)| *position)
        };
        Error::Kernel {
            position: find(place).or_else(|| find(Place::Name)).unwrap_or(0),
            text: printer.text,
            problem,
        }
    }
}

/// Writes the canonical text and remembers the character at which each part starts.
#[derive(Default)]
struct Printer {
    text: String,
    length: usize,
    atoms: usize,
    places: Vec<(usize, Place, usize)>,
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += text.chars().count();
    }

    fn mark(&mut self, place: Place) {
        self.places.push((self.atoms, place, self.length));
    }

    fn kernel(&mut self, kernel: &Kernel) {
        for (t, term) in kernel.terms.iter().enumerate() {
            if t > 0 {
                self.push(" + ");
            }
            if let Some(scale) = term.scale {
                self.push(&number(scale.value));
                self.push(if scale.fixed { " fixed * " } else { " * " });
            }
            for (f, factor) in term.factors.iter().enumerate() {
                if f > 0 {
                    self.push(" * ");
                }
                match factor {
                    Factor::Atom(atom) => self.atom(atom),
                    Factor::Group(group) => {
                        self.push("(");
                        self.kernel(group);
                        self.push(")");
                    }
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        self.mark(Place::Name);
        self.push(atom.family.name());
        if atom.ard || !atom.settings.is_empty() {
            self.push("(");
            if atom.ard {
                self.push("ard");
            }
            for (s, (key, value)) in atom.settings.iter().enumerate() {
                if atom.ard || s > 0 {
                    self.push(", ");
                }
                self.mark(Place::Key(*key));
                self.push(key.name());
                self.push("=");
                self.value(value);
            }
            self.push(")");
        }
        if let Some(columns) = &atom.columns {
            for (c, column) in columns.iter().enumerate() {
                self.push(if c == 0 { "[" } else { "," });
                self.mark(Place::Column(c));
                self.push(&column_text(column));
            }
            self.push("]");
        }
        self.atoms += 1;
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Word(word) => self.push(word),
            Value::Numbers { values, fixed } => {
                if let [only] = values.as_slice() {
                    self.push(&number(*only));
                } else {
                    for (v, value) in values.iter().enumerate() {
                        self.push(if v == 0 { "[" } else { "," });
                        self.push(&number(*value));
                    }
                    self.push("]");
                }
                if *fixed {
                    self.push(" fixed");
                }
            }
        }
    }
}

/// The shortest text that reads back as the same number.
pub(in crate::kernel) fn number(value: f64) -> String {
    let text = format!("{value:?}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// True for characters that a column name may hold without quotes.
pub(in crate::kernel) fn is_bare(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '-')
}

/// A column name as it stands in a kernel's brackets: bare when it can be, else quoted.
///
/// ```
/// assert_eq!(quorate_gp::kernel::column_text("body mass"), "\"body mass\"");
/// ```
pub fn column_text(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
