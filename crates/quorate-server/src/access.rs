//! Who may ask: a bearer token.

use std::path::Path;

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};

use crate::error::{Error, Refusal, Result};

/// A secret that callers must know. Only its SHA-256 is held.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// The first line of a file.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::of(&secret_line(path)?))
    }

    /// This text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Refuses a request that does not bring the token.
    pub(crate) fn check(&self, headers: &HeaderMap) -> std::result::Result<(), Refusal> {
        let given = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| Self::of(token.trim()));
        // Digests are compared as a whole, so that the time taken says nothing about the token.
        let differs = given.is_none_or(|given| {
            let pairs = given.0.iter().zip(self.0);
            pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) != 0
        });
        match differs {
            false => Ok(()),
            true => Err(Refusal::new(
                axum::http::StatusCode::UNAUTHORIZED,
                "this server wants its bearer token",
            )),
        }
    }
}

/// The first line of a file that holds a secret.
pub(crate) fn secret_line(path: &Path) -> Result<String> {
    let trouble = |problem: &str| Error::Secret {
        path: path.display().to_string(),
        problem: problem.to_owned(),
    };
    let text = std::fs::read_to_string(path).map_err(|error| trouble(&error.to_string()))?;
    let line = text.lines().next().unwrap_or_default().trim();
    let is_plain = line.chars().all(|c| c.is_ascii_graphic());
    match line.is_empty() || !is_plain {
        true => Err(trouble(
            "expected a token on its first line: printable characters without blanks",
        )),
        false => Ok(line.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn only_the_right_token_passes() {
        let token = Token::of("secret");
        let verdict = |value: &str| {
            let value = HeaderValue::from_str(value).expect("header");
            token
                .check(&HeaderMap::from_iter([(header::AUTHORIZATION, value)]))
                .is_ok()
        };
        assert!(verdict("Bearer secret") && verdict("bearer secret"));
        for wrong in ["Bearer Secret", "Bearer ", "Basic secret", "secret", ""] {
            assert!(!verdict(wrong), "{wrong}");
        }
        assert!(token.check(&HeaderMap::new()).is_err());
    }
}
