//! A folder of files that appear together.

use std::fs;
use std::path::{Path, PathBuf};

use super::{parent_of, renamed, workplace};
use crate::failure::{Failure, Result};
use crate::interrupt::Unfinished;

/// Files being made that will be moved into one folder when all are complete.
#[derive(Debug)]
pub struct StagedFolder {
    hidden: Unfinished,
    destination: PathBuf,
}

impl StagedFolder {
    /// Prepares to fill `path`, which is made if it does not exist; says at once when that cannot work.
    pub fn new(path: &Path) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            return Err(Failure::Failed(format!(
                "{}: is a file; name a folder",
                path.display()
            )));
        }
        let parent = if path.is_dir() {
            path.to_owned()
        } else {
            parent_of(path)
        };
        Ok(Self {
            hidden: workplace(&parent, path)?,
            destination: path.to_owned(),
        })
    }

    /// Where to write for now.
    pub fn path(&self) -> &Path {
        self.hidden.path()
    }

    /// The same failure, with the destination's name in place of the hidden one.
    pub fn blame(&self, failure: Failure) -> Failure {
        renamed(failure, self.path(), &self.destination)
    }

    /// Puts the complete files in their place, over files of the same name.
    pub fn commit(self) -> Result<()> {
        let blame = |error| Failure::file(&self.destination, &error);
        fs::create_dir_all(&self.destination).map_err(blame)?;
        for entry in fs::read_dir(self.path()).map_err(blame)? {
            let entry = entry.map_err(blame)?;
            let place = self.destination.join(entry.file_name());
            fs::rename(entry.path(), &place).map_err(|error| Failure::file(&place, &error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn files_appear_together_beside_those_that_were_there() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("demo");
        for round in ["first", "second"] {
            let folder = StagedFolder::new(&path).unwrap();
            fs::write(folder.path().join("a"), round).unwrap();
            fs::write(folder.path().join(round), "").unwrap();
            folder.commit().unwrap();
            assert_eq!(fs::read_to_string(path.join("a")).unwrap(), round);
        }
        assert!(path.join("first").exists() && path.join("second").exists());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_given_up_leaves_nothing() {
        let outer = tempfile::tempdir().unwrap();
        let folder = StagedFolder::new(&outer.path().join("demo")).unwrap();
        fs::write(folder.path().join("a"), "half").unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_in_its_place_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("demo"), "").unwrap();
        let message = StagedFolder::new(&outer.path().join("demo"))
            .unwrap_err()
            .message()
            .unwrap();
        assert!(message.contains("is a file"), "{message}");
    }
}
