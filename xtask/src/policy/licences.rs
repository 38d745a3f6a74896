//! Licences of the dependencies: SPDX expressions against the list of those we accept.

use super::crates::Package;
use super::exceptions::LICENCES;

/// One sentence for each package whose licence cannot be accepted.
pub fn violations(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .filter_map(|package| match package.licence.as_deref() {
            None => Some(format!("{} names no licence", package.title())),
            Some(text) => match accepts(text, LICENCES) {
                Ok(true) => None,
                Ok(false) => Some(format!(
                    "{} has the licence `{text}`, which is not on the list",
                    package.title()
                )),
                Err(error) => Some(format!(
                    "{} has the licence `{text}`: {error}",
                    package.title()
                )),
            },
        })
        .collect()
}

/// Whether the expression can be satisfied with licences of the list alone: one side of an `OR`, both of an `AND`.
fn accepts(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    // Old manifests write `MIT/Apache-2.0` for what is now `MIT OR Apache-2.0`.
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    let verdict = reader.alternatives()?;
    match reader.words.first() {
        None => Ok(verdict),
        Some(word) => Err(format!("`{word}` is out of place")),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn alternatives(&mut self) -> Result<bool, String> {
        let mut verdict = self.conjunction()?;
        while self.take("OR") {
            // The right side is read even when the left one suffices: it must be well formed.
            verdict |= self.conjunction()?;
        }
        Ok(verdict)
    }

    fn conjunction(&mut self) -> Result<bool, String> {
        let mut verdict = self.licence()?;
        while self.take("AND") {
            verdict &= self.licence()?;
        }
        Ok(verdict)
    }

    fn licence(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let verdict = self.alternatives()?;
            return if self.take(")") {
                Ok(verdict)
            } else {
                Err("a bracket is not closed".into())
            };
        }
        let (Some(first), rest) = (self.words.first(), self.words.get(1..).unwrap_or_default())
        else {
            return Err("a licence is missing at the end".into());
        };
        if ["OR", "AND", "WITH", ")"].contains(first) {
            return Err(format!("`{first}` stands where a licence should"));
        }
        self.words = rest;
        let mut name = String::from(*first);
        if self.take("WITH") {
            let exception = self.words.first().ok_or("WITH names no exception")?;
            name = format!("{name} WITH {exception}");
            self.words = &self.words[1..];
        }
        Ok(self.allowed.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_follow_the_rules_of_spdx() {
        let allowed = &["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
        for (text, verdict) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT/GPL-3.0", true),
            ("MIT OR GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0 OR MIT AND Apache-2.0", true),
            ("(GPL-3.0 OR MIT) AND Unicode-3.0", false),
            ("(GPL-3.0 OR MIT) AND Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0 WITH Other-exception", false),
        ] {
            assert_eq!(accepts(text, allowed), Ok(verdict), "{text}");
        }
    }

    #[test]
    fn malformed_expressions_are_refused() {
        for text in [
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "OR MIT",
            "MIT WITH",
        ] {
            assert!(accepts(text, &["MIT"]).is_err(), "{text}");
        }
    }
}
