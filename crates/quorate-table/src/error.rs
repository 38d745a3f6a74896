//! One error for the crate: what happened to which file, and what to try.

use std::io;
use std::path::Path;

/// The result of opening and writing tables.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong with tables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The rows or columns of a table cannot be used as they are.
    #[error(transparent)]
    Gp(#[from] quorate_gp::Error),
    /// The system could not read or write a file.
    #[error("{path}: {}", in_words(source))]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not of the format it should have.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong and what to try.
        problem: String,
    },
    /// The reader of the output has gone; there is nobody left to tell.
    #[error("the reader of the output has gone")]
    BrokenPipe,
}

impl Error {
    /// An input or output error at a file; a closed pipe is its own kind.
    pub(crate) fn io(path: impl Into<String>, source: io::Error) -> Error {
        if source.kind() == io::ErrorKind::BrokenPipe {
            Error::BrokenPipe
        } else {
            Error::Io {
                path: path.into(),
                source,
            }
        }
    }

    pub(crate) fn format(path: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::Format {
            path: path.into(),
            problem: problem.into(),
        }
    }
}

/// The name of a file for messages.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// What the system said, in plain words where it is one of the usual things.
pub(crate) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "is a folder, not a file".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        io::ErrorKind::UnexpectedEof => {
            "the file ends too early; it is damaged or was not copied whole".into()
        }
        _ => error.to_string(),
    }
}
