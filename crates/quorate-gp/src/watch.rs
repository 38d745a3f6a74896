//! How long work tells its caller where it stands, and learns that it should stop.

use crate::{Error, Result};

/// What a caller hands to long work: it is told of progress and may ask to stop.
pub trait Watch: Sync {
    /// Called from time to time: `done` of `total` units of the named stage are finished.
    fn progress(&self, stage: &str, done: usize, total: usize);

    /// True when the work should end with [`Error::Interrupted`].
    fn stop_requested(&self) -> bool {
        false
    }

    /// An error when a stop was requested; called between steps of long work.
    fn check(&self) -> Result<()> {
        if self.stop_requested() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&self, _stage: &str, _done: usize, _total: usize) {}
}
