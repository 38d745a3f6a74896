//! What stands between the parentheses of a named kernel.

use super::catalogue::{Family, Key, LEAST, MOST, Meaning};
use super::lexer::Token;
use super::nearest::suggestion;
use super::parse::{Parsed, Parser};
use super::tree::{Atom, Value};

impl Parser<'_> {
    /// The settings between an atom's parentheses, the opening one already read.
    pub fn arguments(&mut self, atom: &mut Atom) -> Parsed<()> {
        loop {
            self.argument(atom)?;
            if self.accept(')') {
                return Ok(());
            }
            if !self.accept(',') {
                let found = self.found();
                return self.fail(format!("expected `,` or `)`, found {found}"));
            }
        }
    }

    fn argument(&mut self, atom: &mut Atom) -> Parsed<()> {
        let family = atom.family;
        let name = family.name();
        let Some(Token::Word(word)) = self.peek() else {
            let found = self.found();
            return self.fail(format!("expected a key of {name}, found {found}"));
        };
        if *word == "ard" {
            if !family.takes_ard() {
                return self.fail(format!("`ard` does not apply to {name}"));
            }
            if atom.ard {
                return self.fail("`ard` is given twice");
            }
            atom.ard = true;
            self.next += 1;
            return Ok(());
        }
        let meaning = Key::from_name(word).and_then(|key| Some((key, family.meaning(key)?)));
        let Some((key, meaning)) = meaning else {
            let mut known: Vec<&str> = family.keys().iter().map(|(key, _)| key.name()).collect();
            if family.takes_ard() {
                known.push("ard");
            }
            let near = suggestion(word, known.iter().copied());
            let shown = self.found();
            let takes = match known.is_empty() {
                true => "nothing".to_owned(),
                false => known.join(", "),
            };
            return self.fail(format!("{name} has no {shown}{near}; it takes {takes}"));
        };
        if atom.settings.iter().any(|(given, _)| *given == key) {
            return self.fail(format!("`{}` is given twice", key.name()));
        }
        self.next += 1;
        if !self.accept('=') {
            let found = self.found();
            return self.fail(format!(
                "expected `=` after `{}`, found {found}",
                key.name()
            ));
        }
        let value = self.value(key, meaning)?;
        atom.settings.push((key, value));
        Ok(())
    }

    fn value(&mut self, key: Key, meaning: Meaning) -> Parsed<Value> {
        let name = key.name();
        if let Meaning::Word(choices) = meaning {
            let Some(Token::Word(word)) = self.peek() else {
                return self.fail(format!("`{name}` is one of {}", choices.join(", ")));
            };
            let Some(choice) = choices.iter().find(|choice| *choice == word) else {
                let near = suggestion(word, choices.iter().copied());
                return self.fail(format!("`{name}` is one of {}{near}", choices.join(", ")));
            };
            self.next += 1;
            return Ok(Value::Word(choice));
        }
        let mut values = Vec::new();
        if matches!(meaning, Meaning::Whole { .. }) || !self.accept('[') {
            values.push(self.checked_number(name, meaning)?);
        } else {
            loop {
                values.push(self.checked_number(name, meaning)?);
                if self.accept(']') {
                    break;
                }
                if !self.accept(',') {
                    let found = self.found();
                    return self.fail(format!("expected `,` or `]`, found {found}"));
                }
            }
        }
        let position = self.position();
        let fixed = self.accept_word("fixed");
        if fixed && !meaning.is_learned() {
            return Err((
                position,
                format!("`{name}` is never learned: leave `fixed` out"),
            ));
        }
        Ok(Value::Numbers { values, fixed })
    }

    fn checked_number(&mut self, name: &str, meaning: Meaning) -> Parsed<f64> {
        let position = self.position();
        let Some(value) = self.number()? else {
            let found = self.found();
            return self.fail(format!("`{name}` needs a number, found {found}"));
        };
        let problem = match meaning {
            Meaning::Positive | Meaning::ChosenPositive if value <= 0.0 => {
                format!("`{name}` must be above 0")
            }
            Meaning::Positive | Meaning::ChosenPositive if !(LEAST..=MOST).contains(&value) => {
                format!("`{name}` lies between {LEAST:e} and {MOST:e}")
            }
            Meaning::Signed | Meaning::ChosenSigned if value.abs() > MOST => {
                format!("`{name}` lies between -{MOST:e} and {MOST:e}")
            }
            Meaning::Whole { least, most }
                if value.fract() != 0.0 || value < least as f64 || value > most as f64 =>
            {
                format!("`{name}` is a whole number from {least} to {most}")
            }
            _ => return Ok(value),
        };
        Err((position, problem))
    }
}

/// Settings that contradict each other, whatever the columns.
pub(in crate::kernel) fn check(atom: &Atom) -> std::result::Result<(), (Key, String)> {
    let several = |key: Key| atom.numbers(key).is_some_and(|values| values.len() > 1);
    let has = |key: Key| atom.settings.iter().any(|(given, _)| *given == key);
    let fault = |key: Key, problem: &str| Err((key, problem.to_owned()));
    if several(Key::LengthScale) && !atom.ard {
        return fault(Key::LengthScale, "a list of length scales needs `ard`");
    }
    for key in [
        Key::Shape,
        Key::Offset,
        Key::Weight,
        Key::Bias,
        Key::Kappa,
        Key::Width,
    ] {
        if several(key) {
            return Err((key, format!("`{}` takes one number", key.name())));
        }
    }
    match atom.family {
        Family::Linear if has(Key::LengthScale) && !atom.ard => {
            fault(Key::LengthScale, "linear has length scales only with `ard`")
        }
        Family::Category if has(Key::Rank) && (atom.ard || has(Key::LengthScale)) => fault(
            Key::Rank,
            "category takes a rank or length scales, not both",
        ),
        Family::Category if !has(Key::Rank) && has(Key::Embedding) => {
            fault(Key::Embedding, "an embedding needs `rank`")
        }
        Family::Category if !has(Key::Rank) && has(Key::Kappa) => {
            fault(Key::Kappa, "`kappa` needs `rank`")
        }
        Family::Basis => check_basis(atom, has),
        _ => Ok(()),
    }
}

fn check_basis(atom: &Atom, has: impl Fn(Key) -> bool) -> std::result::Result<(), (Key, String)> {
    let functions = atom.word(Key::Functions).unwrap_or("gaussian");
    let allowed: &[Key] = match functions {
        "polynomial" => &[Key::Degree],
        "fourier" => &[Key::Count, Key::Period],
        _ => &[Key::Centres, Key::Width],
    };
    for key in [
        Key::Degree,
        Key::Count,
        Key::Period,
        Key::Centres,
        Key::Width,
    ] {
        if has(key) && !allowed.contains(&key) {
            let problem = format!("`{}` does not belong to {functions} functions", key.name());
            return Err((key, problem));
        }
    }
    Ok(())
}
