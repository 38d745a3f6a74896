//! The command `quorate`, as the package installs it.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line (program name first) and returns its exit code.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| quorate_cli::run(arguments))
}
