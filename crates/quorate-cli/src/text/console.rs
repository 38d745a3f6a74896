//! Where words go: results to standard output, remarks to standard error, nothing when nothing was asked for.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use super::printable;
use crate::failure::{Failure, Result};

/// How much a command says, and in which form.
#[derive(Clone, Copy, Debug, Default)]
pub struct Console {
    /// One JSON object on standard output instead of text.
    pub json: bool,
    /// Errors only.
    pub quiet: bool,
    /// Details as well.
    pub verbose: bool,
}

impl Console {
    /// A report for people on what was done, on standard output.
    pub fn say(&self, text: impl Display) -> Result<()> {
        if self.quiet {
            Ok(())
        } else {
            self.answer(text)
        }
    }

    /// What the command was asked for, as text on standard output; printed even when it should be quiet.
    pub fn answer(&self, text: impl Display) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let mut stdout = anstream::stdout().lock();
        writeln!(stdout, "{text}")
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::standard_output(&error))
    }

    /// A detail for people who asked for more with `-v`.
    pub fn detail(&self, text: impl Display) -> Result<()> {
        if self.verbose { self.say(text) } else { Ok(()) }
    }

    /// A remark beside the result, on standard error; failing to write it is no failure of the command.
    pub fn note(&self, text: &str) {
        if !self.json && !self.quiet {
            let style = anstyle::AnsiColor::Yellow.on_default();
            let _ = writeln!(
                anstream::stderr().lock(),
                "{style}note:{style:#} {}",
                printable(text)
            );
        }
    }

    /// The whole result as one JSON object, when it was asked for.
    pub fn json(&self, value: &impl Serialize) -> Result<()> {
        if !self.json {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::Failed(format!("result as JSON: {error}")))?;
        self.raw(&format!("{text}\n"))
    }

    /// Text as it is, with no regard to colours.
    pub fn raw(&self, text: &str) -> Result<()> {
        let mut stdout = std::io::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::standard_output(&error))
    }
}
