//! Where a table goes: standard output, a device, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::NamedTempFile;

use crate::error::shown;
use crate::{Error, Result};

/// The place, and what went wrong there.
pub(crate) struct Destination {
    shown: String,
    /// A file under a temporary name, and the name it will have; nothing for standard output and devices.
    waiting: Option<(NamedTempFile, PathBuf)>,
    failure: Failure,
}

/// The first error of the system, kept aside because encoders report errors in words of their own.
type Failure = Arc<Mutex<Option<io::Error>>>;

impl Destination {
    /// Opens the place for writing.
    pub fn open(path: &Path) -> Result<(Destination, Output)> {
        let name = shown(path);
        let fail = |error| Error::io(name.clone(), error);
        let is_stdout = path == Path::new("-") || path == Path::new("/dev/stdout");
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        let is_device = existing
            .as_ref()
            .is_some_and(|existing| !existing.is_file());
        let (waiting, inner): (_, Box<dyn Write + Send>) = if is_stdout {
            (None, Box::new(io::stdout()))
        } else if is_device {
            let device = File::options().write(true).open(path).map_err(fail)?;
            (None, Box::new(device))
        } else {
            // Through a link, the file it leads to is replaced and not the link.
            let target = match existing {
                Some(_) => fs::canonicalize(path).map_err(fail)?,
                None => path.to_owned(),
            };
            let file = temporary_beside(&target, existing.as_ref()).map_err(fail)?;
            let handle = file.as_file().try_clone().map_err(fail)?;
            (Some((file, target)), Box::new(handle))
        };
        let failure = Failure::default();
        let output = Output {
            inner: BufWriter::with_capacity(256 * 1024, inner),
            failure: failure.clone(),
        };
        let destination = Destination {
            shown: name,
            waiting,
            failure,
        };
        Ok((destination, output))
    }

    /// Makes the file durable and gives it its name.
    pub fn settle(self) -> Result<()> {
        let Some((file, target)) = self.waiting else {
            return Ok(());
        };
        let fail = |error| Error::io(self.shown.clone(), error);
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&target).map_err(|error| fail(error.error))?;
        // The new name itself reaches the disk with the folder; not every system lets a folder be synchronised.
        if let Some(folder) = folder_of(&target)
            && let Ok(folder) = File::open(folder)
        {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// The error to report: what the system said, or else what the encoder said.
    pub fn error(&self, problem: String) -> Error {
        let kept = self.failure.lock().ok().and_then(|mut kept| kept.take());
        match kept {
            Some(error) => Error::io(self.shown.clone(), error),
            None => Error::format(self.shown.clone(), problem),
        }
    }
}

/// A file in the folder of `target`, readable by the same people as a file written there directly.
fn temporary_beside(target: &Path, existing: Option<&fs::Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".quorate-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let permissions = existing.map(fs::Metadata::permissions);
        builder.permissions(permissions.unwrap_or_else(|| fs::Permissions::from_mode(0o666)));
    }
    #[cfg(not(unix))]
    let _ = existing;
    builder.tempfile_in(folder_of(target).unwrap_or(Path::new(".")))
}

fn folder_of(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    })
}

/// A buffered way to the destination that remembers what the system said when writing fails.
pub(crate) struct Output {
    inner: BufWriter<Box<dyn Write + Send>>,
    failure: Failure,
}

impl Output {
    /// Writes what is still in the buffer.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    fn keep<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            if let Ok(mut kept) = self.failure.lock()
                && kept.is_none()
                && error.kind() != io::ErrorKind::Interrupted
            {
                *kept = Some(match error.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => io::Error::new(error.kind(), error.to_string()),
                });
            }
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.keep(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.keep(flushed)
    }
}
