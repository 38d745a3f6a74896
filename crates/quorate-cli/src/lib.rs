//! The `quorate` command as a library: flags to specification to model to text.
//!
//! Everything that prints, reads the environment or ends the process is here; the mathematics is in `quorate`, tables
//! are in `quorate-table`. Other programs may call [`run`] to offer the same command.
//!
//! ```
//! let code = quorate_cli::run(["quorate", "completions", "bash", "--quiet"].map(Into::into));
//! assert_eq!(code, 0);
//! ```

mod arguments;
mod columns;
mod failure;
mod forecast;
mod interrupt;
mod pages;
pub mod plot;
mod progress;
mod report;
mod sink;
mod staged;
mod tables;
mod text;
mod verb;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use arguments::Arguments;
use failure::{Failure, Result};

/// Runs one command line, program name first, and returns its exit code: 0 done, 1 data or model error, 2 usage error,
/// 130 interrupted.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::listen();
    let outcome = Arguments::try_parse_from(arguments)
        .map_err(Failure::from)
        .and_then(on_threads);
    let failure = match outcome {
        Ok(()) => return 0,
        // Whatever fails after Ctrl-C fails because of it.
        Err(_) if interrupt::requested() => Failure::Interrupted,
        Err(failure) => failure,
    };
    tell(&failure);
    failure.exit_code()
}

/// Runs the command inside a pool with as many threads as were asked for.
fn on_threads(arguments: Arguments) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads())
        .build()
        .map_err(|error| Failure::Failed(format!("threads: {error}")))?;
    let console = arguments.console();
    pool.install(|| arguments.run(&console))
}

/// Tells the user; help and version, which clap hands over as errors, go to standard output.
fn tell(failure: &Failure) {
    let Some(message) = failure.message() else {
        return;
    };
    // A reader that is gone cannot be told.
    let _ = match failure {
        Failure::Usage(error) if !error.use_stderr() => {
            anstream::stdout().lock().write_all(message.as_bytes())
        }
        _ => anstream::stderr().lock().write_all(message.as_bytes()),
    };
}
