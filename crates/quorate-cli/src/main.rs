//! The `quorate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(quorate_cli::run(std::env::args_os()))
}
