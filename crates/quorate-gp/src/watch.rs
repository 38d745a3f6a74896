//! How long work tells its caller where it stands, learns that it should stop, and writes down what it has found.

use crate::{Error, Result};

/// What a caller hands to long work: it is told of progress and may ask to stop.
pub trait Watch: Sync {
    /// Called from time to time: `done` of `total` units of the named stage are finished.
    fn progress(&self, stage: &str, done: usize, total: usize);

    /// True when the work should end with [`Error::Interrupted`].
    fn stop_requested(&self) -> bool {
        false
    }

    /// Where finished steps are written down, so that interrupted work can be taken up again; usually nowhere.
    fn journal(&self) -> Option<&dyn Journal> {
        None
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

/// What long work has found so far.
///
/// Work is the same to the last bit in every run, so it asks for its steps in the same order: a step that was written down
/// is not done again, and the run after an interruption ends where the first would have ended.
pub trait Journal: Sync {
    /// Says which work begins; an error when the journal is that of other work.
    fn begin(&self, work: &str) -> Result<()>;

    /// The outcome of the next step, if an earlier run got that far.
    fn recall(&self) -> Option<Vec<f64>>;

    /// Writes down the outcome of the step that could not be recalled.
    fn record(&self, outcome: &[f64]) -> Result<()>;

    /// What became of the next piece of a running sum in an earlier run.
    fn piece(&self) -> Piece;

    /// Writes the sum down after a new piece, if it is time to; only the newest sum is kept.
    fn keep(&self, sum: &mut dyn FnMut() -> Vec<f64>) -> Result<()>;
}

/// A piece of a running sum.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// It is in the sum that was written down, and so is the next.
    Earlier,
    /// It is the last in that sum; here it is.
    Last(Vec<f64>),
    /// It is still to be done.
    New,
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&self, _stage: &str, _done: usize, _total: usize) {}
}
