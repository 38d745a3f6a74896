//! Progress of long work on standard error: stage, bar, time left. Silent where nobody watches.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use quorate::Checkpoint;
use quorate_gp::watch::{Journal, Watch};

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::text::{Console, duration};

/// Work shorter than this shows nothing: a bar that flashes by tells nobody anything.
const PATIENCE: Duration = Duration::from_millis(300);

const BAR: &str = "  {msg:<24} {bar:28.cyan} {percent:>3} %  {left}";
/// For work whose end is not known.
const COUNT: &str = "  {msg:<24} {human_pos} rows";

/// Shows what long work reports, and passes Ctrl-C on to it.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
    checkpoint: Option<Checkpoint>,
}

#[derive(Debug)]
struct State {
    started: Instant,
    shown: bool,
    stage: String,
}

impl Progress {
    /// Progress on standard error if that is a terminal and the console is not quiet.
    pub fn new(console: &Console) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self {
            bar,
            state: Mutex::new(State {
                started: Instant::now(),
                // A bar that counts as shown already is never switched on.
                shown: console.quiet,
                stage: String::new(),
            }),
            checkpoint: None,
        }
    }

    /// The same, with finished steps written to a checkpoint.
    pub fn kept(console: &Console, path: Option<&Path>) -> Result<Self> {
        let checkpoint = path.map(Checkpoint::open).transpose()?;
        if checkpoint.as_ref().is_some_and(Checkpoint::is_begun) {
            console.note("going on from the checkpoint");
        }
        let mut progress = Self::new(console);
        progress.checkpoint = checkpoint;
        Ok(progress)
    }

    /// The work's outcome; one that was broken off leaves what it has found in the checkpoint.
    pub fn outcome<T>(&self, outcome: quorate::Result<T>) -> Result<T> {
        self.finish();
        let failure = match outcome {
            Ok(value) => return Ok(value),
            Err(error) => Failure::from(error),
        };
        if let (Failure::Interrupted, Some(checkpoint)) = (&failure, &self.checkpoint) {
            checkpoint.flush()?;
        }
        Err(failure)
    }

    /// Removes the checkpoint, after the result is in its place.
    pub fn done(mut self) -> Result<()> {
        match self.checkpoint.take() {
            Some(checkpoint) => Ok(checkpoint.remove()?),
            None => Ok(()),
        }
    }

    /// Takes the bar away, so that other text can follow.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stage != stage {
            stage.clone_into(&mut state.stage);
            self.bar.reset();
            let template = if total > 0 { BAR } else { COUNT };
            if let Ok(style) = ProgressStyle::with_template(template) {
                let style = style.progress_chars("━━─").with_key("left", time_left);
                self.bar.set_style(style);
            }
            self.bar.set_message(stage.to_owned());
        }
        if total > 0 {
            self.bar.set_length(total as u64);
        }
        self.bar.set_position(done as u64);
        if !state.shown && state.started.elapsed() >= PATIENCE {
            state.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn journal(&self) -> Option<&dyn Journal> {
        self.checkpoint.as_ref().map(|found| found as &dyn Journal)
    }

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn time_left(state: &ProgressState, text: &mut dyn Write) {
    let known = state.pos() > 0 && state.len().is_some_and(|total| state.pos() < total);
    // Too early a guess is worse than none.
    if known && state.elapsed() > Duration::from_secs(1) {
        // Writing into the bar's own buffer cannot fail.
        let seconds = state.eta().as_secs();
        let _ = match seconds {
            0..60 => write!(text, "{} s left", seconds.max(1)),
            _ => write!(text, "{} left", duration(Duration::from_secs(seconds))),
        };
    }
}
