//! Output that appears whole or not at all: a file, or a folder of files.

mod file;
mod folder;

pub use file::Staged;
pub use folder::StagedFolder;

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::interrupt::Unfinished;

/// A hidden folder in `parent` to work in; `path` is what the user asked for and is named in messages.
fn workplace(parent: &Path, path: &Path) -> Result<Unfinished> {
    if !parent.is_dir() {
        return Err(Failure::Failed(format!(
            "{}: the folder {} does not exist; create it first",
            path.display(),
            parent.display()
        )));
    }
    let made = tempfile::Builder::new()
        .prefix(".quorate-")
        .tempdir_in(parent)
        .map_err(|error| Failure::file(path, &error))?;
    Ok(Unfinished::new(made.keep()))
}

/// The folder that holds `path`.
fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The same failure, with the name the user knows in place of the hidden one.
fn renamed(failure: Failure, hidden: &Path, shown: &Path) -> Failure {
    match failure {
        Failure::Failed(message) => {
            let (hidden, shown) = (hidden.display().to_string(), shown.display().to_string());
            Failure::Failed(message.replace(&hidden, &shown))
        }
        other => other,
    }
}
