//! `cargo xtask golden`: the reference numbers, compared with what the software that made them says today.

use std::process::Command;

use crate::options::Options;
use crate::process::{self, Outcome};
use crate::python;
use crate::workspace;

pub fn run(words: &[String]) -> Outcome<()> {
    Options::new(words).finish()?;
    let root = workspace::root();
    let python = python::environment("golden", &root.join("golden").join("requirements.txt"))?;
    process::run(
        Command::new(python)
            .arg(root.join("golden").join("generate").join("check.py"))
            .env("QUORATE_DATA", workspace::data_folder())
            .current_dir(&root),
    )
}
