//! Kernel text cut into tokens, each with the character at which it starts.

use super::print::is_bare;

/// One token of the text form.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::kernel) enum Token<'a> {
    /// A run of letters, digits, `_`, `.` and `-`: a name, a key, a bare column or a number.
    Word(&'a str),
    /// A column name in quotes.
    Quoted(String),
    /// One of `+ * ( ) [ ] , =`.
    Sign(char),
}

impl Token<'_> {
    /// The token as people should see it in a message; long ones are cut.
    pub fn shown(&self) -> String {
        const MOST: usize = 40;
        let cut = |text: &str| {
            if text.chars().count() > MOST {
                text.chars().take(MOST).chain(['.', '.', '.']).collect()
            } else {
                text.to_owned()
            }
        };
        match self {
            Token::Word(word) => format!("`{}`", cut(word)),
            Token::Quoted(name) => format!("\"{}\"", cut(name)),
            Token::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// A problem and the character it was noticed at.
pub(in crate::kernel) type Fault = (usize, String);

/// Cuts the text into tokens.
pub(in crate::kernel) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, Fault> {
    let mut found = Vec::new();
    // Positions count characters for people; byte offsets cut the text.
    let mut characters = text.char_indices().enumerate().peekable();
    while let Some((position, (start, character))) = characters.next() {
        if character.is_whitespace() {
            continue;
        }
        if character == '"' {
            let mut rest = characters.by_ref().map(|(at, (_, next))| (at, next));
            found.push((position, Token::Quoted(quoted(position, &mut rest)?)));
        } else if is_bare(character) {
            let mut end = start + character.len_utf8();
            while let Some((_, (offset, next))) = characters.next_if(|(_, (offset, next))| {
                // `1e+5`: the sign of an exponent belongs to its number.
                is_bare(*next) || (*next == '+' && opens_exponent(&text[start..*offset]))
            }) {
                end = offset + next.len_utf8();
            }
            found.push((position, Token::Word(&text[start..end])));
        } else if "+*()[],=".contains(character) {
            found.push((position, Token::Sign(character)));
        } else {
            return Err((position, format!("unexpected character {character:?}")));
        }
    }
    Ok(found)
}

/// True for `1e`, `2.5E`, ...: a number whose exponent is about to begin.
fn opens_exponent(word: &str) -> bool {
    word.strip_suffix(['e', 'E']).is_some_and(|digits| {
        digits.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
            && digits.parse::<f64>().is_ok()
    })
}

fn quoted(
    start: usize,
    characters: &mut impl Iterator<Item = (usize, char)>,
) -> Result<String, Fault> {
    let mut name = String::new();
    while let Some((position, character)) = characters.next() {
        match character {
            '"' => return Ok(name),
            '\\' => match characters.next() {
                Some((_, plain @ ('"' | '\\'))) => name.push(plain),
                Some((_, 'n')) => name.push('\n'),
                Some((_, 'r')) => name.push('\r'),
                Some((_, 't')) => name.push('\t'),
                _ => {
                    let problem = "after a backslash comes one of `\"`, `\\`, `n`, `r`, `t`";
                    return Err((position, problem.to_owned()));
                }
            },
            other => name.push(other),
        }
    }
    Err((start, "this quote is never closed".to_owned()))
}
