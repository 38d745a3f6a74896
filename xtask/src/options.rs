//! Flags of a task, read by hand: a handful of words do not need a library.

use crate::process::Outcome;

/// The words after a task's name, taken away one by one as they are understood.
pub struct Options {
    words: Vec<String>,
}

impl Options {
    pub fn new(words: &[String]) -> Self {
        Self {
            words: words.to_vec(),
        }
    }

    /// Whether the flag was given.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() < before
    }

    /// The value after a flag, or in `--flag=value`.
    pub fn value(&mut self, name: &str) -> Outcome<Option<String>> {
        let joined = format!("{name}=");
        if let Some(at) = self.words.iter().position(|word| word.starts_with(&joined)) {
            let word = self.words.remove(at);
            return Ok(Some(word[joined.len()..].to_owned()));
        }
        let Some(at) = self.words.iter().position(|word| word == name) else {
            return Ok(None);
        };
        if at + 1 >= self.words.len() {
            return Err(format!("{name} needs a value"));
        }
        self.words.remove(at);
        Ok(Some(self.words.remove(at)))
    }

    /// The next word that is not a flag.
    pub fn word(&mut self) -> Option<String> {
        let at = self.words.iter().position(|word| !word.starts_with('-'))?;
        Some(self.words.remove(at))
    }

    /// Refuses whatever nobody asked for.
    pub fn finish(self) -> Outcome<()> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!(
                "`{word}` is not understood here; see `cargo xtask --help`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        Options::new(&text.split(' ').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn flags_values_and_words_are_taken_in_any_order() {
        let mut given = options("--threads 2 exact --fresh --only=docs");
        assert!(given.flag("--fresh"));
        assert!(!given.flag("--full"));
        assert_eq!(given.value("--threads"), Ok(Some("2".into())));
        assert_eq!(given.value("--only"), Ok(Some("docs".into())));
        assert_eq!(given.word().as_deref(), Some("exact"));
        assert_eq!(given.finish(), Ok(()));
    }

    #[test]
    fn an_unknown_word_and_a_missing_value_are_refused() {
        assert!(options("--colour").finish().is_err());
        assert!(options("--only").value("--only").is_err());
    }
}
