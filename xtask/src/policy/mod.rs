//! `cargo xtask policy`: rules about dependencies and about our own files, checked from `cargo metadata` and the tree.
//!
//! Every rule returns the sentences of its violations, so that one run shows all of them. The exceptions are in
//! `exceptions.rs`, each with its reason; an exception that nothing needs any more is itself a violation.

mod architecture;
mod crates;
mod exceptions;
mod licences;
mod modules;
mod tree;

use crate::options::Options;
use crate::process::Outcome;
use crate::workspace;

pub fn run(words: &[String]) -> Outcome<()> {
    Options::new(words).finish()?;
    check()
}

/// Applies every rule; an error says how many are broken, after each has been printed.
pub fn check() -> Outcome<()> {
    let root = workspace::root();
    let metadata = workspace::metadata()?;
    let files = tree::files(&root)?;
    let texts = tree::read_texts(&root, &files);
    let packages = crates::packages(&metadata)?;

    let mut violations = Vec::new();
    violations.extend(licences::violations(&packages));
    violations.extend(crates::banned(&packages));
    violations.extend(crates::duplicates(&packages));
    violations.extend(crates::foreign_sources(&packages));
    violations.extend(crates::wrong_layers(&packages));
    violations.extend(crates::missing_lints(&root, &packages, &texts));
    violations.extend(modules::violations(&texts));
    violations.extend(tree::missing_files(&files));
    violations.extend(tree::machine_paths(&texts));
    violations.extend(tree::misspellings(&texts));
    violations.extend(architecture::missing_paths(&root, &texts));

    for sentence in tree::long_files(&texts) {
        println!("policy: warning: {sentence}");
    }
    for sentence in &violations {
        println!("policy: {sentence}");
    }
    if violations.is_empty() {
        println!(
            "policy: {} crates and {} files follow the rules",
            packages.len(),
            files.len()
        );
        Ok(())
    } else {
        Err(format!("{} rules are broken", violations.len()))
    }
}
