//! The models of a server, and what becomes of one whose file was replaced.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use quorate::Model;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A model that is ready to answer.
pub struct Loaded {
    pub name: String,
    /// The first half of its file's SHA-256: another file is another version.
    pub version: String,
    pub model: Model,
}

/// A place for a model: requests take what is there and keep it until they are answered.
pub struct Place {
    pub name: String,
    path: PathBuf,
    current: RwLock<(Arc<Loaded>, Stamp)>,
}

/// What tells that a file was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let found = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let inode = 0;
        Some(Stamp {
            modified: found.modified().ok(),
            length: found.len(),
            inode,
        })
    }
}

impl Place {
    /// Loads a model under the name of its file, without the ending; `NAME=FILE` gives it another name.
    pub fn new(text: &Path) -> Result<Self> {
        let given = text.to_str().and_then(|text| text.split_once('='));
        let (name, path) = match given {
            Some((name, path)) => (name.to_owned(), PathBuf::from(path)),
            None => {
                let stem = text
                    .file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned());
                (stem.unwrap_or_default(), text.to_owned())
            }
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(Error::Other(format!(
                "`{name}` cannot be a model's name in a web address: use letters, digits, `-`, `_` and `.`, as in `name={}`",
                path.display()
            )));
        }
        // The stamp is taken first: a file replaced meanwhile is seen to differ at the next look.
        let stamp = Stamp::of(&path).unwrap_or(Stamp {
            modified: None,
            length: 0,
            inode: 0,
        });
        let loaded = Arc::new(load(&name, &path)?);
        Ok(Self {
            name,
            path,
            current: RwLock::new((loaded, stamp)),
        })
    }

    /// The model as it is now.
    pub fn current(&self) -> Arc<Loaded> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.0.clone()
    }

    /// Looks at the file: true when another model was loaded from it. A file that cannot be used changes nothing.
    pub fn refresh(&self) -> Result<bool> {
        let Some(now) = Stamp::of(&self.path) else {
            // Between removal and replacement there may be no file for a moment.
            return Ok(false);
        };
        let before = self
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .1;
        if now == before {
            return Ok(false);
        }
        let loaded = load(&self.name, &self.path);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // A bad file is complained about once, not at every look.
        current.1 = now;
        current.0 = Arc::new(loaded?);
        Ok(true)
    }
}

/// Loads a model and makes it ready, so that the first request does not wait for a factorisation.
fn load(name: &str, path: &Path) -> Result<Loaded> {
    let bytes = std::fs::read(path).map_err(|source| quorate::Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let model = quorate::file::from_bytes(&bytes, &path.display().to_string())?;
    model.answers()?;
    let digest = Sha256::digest(&bytes);
    let version = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    Ok(Loaded {
        name: name.to_owned(),
        version: version.collect(),
        model,
    })
}
