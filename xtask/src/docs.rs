//! `cargo xtask docs`: the documentation of the workspace, warnings denied.

use crate::options::Options;
use crate::process::{self, Outcome};
use crate::workspace;

pub fn run(words: &[String]) -> Outcome<()> {
    let mut options = Options::new(words);
    let open = options.flag("--open");
    options.finish()?;
    build(open)
}

/// Builds the documentation; a broken link or an unknown name is an error.
pub fn build(open: bool) -> Outcome<()> {
    let mut command = process::cargo();
    command
        .args(["doc", "--release", "--workspace", "--no-deps", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .current_dir(workspace::root());
    if open {
        command.arg("--open");
    }
    process::run(&mut command)
}
