//! The `quorate` command.

use std::process::ExitCode;

/// Returns large matrices to the system when they are dropped. The system's own allocator keeps them, in one heap for
/// each thread: a fit that needs 43 MB then holds 160 MB, and no plan could foretell it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(quorate_cli::run(std::env::args_os()))
}
