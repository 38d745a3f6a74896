//! `cargo xtask test`: every check, in the order in which a mistake is cheapest to find.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::options::Options;
use crate::policy;
use crate::process::{self, Outcome};
use crate::programs;
use crate::python;
use crate::tally::{Tally, skipped_tests};
use crate::workspace;

/// What was asked for on the command line.
struct Wishes {
    require_data: bool,
    full: bool,
    /// The Python environment, made while the compiler works: its packages come over the network.
    environment: Mutex<Option<JoinHandle<()>>>,
}

/// What a step leaves behind: its counts, and an error sentence if it failed.
struct Report {
    tally: Tally,
    outcome: Outcome<()>,
}

impl Report {
    /// A step that is one check by itself.
    fn of(outcome: Outcome<()>) -> Self {
        let tally = Tally {
            passed: usize::from(outcome.is_ok()),
            failed: usize::from(outcome.is_err()),
            skipped: 0,
        };
        Self { tally, outcome }
    }
}

type Step = (&'static str, fn(&Wishes) -> Report);

const STEPS: &[Step] = &[
    ("format", format),
    ("policy", |_| Report::of(policy::check())),
    ("clippy", clippy),
    ("docs", |_| Report::of(crate::docs::build(false))),
    ("tests", tests),
    ("python", package),
    ("fuzz", fuzz),
];

/// The release profile for everything, so that each dependency is compiled once.
const EVERYTHING: [&str; 2] = ["--release", "--workspace"];

pub fn run(words: &[String]) -> Outcome<()> {
    let mut options = Options::new(words);
    let wishes = Wishes {
        require_data: options.flag("--require-data"),
        full: options.flag("--full"),
        environment: Mutex::default(),
    };
    let only = options.value("--only")?;
    options.finish()?;
    if let Some(name) = &only
        && !STEPS.iter().any(|(step, _)| step == name)
    {
        let names: Vec<&str> = STEPS.iter().map(|(step, _)| *step).collect();
        return Err(format!(
            "there is no step `{name}`; the steps are {}",
            names.join(", ")
        ));
    }
    let data = workspace::data_folder();
    if wishes.require_data && !data.is_dir() {
        return Err(format!(
            "the data folder {} does not exist; set QUORATE_DATA or leave --require-data out",
            data.display()
        ));
    }

    if only.is_none()
        && let Ok(mut environment) = wishes.environment.lock()
    {
        *environment = Some(std::thread::spawn(python::prepare));
    }

    let mut rows: Vec<(&str, Duration, Tally)> = Vec::new();
    let mut total = Tally::default();
    let mut failure = None;
    for (name, step) in STEPS {
        if only.as_deref().is_some_and(|wanted| wanted != *name) {
            continue;
        }
        println!("\n== {name}");
        let start = Instant::now();
        let report = step(&wishes);
        rows.push((name, start.elapsed(), report.tally));
        total.add(report.tally);
        if let Err(sentence) = report.outcome {
            failure = Some(format!("step `{name}` failed: {sentence}"));
            break;
        }
    }
    print_summary(&rows, failure.as_deref());
    println!("{total}");
    // The closing line stays the last one: the sentence of a failure has been printed above it.
    match failure {
        None => Ok(()),
        Some(_) => std::process::exit(1),
    }
}

fn print_summary(rows: &[(&str, Duration, Tally)], failure: Option<&str>) {
    println!(
        "\n{:<8} {:>8}  {:>7} {:>7} {:>7}",
        "step", "seconds", "passed", "failed", "skipped"
    );
    for (name, took, tally) in rows {
        println!(
            "{name:<8} {:>8.1}  {:>7} {:>7} {:>7}",
            took.as_secs_f64(),
            tally.passed,
            tally.failed,
            tally.skipped
        );
    }
    let seconds: f64 = rows.iter().map(|row| row.1.as_secs_f64()).sum();
    println!("{:<8} {seconds:>8.1}\n", "all");
    if let Some(sentence) = failure {
        println!("{sentence}");
    }
}

fn format(_: &Wishes) -> Report {
    let outcome = process::run(
        process::cargo()
            .args(["fmt", "--all", "--check"])
            .current_dir(workspace::root()),
    );
    Report::of(outcome.map_err(|error| format!("{error}; `cargo fmt --all` repairs it")))
}

fn clippy(_: &Wishes) -> Report {
    Report::of(process::run(
        process::cargo()
            .arg("clippy")
            .args(EVERYTHING)
            .args(["--all-targets", "--locked", "--", "-D", "warnings"])
            .current_dir(workspace::root()),
    ))
}

/// All Rust tests: libraries, binaries, integration tests, documentation; examples are built along with them.
fn tests(wishes: &Wishes) -> Report {
    let log = match skip_log() {
        Ok(log) => log,
        Err(error) => return Report::of(Err(error)),
    };
    let prepare = |command: &mut Command| {
        command
            .env("QUORATE_DATA", workspace::data_folder())
            .env("QUORATE_SKIP_LOG", &log);
        if wishes.full {
            command.env("QUORATE_FULL", "1");
        }
    };
    let cargo_test = || {
        let mut command = process::cargo();
        command
            .arg("test")
            .args(EVERYTHING)
            .arg("--locked")
            .current_dir(workspace::root());
        command
    };
    let mut tally = Tally::default();
    let with_ignored = |command: &mut Command| {
        prepare(command);
        if wishes.full {
            command.arg("--include-ignored");
        }
    };
    let mut outcome = programs::run(&mut cargo_test(), with_ignored, &mut tally);
    if outcome.is_ok() {
        let mut documentation = cargo_test();
        documentation.arg("--doc");
        prepare(&mut documentation);
        outcome = process::follow(&mut documentation, |line| tally.read_line(line));
    }
    let skipped = skipped_tests(&log);
    tally.move_to_skipped(skipped.len());
    // What needs a browser is looked at where there is one; no data set can stand in for it.
    let (browser, data): (Vec<&String>, Vec<&String>) = skipped
        .iter()
        .partition(|line| line.starts_with("needs a browser"));
    for line in &browser {
        println!("skipped: {line}");
    }
    for line in &data {
        println!("skipped: needs data: {line}");
    }
    if outcome.is_err() && tally.failed == 0 {
        // Nothing ran to the end: the build itself failed, and that counts.
        tally.failed = 1;
    }
    if outcome.is_ok() && wishes.require_data && !data.is_empty() {
        outcome = Err(format!("{} tests found no data", data.len()));
    }
    if outcome.is_ok() && tally.passed == 0 {
        outcome = Err("no test ran, which cannot be right".into());
    }
    Report { tally, outcome }
}

/// The Python package: its wheel is built, installed and tested in an environment of its own.
fn package(wishes: &Wishes) -> Report {
    let early = wishes.environment.lock().ok();
    if let Some(making) = early.and_then(|mut own| own.take()) {
        // What went wrong there goes wrong again below, and is told.
        let _ = making.join();
    }
    if !python::found() {
        let tally = Tally {
            skipped: 1,
            ..Tally::default()
        };
        println!(
            "skipped: needs Python: python3, 3.11 or newer, with the module venv, was not found"
        );
        let outcome = match wishes.require_data {
            true => Err("no python3 was found".into()),
            false => Ok(()),
        };
        return Report { tally, outcome };
    }
    let mut tally = Tally::default();
    let mut outcome = skip_log().and_then(|log| {
        python::test_package(&log, wishes.full, &mut tally)?;
        match skipped_tests(&log) {
            // Pytest has counted them as skipped already.
            skipped if skipped.is_empty() || !wishes.require_data => Ok(()),
            skipped => Err(format!("{} tests found no data", skipped.len())),
        }
    });
    if outcome.is_err() && tally.failed == 0 {
        tally.failed = 1;
    }
    if outcome.is_ok() && tally.passed == 0 {
        outcome = Err("no test ran, which cannot be right".into());
    }
    Report { tally, outcome }
}

/// An empty file for tests to note that they were skipped.
fn skip_log() -> Outcome<PathBuf> {
    let folder = workspace::target_folder()?.join("xtask");
    let log = folder.join("skipped.txt");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&log, ""))
        .map_err(|error| format!("{} cannot be written: {error}", log.display()))?;
    Ok(log)
}

/// Twenty seconds for each fuzz target, ten minutes with `--full`.
///
/// The driver is built as part of the whole workspace: on its own, cargo would pick other features for the shared
/// dependencies and compile them a second time.
fn fuzz(wishes: &Wishes) -> Report {
    let seconds = if wishes.full { "600" } else { "20" };
    let outcome = process::run(
        process::cargo()
            .arg("test")
            .args(EVERYTHING)
            .args(["--locked", "--no-run", "--quiet", "--test", "corpus"])
            .current_dir(workspace::root()),
    )
    .and_then(|()| workspace::target_folder())
    .and_then(|folder| {
        let driver = folder
            .join("release")
            .join(format!("quorate-fuzz{}", std::env::consts::EXE_SUFFIX));
        process::run(
            Command::new(driver)
                .args(["all", "--seconds", seconds, "--seed", "0"])
                .current_dir(workspace::root()),
        )
    });
    Report::of(outcome)
}
