//! Checkpoints: what an interrupted fit or update had found, in a file, so that it can be taken up again.
//!
//! Work is the same to the last bit in every run, so a checkpoint is a journal: every evaluation of an objective, a
//! fingerprint of every chunk of rows, and the newest sum of summaries. The run after an interruption goes the same way
//! and passes quickly over what is written down; its model has the same bytes. The file is replaced whole, is bound to the
//! specification, the rows and the version of this program, and is of no use once the model is written.

mod file;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quorate_gp::watch::{Journal, Piece};
use quorate_gp::{Error, Result};

use file::Notes;

/// The file is written again when that took less than this share of the time since it was last written.
const SHARE: u32 = 20;

/// A checkpoint file and where in it the work stands.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    notes: Notes,
    /// Steps asked for so far in this run.
    step: usize,
    /// Pieces asked for so far in this run.
    piece: u64,
    /// True when something is not in the file yet.
    unwritten: bool,
    written: Option<Instant>,
    took: Duration,
}

impl Checkpoint {
    /// Opens a checkpoint: an existing one is taken up, another is begun. Says at once when it cannot be written.
    pub fn open(path: &Path) -> crate::Result<Self> {
        let notes = if path.exists() {
            file::read(path)?
        } else {
            let notes = Notes::default();
            file::write(path, &notes)?;
            notes
        };
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(State {
                notes,
                step: 0,
                piece: 0,
                unwritten: false,
                written: None,
                took: Duration::ZERO,
            }),
        })
    }

    /// True when an earlier run had come some way.
    pub fn is_begun(&self) -> bool {
        let state = self.state();
        !state.notes.steps.is_empty() || state.notes.pieces > 0
    }

    /// Writes what is not in the file yet, as far as it is still known.
    pub fn flush(&self) -> Result<()> {
        let mut state = self.state();
        if state.unwritten && !state.sums() {
            self.write(&mut state)?;
        }
        Ok(())
    }

    /// Removes the file: the work is done. A file that nothing was written to goes too.
    pub fn remove(self) -> crate::Result<()> {
        std::fs::remove_file(&self.path).map_err(|source| crate::Error::Io {
            path: self.path,
            source,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, state: &mut State) -> Result<()> {
        let started = Instant::now();
        file::write(&self.path, &state.notes).map_err(|error| {
            let text = error.to_string();
            Error::Invalid(text.split(" (os error").next().unwrap_or(&text).to_owned())
        })?;
        state.took = started.elapsed();
        state.written = Some(Instant::now());
        state.unwritten = false;
        Ok(())
    }
}

impl State {
    /// True once a sum was written. It is not held beside the work's own: the file is then written with the next one only.
    fn sums(&self) -> bool {
        self.notes.pieces > 0
    }

    fn is_time(&self) -> bool {
        let pause = self.took * SHARE;
        self.written
            .is_none_or(|written| written.elapsed() >= pause)
    }
}

impl Journal for Checkpoint {
    fn begin(&self, work: &str) -> Result<()> {
        let mut state = self.state();
        if state.notes.work.is_empty() {
            work.clone_into(&mut state.notes.work);
            return self.write(&mut state);
        }
        if state.notes.work == work {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "{}: is the checkpoint of other work (other choices, other rows or another version): remove it, or name another",
            self.path.display()
        )))
    }

    fn recall(&self) -> Option<Vec<f64>> {
        let mut state = self.state();
        let found = state.notes.steps.get(state.step).cloned();
        state.step += 1;
        found
    }

    fn record(&self, outcome: &[f64]) -> Result<()> {
        let mut state = self.state();
        state.notes.steps.push(outcome.to_vec());
        state.unwritten = true;
        if !state.sums() && state.is_time() {
            self.write(&mut state)?;
        }
        Ok(())
    }

    fn piece(&self) -> Piece {
        let mut state = self.state();
        state.piece += 1;
        match state.piece.cmp(&state.notes.pieces) {
            std::cmp::Ordering::Less => Piece::Earlier,
            std::cmp::Ordering::Equal => Piece::Last(std::mem::take(&mut state.notes.sum)),
            std::cmp::Ordering::Greater => Piece::New,
        }
    }

    fn keep(&self, sum: &mut dyn FnMut() -> Vec<f64>) -> Result<()> {
        let mut state = self.state();
        if state.is_time() {
            state.notes.pieces = state.piece;
            state.notes.sum = sum();
            self.write(&mut state)?;
            state.notes.sum = Vec::new();
        }
        Ok(())
    }
}
