//! Kernel text into its tree, with errors that point at the character.

use std::str::FromStr;

use super::arguments::check;
use super::catalogue::{Family, Key, LEAST, MOST};
use super::lexer::{Fault, Token, tokens};
use super::nearest::suggestion;
use super::tree::{Atom, Factor, Kernel, Scale, Term};
use crate::{Error, Result};

/// Longest text read, in bytes: room for embeddings of many thousand levels.
const LONGEST_TEXT: usize = 1 << 20;
/// Deepest nesting of parentheses: the parser calls itself once a level.
const DEEPEST: usize = 40;
/// Most named kernels in one text.
const MOST_ATOMS: usize = 1000;

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Kernel> {
        if text.len() > LONGEST_TEXT {
            let problem = format!("kernel text is longer than {LONGEST_TEXT} bytes");
            return Err(Error::Invalid(problem));
        }
        parse(text).map_err(|(position, problem)| Error::Kernel {
            // On one line, so that the caret below it points at the character.
            text: text.replace(['\n', '\r', '\t'], " "),
            position,
            problem,
        })
    }
}

fn parse(text: &str) -> std::result::Result<Kernel, Fault> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        end: text.trim_end().chars().count(),
        atoms: 0,
    };
    let kernel = parser.sum(0)?;
    match parser.peek() {
        None => Ok(kernel),
        Some(Token::Sign(')')) => parser.fail("this `)` closes nothing"),
        Some(token) => {
            let shown = token.shown();
            parser.fail(format!("expected `+`, `*` or the end, found {shown}"))
        }
    }
}

/// Tokens and how far they have been read.
pub(in crate::kernel) struct Parser<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    pub next: usize,
    end: usize,
    atoms: usize,
}

