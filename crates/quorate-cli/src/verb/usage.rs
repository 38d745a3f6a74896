//! Usage errors that only a verb can notice, shown as clap shows its own.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::arguments::Arguments;
use crate::failure::Result;

/// A usage error of a verb; of `network fit`, say, both words.
pub fn usage(verb: &str, kind: ErrorKind, message: &str) -> clap::Error {
    let mut command = Arguments::command();
    command.build();
    for word in verb.split(' ') {
        if let Some(inner) = command.find_subcommand(word).cloned() {
            command = inner;
        }
    }
    command.error(kind, message)
}

/// Refuses to write over a file that the verb reads, by whatever path it is named, and to write two things into one
/// file: what is lost that way cannot be had again. A model that may replace the one it was made from is not among those
/// read.
pub fn check_apart<'p>(
    verb: &str,
    written: impl IntoIterator<Item = Option<&'p Path>>,
    read: impl IntoIterator<Item = Option<&'p Path>>,
) -> Result<()> {
    let refuse = |message: String| Err(usage(verb, ErrorKind::ValueValidation, &message).into());
    let read: Vec<(&Path, PathBuf)> = places(read).collect();
    let mut before: Vec<(&Path, PathBuf)> = Vec::new();
    for (path, place) in places(written) {
        if let Some((input, _)) = read.iter().find(|(_, own)| *own == place) {
            return refuse(format!(
                "{} would be written over {}, which is read; name another file to write",
                path.display(),
                input.display()
            ));
        }
        if before.iter().any(|(_, own)| *own == place) {
            return refuse(format!(
                "{} would be written twice; name two files",
                path.display()
            ));
        }
        before.push((path, place));
    }
    Ok(())
}

/// The files among these with their one true path; standard input and output, devices and pipes can be shared.
fn places<'p>(
    paths: impl IntoIterator<Item = Option<&'p Path>>,
) -> impl Iterator<Item = (&'p Path, PathBuf)> {
    let named = paths.into_iter().flatten();
    named
        .filter(|path| *path != Path::new("-"))
        .filter_map(|path| Some((path, place(path)?)))
}

fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = fs::canonicalize(path) {
        return found.is_file().then_some(found);
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}
