//! `cargo xtask bench exact`: our times beside those of other software, from one run on one machine.
//!
//! Both sides print one JSON object a line. Ours come from the example `bench_exact` of the crate `quorate`, the
//! others from `benches/exact_peers.py`, which adds the field `tool`. Lines with the same `name` measure the same work:
//! `{"name": "evidence_gradient_n2000_d8", "tool": "scikit-learn", "wall_s": 1.2, "cpu_s": 1.2}`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::options::Options;
use crate::process::{self, Outcome};
use crate::python;
use crate::workspace;

const COMMAND: &str = "cargo xtask bench exact";

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
struct Measurement {
    name: String,
    tool: String,
    wall: f64,
    cpu: f64,
    /// Whatever else the line says: rates, memory.
    more: Vec<(String, String)>,
}

pub fn run(words: &[String]) -> Outcome<()> {
    let mut options = Options::new(words);
    let fresh = options.flag("--fresh");
    let threads = options
        .value("--threads")?
        .map_or(Ok(1), |text| text.parse::<usize>())
        .map_err(|_| "--threads needs a whole number")?;
    let what = options.word();
    options.finish()?;
    match what.as_deref() {
        Some("exact") => exact(threads.max(1), fresh),
        _ => Err("say what to measure: `cargo xtask bench exact`".into()),
    }
}

fn exact(threads: usize, fresh: bool) -> Outcome<()> {
    let root = workspace::root();
    println!("measuring quorate");
    let ours = process::read(
        with_threads(process::cargo(), threads)
            .current_dir(&root)
            .args([
                "run",
                "--release",
                "--locked",
                "--quiet",
                "--package",
                "quorate",
                "--example",
                "bench_exact",
            ]),
    )?;
    let theirs = peers(&root, threads, fresh)?;
    let page = page(
        &read_lines(&ours, "quorate")?,
        &read_lines(&theirs, "peer")?,
        &heading(&root, threads)?,
    );
    let results = root.join("benches").join("RESULTS.md");
    std::fs::write(&results, &page)
        .map_err(|error| format!("{} cannot be written: {error}", results.display()))?;
    print!("{page}");
    Ok(())
}

/// What the peers print, from the last run with the same script, packages, machine and threads unless `fresh`.
fn peers(root: &Path, threads: usize, fresh: bool) -> Outcome<String> {
    let script = root.join("benches").join("exact_peers.py");
    let requirements = root.join("benches").join("requirements.txt");
    let mut key = format!("threads {threads}\n{}", machine());
    for path in [&script, &requirements] {
        key += &std::fs::read_to_string(path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    }
    let folder = workspace::target_folder()?.join("xtask");
    let (key_file, stored) = (
        folder.join("exact_peers.key"),
        folder.join("exact_peers.jsonl"),
    );
    if !fresh && std::fs::read_to_string(&key_file).is_ok_and(|have| have == key) {
        println!("using the stored results of the peers; --fresh measures them again");
        return std::fs::read_to_string(&stored)
            .map_err(|error| format!("{} cannot be read: {error}", stored.display()));
    }
    let python = python::environment("benches", &requirements)?;
    println!("measuring the peers");
    let lines = process::read(with_threads(Command::new(python), threads).arg(&script))?;
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&stored, &lines))
        .and_then(|()| std::fs::write(&key_file, &key))
        .map_err(|error| format!("{} cannot be written: {error}", stored.display()))?;
    Ok(lines)
}

/// The same number of threads for everybody.
fn with_threads(mut command: Command, threads: usize) -> Command {
    for variable in [
        "RAYON_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
    ] {
        command.env(variable, threads.to_string());
    }
    command
}

/// Machine, commit and command: what makes the numbers repeatable.
fn heading(root: &Path, threads: usize) -> Outcome<String> {
    let git = |words: &[&str]| process::read(Command::new("git").args(words).current_dir(root));
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let edited = !git(&["status", "--porcelain"])?.trim().is_empty();
    Ok(format!(
        "- machine: {}\n- threads: {threads}\n- commit: {}{}\n- command: `{COMMAND} --threads {threads}`\n",
        machine(),
        commit.trim(),
        if edited {
            " with uncommitted changes"
        } else {
            ""
        },
    ))
}

