//! How a command can end without success, and the one map from that to an exit code.

use std::io;
use std::path::Path;

use crate::interrupt;
use crate::text::printable;

/// The result of a verb.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// The command line cannot be understood; clap shows it with the usage.
    Usage(clap::Error),
    /// Data or model cannot be used; the message says where, what, and what to try.
    Failed(String),
    /// Ctrl-C.
    Interrupted,
    /// The reader of our output has seen enough.
    ClosedPipe,
}

impl Failure {
    /// The exit code that scripts see.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::ClosedPipe => 0,
            Failure::Failed(_) => 1,
            Failure::Usage(error) => u8::try_from(error.exit_code()).unwrap_or(2),
            Failure::Interrupted => interrupt::EXIT_CODE,
        }
    }

    /// A failure to read or write `path`.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Failure::Failed(format!("{}: {}", path.display(), reason(error)))
    }

    /// A failure to write to standard output.
    pub fn standard_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ClosedPipe;
        }
        Failure::Failed(format!("standard output: {}", reason(error)))
    }

    /// The text for standard error, if there is anything to say.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::Usage(error) => Some(error.render().ansi().to_string()),
            Failure::Failed(message) => {
                let lines: Vec<String> = message.lines().map(printable).collect();
                Some(lines.join("\n") + "\n")
            }
            Failure::Interrupted => Some("interrupted\n".to_owned()),
            Failure::ClosedPipe => None,
        }
    }
}

/// What the system said, in plain words where it is one of the usual things.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder, not a file".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::InvalidData => "is not text in UTF-8".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_owned()
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Failure::Usage(error)
    }
}

impl From<quorate_gp::Error> for Failure {
    fn from(error: quorate_gp::Error) -> Self {
        match error {
            quorate_gp::Error::Interrupted => Failure::Interrupted,
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<quorate::Error> for Failure {
    fn from(error: quorate::Error) -> Self {
        match error {
            quorate::Error::Gp(error) => error.into(),
            quorate::Error::Io { path, source } => Failure::file(&path, &source),
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<quorate_server::Error> for Failure {
    fn from(error: quorate_server::Error) -> Self {
        match error {
            quorate_server::Error::Model(error) => error.into(),
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<quorate_table::Error> for Failure {
    fn from(error: quorate_table::Error) -> Self {
        match error {
            quorate_table::Error::Gp(error) => error.into(),
            quorate_table::Error::BrokenPipe => Failure::ClosedPipe,
            quorate_table::Error::Io { path, source } => Failure::file(Path::new(&path), &source),
            other => Failure::Failed(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_exit_code() {
        let usage =
            clap::Command::new("quorate").error(clap::error::ErrorKind::UnknownArgument, "x");
        assert_eq!(Failure::Usage(usage).exit_code(), 2);
        assert_eq!(Failure::Failed(String::new()).exit_code(), 1);
        assert_eq!(Failure::Interrupted.exit_code(), 130);
        assert_eq!(Failure::ClosedPipe.exit_code(), 0);
        assert_eq!(
            Failure::from(quorate_gp::Error::Interrupted).exit_code(),
            130
        );
    }

    #[test]
    fn messages_name_the_file_and_hide_control_characters() {
        let failure = Failure::file(Path::new("a.csv"), &io::Error::from_raw_os_error(28));
        assert_eq!(
            failure.message().as_deref(),
            Some("a.csv: the disk is full\n")
        );
        let failure = Failure::Failed("x\u{1b}[2J\ny".to_owned());
        assert_eq!(failure.message().as_deref(), Some("x\u{fffd}[2J\ny\n"));
    }
}
