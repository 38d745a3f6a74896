//! `cargo xtask bench`: our times and scores beside those of other software, measured on one machine; what plans foretell
//! beside what happened (`plan`), and what longer tables take (`growth`).
//!
//! `bench exact`: ours come from the example `bench_exact` of the crate `quorate`, the others from `benches/exact_peers.py`; both print
//! one JSON object a line. Everybody gets the same data and the same number of threads.

mod committee;
mod goals;
mod growth;
mod measurement;
mod page;
mod plan;
mod watched;

use std::path::Path;
use std::process::Command;

use crate::options::Options;
use crate::process::{self, Outcome};
use crate::python;
use crate::workspace;
use measurement::Measurement;

pub fn run(words: &[String]) -> Outcome<()> {
    let mut options = Options::new(words);
    let threads = options
        .value("--threads")?
        .map_or(Ok(cores()), |text| text.parse::<usize>())
        .map_err(|_| "--threads needs a whole number")?;
    let threads = threads.max(1);
    let root = workspace::root();
    match options.word().as_deref() {
        Some("exact") => {
            options.finish()?;
            exact(threads)
        }
        Some("committee") => committee::run(options, threads),
        Some("plan") => {
            options.finish()?;
            plan::plan(threads, &heading(&root, threads, "plan")?)
        }
        Some("growth") => {
            options.finish()?;
            growth::growth(threads, &heading(&root, threads, "growth")?)
        }
        _ => Err(
            "say what to measure: `cargo xtask bench exact`, `committee`, `plan` or `growth`"
                .into(),
        ),
    }
}

fn exact(threads: usize) -> Outcome<()> {
    let root = workspace::root();
    let python = python::environment("golden", &root.join("golden").join("requirements.txt"))?;
    println!("measuring quorate");
    let mut ours = process::cargo();
    ours.args(["run", "--release", "--locked", "--quiet"])
        .args(["--package", "quorate", "--example", "bench_exact"]);
    let ours = measured(&mut ours, &root, threads, "quorate")?;
    println!("measuring the peers");
    let mut theirs = Command::new(python);
    theirs
        .arg(root.join("benches").join("exact_peers.py"))
        .args(["--threads", &threads.to_string()]);
    let theirs = measured(&mut theirs, &root, threads, "peer")?;

    let goals = goals::check(&ours, &theirs);
    let page = page::page(&ours, &theirs, &goals, &heading(&root, threads, "exact")?);
    write_page("RESULTS.md", &page)?;
    match goals.iter().filter(|goal| !goal.reached()).count() {
        0 => Ok(()),
        missed => Err(format!("{missed} goals are not reached")),
    }
}

/// Runs a contestant and reads what it measured.
fn measured(
    command: &mut Command,
    root: &Path,
    threads: usize,
    tool: &str,
) -> Outcome<Vec<Measurement>> {
    for variable in [
        "RAYON_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
    ] {
        command.env(variable, threads.to_string());
    }
    command
        .env("QUORATE_DATA", workspace::data_folder())
        .current_dir(root);
    measurement::read_lines(&process::read(command)?, tool)
}

/// Writes a page of results and shows it.
fn write_page(name: &str, page: &str) -> Outcome<()> {
    let path = workspace::root().join("benches").join(name);
    std::fs::write(&path, page)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    print!("{page}");
    Ok(())
}

/// Machine, commit and command: what makes the numbers repeatable.
fn heading(root: &Path, threads: usize, what: &str) -> Outcome<String> {
    let git = |words: &[&str]| process::read(Command::new("git").args(words).current_dir(root));
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let edited = !git(&["status", "--porcelain"])?.trim().is_empty();
    Ok(format!(
        "- machine: {}\n- threads: {threads}\n- commit: {}{}\n- command: `cargo xtask bench {what} --threads {threads}`\n",
        machine(),
        commit.trim(),
        if edited { " with changes" } else { "" },
    ))
}

/// The processor's name, its number of cores and the operating system.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or(std::env::consts::ARCH, |(_, name)| name);
    format!("{model}, {} cores, {}", cores(), std::env::consts::OS)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