/// The processor's name, its number of cores and the operating system.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or(std::env::consts::ARCH, |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, {}", std::env::consts::OS)
}

fn read_lines(text: &str, default_tool: &str) -> Outcome<Vec<Measurement>> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let list = lines
        .map(|line| read_line(line, default_tool))
        .collect::<Outcome<Vec<_>>>()?;
    if list.is_empty() {
        return Err(format!("{default_tool} printed no measurement"));
    }
    Ok(list)
}

fn read_line(line: &str, default_tool: &str) -> Outcome<Measurement> {
    let wrong = |what: &str| format!("the measurement `{line}` {what}");
    let value: Value = serde_json::from_str(line).map_err(|_| wrong("is not JSON"))?;
    let object = value.as_object().ok_or_else(|| wrong("is no object"))?;
    let number = |key: &str| object.get(key).and_then(Value::as_f64);
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(String::from);
    let known = ["name", "tool", "wall_s", "cpu_s"];
    let more = object
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()));
    Ok(Measurement {
        name: text("name").ok_or_else(|| wrong("has no name"))?,
        tool: text("tool").unwrap_or_else(|| default_tool.into()),
        wall: number("wall_s").ok_or_else(|| wrong("has no wall_s"))?,
        cpu: number("cpu_s").ok_or_else(|| wrong("has no cpu_s"))?,
        more: more
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect(),
    })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The page: each piece of work, our time, and how many times longer each peer takes.
fn page(ours: &[Measurement], theirs: &[Measurement], heading: &str) -> String {
    let mut page = format!("# Exact Gaussian-process regression: measured times\n\n{heading}\n");
    page += "A ratio above 1 means that Quorate is faster; wall-clock seconds, CPU seconds in brackets.\n\n";
    page += "| work | quorate | peer | its time | ratio |\n|---|---:|---|---:|---:|\n";
    for our in ours {
        let time = |one: &Measurement| format!("{:.4} ({:.4})", one.wall, one.cpu);
        let peers: Vec<&Measurement> = theirs.iter().filter(|one| one.name == our.name).collect();
        if peers.is_empty() {
            let _ = writeln!(page, "| {} | {} | | | |", our.name, time(our));
        }
        for peer in peers {
            let ratio = peer.wall / our.wall;
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {ratio:.2} |",
                our.name,
                time(our),
                peer.tool,
                time(peer)
            );
        }
    }
    let extra: Vec<&Measurement> = ours
        .iter()
        .chain(theirs)
        .filter(|one| !one.more.is_empty())
        .collect();
    if !extra.is_empty() {
        page += "\n| work | tool | measured besides |\n|---|---|---|\n";
        for one in extra {
            let facts: Vec<String> = one
                .more
                .iter()
                .map(|(key, value)| format!("{key} {value}"))
                .collect();
            let _ = writeln!(
                page,
                "| {} | {} | {} |",
                one.name,
                one.tool,
                facts.join(", ")
            );
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_of_the_same_work_become_a_ratio() -> Outcome<()> {
        let ours = read_lines(
            "{\"name\": \"fit\", \"wall_s\": 0.5, \"cpu_s\": 0.4, \"gflops\": 40.0}\n",
            "quorate",
        )?;
        let theirs = read_lines(
            "{\"name\": \"fit\", \"tool\": \"scikit-learn\", \"wall_s\": 2.0, \"cpu_s\": 2.0}\n",
            "peer",
        )?;
        let page = page(&ours, &theirs, "- machine: test\n");
        assert!(page.contains("| fit | 0.5000 (0.4000) | scikit-learn | 2.0000 (2.0000) | 4.00 |"));
        assert!(page.contains("| fit | quorate | gflops 40.0 |"));
        Ok(())
    }

    #[test]
    fn a_line_without_a_time_is_refused() {
        assert!(read_lines("{\"name\": \"fit\"}", "quorate").is_err());
        assert!(read_lines("nothing here", "quorate").is_err());
    }
}
