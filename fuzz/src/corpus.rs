//! The files that fuzzing starts from.

use std::io;
use std::path::{Path, PathBuf};

/// The folder of this package: where the corpus is and failures go.
pub fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a target's corpus with their contents, in the order of their names.
///
/// # Errors
/// When the folder or a file cannot be read, or there is none: a fuzzer that starts from nothing finds nothing.
pub fn read(folder: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut paths = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    if paths.is_empty() {
        return Err(io::Error::other(format!("{} is empty", folder.display())));
    }
    paths
        .into_iter()
        .map(|path| std::fs::read(&path).map(|bytes| (path, bytes)))
        .collect()
}
