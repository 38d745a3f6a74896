//! One error for the crate.

use std::path::PathBuf;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data or the mathematics refused.
    #[error(transparent)]
    Gp(#[from] quorate_gp::Error),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A model file is not one, or is damaged, or is newer than this program.
    #[error("{origin}: {problem}")]
    ModelFile {
        /// Which file.
        origin: String,
        /// What is wrong and what to try.
        problem: String,
    },
    /// A choice that cannot be met, and why.
    #[error("{0}")]
    Spec(String),
}
