//! Ctrl-C: long work is asked to stop, and when it does not within a moment the process cleans up and ends anyway.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// Exit code of an interrupted command: 128 + SIGINT.
pub const EXIT_CODE: u8 = 130;

/// How many milliseconds the work may take to stop by itself; a large factorisation does not look up in time.
const GRACE: u64 = 300;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static PATIENCE: AtomicU64 = AtomicU64::new(GRACE);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static LISTENING: Once = Once::new();

/// Starts to listen for Ctrl-C and for a request to terminate, once for the process.
pub fn listen() {
    REQUESTED.store(false, Ordering::SeqCst);
    PATIENCE.store(GRACE, Ordering::SeqCst);
    LISTENING.call_once(|| {
        // A program that embeds the command may have a handler of its own; then that one decides.
        let _ = ctrlc::try_set_handler(|| {
            if !REQUESTED.swap(true, Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(PATIENCE.load(Ordering::SeqCst)));
            }
            // Held until the end, so that nothing unfinished can be added after the removal.
            let unfinished = unfinished();
            for path in unfinished.iter() {
                remove(path);
            }
            farewell();
            std::process::exit(EXIT_CODE.into());
        });
    });
}

/// Gives the work more time to stop by itself, where others wait for it.
pub fn patience(time: Duration) {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    PATIENCE.store(millis, Ordering::SeqCst);
}

/// True once the user asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// A file or folder that must not outlive the command: removed when dropped and when interrupted.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Takes charge of `path`, which may not exist yet.
    pub fn new(path: PathBuf) -> Self {
        unfinished().push(path.clone());
        Self(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        remove(&self.0);
        unfinished().retain(|path| *path != self.0);
    }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same word as after a stop in good order; a half-drawn line of progress makes room for it.
fn farewell() {
    let mut stderr = std::io::stderr();
    let clear = if stderr.is_terminal() {
        "\r\u{1b}[K"
    } else {
        ""
    };
    // There is nobody left to tell that telling failed.
    let _ = writeln!(stderr, "{clear}interrupted");
}

/// Removal is best effort: there is nobody left to tell.
fn remove(path: &Path) {
    let _ = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_folders_go_with_their_content() {
        let outer = tempfile::tempdir().expect("temporary folder");
        let folder = outer.path().join("work");
        std::fs::create_dir(&folder).expect("folder");
        let guard = Unfinished::new(folder.clone());
        std::fs::write(guard.path().join("part"), "x").expect("file");
        assert!(unfinished().contains(&folder));
        drop(guard);
        assert!(!folder.exists());
        assert!(!unfinished().contains(&folder));
    }
}
