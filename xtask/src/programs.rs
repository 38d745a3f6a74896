//! Test programs: built by cargo in one go, then run side by side.
//!
//! Cargo runs one program after the other, and most end with one long test while the other cores wait: two at a time take
//! a third less on two cores.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::process::{self, Outcome};
use crate::tally::Tally;

/// One program of tests.
struct Program {
    name: String,
    path: PathBuf,
    /// Tests find their files from the folder of their package.
    folder: PathBuf,
}

/// Builds the test programs with this cargo command, runs them all, and counts. `prepare` sets what each is run with.
pub fn run(
    build: &mut Command,
    prepare: impl Fn(&mut Command) + Sync,
    tally: &mut Tally,
) -> Outcome<()> {
    build.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let programs = programs(&process::read(build)?)?;
    let next = AtomicUsize::new(0);
    let counted = Mutex::new((Tally::default(), Vec::new()));
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut command = Command::new(&program.path);
                    command.current_dir(&program.folder);
                    prepare(&mut command);
                    let output = command.output().map_err(|error| error.to_string());
                    if let Ok(mut counted) = counted.lock() {
                        let (tally, failed) = &mut *counted;
                        if !report(program, output, tally) {
                            failed.push(program.name.clone());
                        }
                    }
                }
            });
        }
    });
    let (counts, failed) = counted
        .into_inner()
        .map_err(|_| "a thread that ran tests was lost".to_owned())?;
    tally.add(counts);
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("tests failed in {}", failed.join(", ")))
    }
}

/// Prints what a program said, and counts; false when it failed.
fn report(program: &Program, output: Result<Output, String>, tally: &mut Tally) -> bool {
    println!("\n     Ran {}", program.name);
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("it could not be started: {error}");
            return false;
        }
    };
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        print!("{text}");
        text.lines().for_each(|line| tally.read_line(line));
    }
    if !output.status.success() {
        println!("it ended with {}", output.status);
    }
    output.status.success()
}

/// The test programs among what cargo says it has built, one JSON object a line.
fn programs(messages: &str) -> Outcome<Vec<Program>> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line)
            .map_err(|error| format!("cargo printed what cannot be read: {error}"))?;
        let is_test = message["profile"]["test"] == Value::Bool(true);
        let (Some(path), true) = (message["executable"].as_str(), is_test) else {
            continue;
        };
        let manifest = PathBuf::from(message["manifest_path"].as_str().unwrap_or_default());
        let Some(folder) = manifest.parent() else {
            return Err(format!("cargo does not say whose program {path} is"));
        };
        let package = folder.file_name().unwrap_or_default().to_string_lossy();
        let target = message["target"]["name"].as_str().unwrap_or_default();
        found.push(Program {
            name: format!("{package}, {target}"),
            path: path.into(),
            folder: folder.to_owned(),
        });
    }
    // In the order of their names, whatever was compiled first.
    found.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path.cmp(&b.path)));
    if found.is_empty() {
        return Err("no test program was built, which cannot be right".into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_tests_are_run() {
        let line = |name: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{{"name":"{name}"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let messages = [
            line("laws", true, r#""/t/laws-1""#),
            line("speed", false, r#""/t/speed""#),
            line("a", false, "null"),
            line("a", true, r#""/t/a-2""#),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            "   Compiling a".to_owned(),
        ];
        let found = programs(&messages.join("\n")).unwrap_or_default();
        let names: Vec<&str> = found.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["a, a", "a, laws"]);
        assert_eq!(found[0].folder, PathBuf::from("/w/crates/a"));
        assert!(programs("").is_err());
    }
}
