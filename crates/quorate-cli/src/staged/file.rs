//! A file that appears whole or not at all.
//!
//! Work is written into a hidden folder beside its destination and moved there when it is complete. A destination that
//! is no ordinary file (a device, a named pipe) is never replaced: it receives the bytes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{parent_of, renamed, workplace};
use crate::failure::{Failure, Result};
use crate::interrupt::Unfinished;

/// A file being made.
#[derive(Debug)]
pub struct Staged {
    folder: Unfinished,
    name: PathBuf,
    destination: PathBuf,
    moves: bool,
}

impl Staged {
    /// Prepares to write `path`; says at once when its folder is missing or may not be written.
    pub fn new(path: &Path) -> Result<Self> {
        let blame = |error: &io::Error| Failure::file(path, error);
        if path.is_dir() {
            return Err(Failure::Failed(format!(
                "{}: is a folder; name a file in it",
                path.display()
            )));
        }
        let Some(name) = path.file_name() else {
            return Err(Failure::Failed(format!(
                "{}: is no file name",
                path.display()
            )));
        };
        // A link stays a link: the file behind it is replaced.
        let destination = if path.is_symlink() && path.exists() {
            fs::canonicalize(path).map_err(|error| blame(&error))?
        } else {
            path.to_owned()
        };
        let moves = fs::metadata(&destination).map_or(true, |found| found.is_file());
        let parent = if moves {
            parent_of(&destination)
        } else {
            std::env::temp_dir()
        };
        Ok(Self {
            folder: workplace(&parent, path)?,
            name: PathBuf::from(name),
            destination,
            moves,
        })
    }

    /// Where to write for now; it has the file name of the destination.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// The same failure, with the destination's name in place of the hidden one.
    pub fn blame(&self, failure: Failure) -> Failure {
        renamed(failure, &self.path(), &self.destination)
    }

    /// Puts the complete file in its place.
    pub fn commit(self) -> Result<()> {
        let blame = |error: io::Error| Failure::file(&self.destination, &error);
        if self.moves {
            // Whoever could read the old file can read the new one.
            if let Ok(old) = fs::metadata(&self.destination) {
                fs::set_permissions(self.path(), old.permissions()).map_err(blame)?;
            }
            return fs::rename(self.path(), &self.destination).map_err(blame);
        }
        let mut from = File::open(self.path()).map_err(blame)?;
        let mut to = File::options()
            .write(true)
            .open(&self.destination)
            .map_err(blame)?;
        match io::copy(&mut from, &mut to) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
            Err(error) => Err(blame(error)),
            Ok(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let staged = Staged::new(&path).unwrap();
        fs::write(staged.path(), "whole").unwrap();
        assert!(!path.exists());
        staged.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(entries(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_file_given_up_leaves_nothing_and_keeps_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        let staged = Staged::new(&path).unwrap();
        fs::write(staged.path(), "half").unwrap();
        drop(staged);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(entries(folder.path()), ["out.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let staged = Staged::new(&link).unwrap();
        fs::write(staged.path(), "new").unwrap();
        staged.commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn a_missing_folder_is_named_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/out.csv");
        let message = Staged::new(&path).unwrap_err().message().unwrap();
        assert!(message.contains("does not exist"), "{message}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_named_and_not_replaced() {
        let staged = Staged::new(Path::new("/dev/full")).unwrap();
        fs::write(staged.path(), "bytes").unwrap();
        let message = staged.commit().unwrap_err().message().unwrap();
        assert_eq!(message, "/dev/full: the disk is full\n");
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }
}