pub(in crate::kernel) type Parsed<T> = std::result::Result<T, Fault>;

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    pub fn position(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    pub fn fail<T>(&self, problem: impl Into<String>) -> Parsed<T> {
        Err((self.position(), problem.into()))
    }

    pub fn found(&self) -> String {
        self.peek().map_or("the end".to_owned(), Token::shown)
    }

    pub fn accept(&mut self, sign: char) -> bool {
        let is_there = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(is_there);
        is_there
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Word(next)) if *next == word);
        self.next += usize::from(is_there);
        is_there
    }

    fn sum(&mut self, depth: usize) -> Parsed<Kernel> {
        if depth > DEEPEST {
            return self.fail(format!("parentheses nest deeper than {DEEPEST}"));
        }
        let mut terms = Vec::new();
        loop {
            let mut term = self.product(depth)?;
            // A group that stands alone is not a factor of anything: its terms join this sum.
            match (term.scale, term.factors.pop()) {
                (None, Some(Factor::Group(group))) if term.factors.is_empty() => {
                    terms.extend(group.terms);
                }
                (_, last) => {
                    term.factors.extend(last);
                    terms.push(term);
                }
            }
            if !self.accept('+') {
                return Ok(Kernel { terms });
            }
        }
    }

    fn product(&mut self, depth: usize) -> Parsed<Term> {
        let mut scale: Option<Scale> = None;
        let mut factors = Vec::new();
        loop {
            let start = self.position();
            let mut numbers = None;
            if self.accept('(') {
                let inner = self.sum(depth + 1)?;
                if !self.accept(')') {
                    let found = self.found();
                    return self.fail(format!("expected `+`, `*` or `)`, found {found}"));
                }
                match <[Term; 1]>::try_from(inner.terms) {
                    Ok([term]) => {
                        numbers = term.scale;
                        factors.extend(term.factors);
                    }
                    Err(terms) => factors.push(Factor::Group(Kernel { terms })),
                }
            } else if let Some(value) = self.number()? {
                let fixed = self.accept_word("fixed");
                numbers = Some(Scale { value, fixed });
            } else {
                factors.push(Factor::Atom(self.atom()?));
            }
            if let Some(number) = numbers {
                let so_far = scale.unwrap_or(Scale {
                    value: 1.0,
                    fixed: false,
                });
                let value = so_far.value * number.value;
                if value <= 0.0 {
                    return Err((start, "a variance must be a number above 0".to_owned()));
                }
                if !(LEAST..=MOST).contains(&value) {
                    let problem = format!("a variance lies between {LEAST:e} and {MOST:e}");
                    return Err((start, problem));
                }
                scale = Some(Scale {
                    value,
                    fixed: so_far.fixed || number.fixed,
                });
            }
            if !self.accept('*') {
                break;
            }
        }
        if factors.is_empty() {
            // A number alone is that much of the constant kernel.
            factors.push(Factor::Atom(Atom {
                family: Family::Constant,
                ard: false,
                settings: Vec::new(),
                columns: None,
            }));
        }
        Ok(Term { scale, factors })
    }

    /// A number, when the next token begins like one.
    pub fn number(&mut self) -> Parsed<Option<f64>> {
        let Some(Token::Word(word)) = self.peek() else {
            return Ok(None);
        };
        if !word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
            return Ok(None);
        }
        match word.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.next += 1;
                Ok(Some(value))
            }
            Ok(_) => self.fail("this number is too large"),
            Err(_) => {
                let found = self.found();
                self.fail(format!("{found} is not a number"))
            }
        }
    }

    fn atom(&mut self) -> Parsed<Atom> {
        let Some(Token::Word(name)) = self.peek() else {
            let found = self.found();
            return self.fail(format!(
                "expected a kernel name, a number or `(`, found {found}"
            ));
        };
        let Some(family) = Family::from_name(name) else {
            let names = Family::ALL.map(Family::name);
            let near = suggestion(name, names);
            let shown = self.found();
            let known = names.join(", ");
            return self.fail(format!(
                "unknown kernel {shown}{near}; the kernels are {known}"
            ));
        };
        self.atoms += 1;
        if self.atoms > MOST_ATOMS {
            return self.fail(format!("more than {MOST_ATOMS} kernels in one text"));
        }
        self.next += 1;
        let mut atom = Atom {
            family,
            ard: false,
            settings: Vec::new(),
            columns: None,
        };
        if self.accept('(') {
            self.arguments(&mut atom)?;
        }
        if self.peek() == Some(&Token::Sign('[')) {
            if !family.takes_columns() {
                return self.fail(format!("{} reads no columns", family.name()));
            }
            self.next += 1;
            atom.columns = Some(self.columns()?);
        }
        check(&atom).map_err(|(key, problem)| (self.key_position(key), problem))?;
        atom.settings.sort_by_key(|(key, _)| *key);
        Ok(atom)
    }

    /// Where a key of the atom just read stands: the last place that spells it before an equals sign.
    fn key_position(&self, key: Key) -> usize {
        self.tokens[..self.next]
            .windows(2)
            .rev()
            .find(|pair| pair[0].1 == Token::Word(key.name()) && pair[1].1 == Token::Sign('='))
            .map_or(self.position(), |pair| pair[0].0)
    }

    fn columns(&mut self) -> Parsed<Vec<String>> {
        let mut columns: Vec<String> = Vec::new();
        loop {
            let name = match self.peek() {
                Some(Token::Word(name)) => (*name).to_owned(),
                Some(Token::Quoted(name)) => name.clone(),
                _ => {
                    let found = self.found();
                    return self.fail(format!("expected a column name, found {found}"));
                }
            };
            if columns.contains(&name) {
                let shown = self.found();
                return self.fail(format!("column {shown} is named twice"));
            }
            columns.push(name);
            self.next += 1;
            if self.accept(']') {
                return Ok(columns);
            }
            if !self.accept(',') {
                let found = self.found();
                return self.fail(format!("expected `,` or `]`, found {found}"));
            }
        }
    }
}
