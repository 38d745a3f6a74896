//! `cargo xtask bench committee`: large tables, default flags, beside the peers on the same rows.
//!
//! The rows come from `peers.py --write-split`, so everybody reads the same files. Runs of the peers take hours; each is
//! kept in `benches/committee_runs.jsonl` and not repeated unless `--fresh` asks for it. Ours are measured whenever they are
//! among the `--tools`. `--page` measures nothing and writes the page of the runs that are kept, under the heading it has.

mod page;
mod result;
mod sets;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::options::Options;
use crate::process::{self, Outcome};
use crate::python;
use crate::workspace;
use result::Run;
use sets::{Split, TABLES, TOOLS, Table};

/// What was asked for.
struct Wanted {
    tables: Option<Vec<String>>,
    tools: Vec<String>,
    seeds: u64,
    fresh: bool,
    threads: usize,
}

pub fn run(mut options: Options, threads: usize) -> Outcome<()> {
    let list = |text: String| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
    let wanted = Wanted {
        tables: options.value("--only")?.map(list),
        tools: options
            .value("--tools")?
            .map_or_else(|| TOOLS.map(str::to_owned).to_vec(), list),
        seeds: options
            .value("--seeds")?
            .map_or(Ok(1), |text| text.parse())
            .map_err(|_| "--seeds needs a whole number")?,
        fresh: options.flag("--fresh"),
        threads,
    };
    let only_page = options.flag("--page");
    options.finish()?;
    let root = workspace::root();
    let kept = root.join("benches").join("committee_runs.jsonl");
    if only_page {
        let results = results(&root);
        let text = std::fs::read_to_string(&results).map_err(|error| error.to_string())?;
        let heading =
            page::heading(&text).ok_or_else(|| format!("{} has no heading", results.display()))?;
        return write(&results, &page::page(&result::read(&kept)?, heading));
    }
    let tools = workspace::data_folder().join("..").join("tools");
    let python = python::environment("peers", &tools.join("peers-requirements.txt"))?;
    let mut runs = result::read(&kept)?;
    let program = built()?;
    for seed in 0..wanted.seeds {
        for table in tables(&wanted)? {
            let bench = Bench {
                python: &python,
                peers: &tools.join("peers.py"),
                threads: wanted.threads,
                seed,
                table,
            };
            let rows = bench.split()?;
            for tool in &wanted.tools {
                let is_same =
                    |run: &Run| run.table == table.name && run.seed == seed && &run.tool == tool;
                if tool != "quorate" && !wanted.fresh && runs.iter().any(is_same) {
                    continue;
                }
                println!("{} seed {seed}: {tool}", table.name);
                let outcome = match tool.as_str() {
                    "quorate" => bench.ours(&program, &rows),
                    peer => bench.theirs(peer, &rows),
                };
                match outcome {
                    Ok(run) => {
                        println!(
                            "  nlpd {:.4}, rmse {:.4}, {:.0} s",
                            run.nlpd,
                            run.rmse,
                            run.seconds.map_or(f64::NAN, |own| own[0] + own[1])
                        );
                        runs.retain(|run| !is_same(run));
                        result::append(&kept, &run)?;
                        runs.push(run);
                    }
                    // A peer that fails on a table is a result too; ours failing is an error.
                    Err(error) if tool != "quorate" => println!("  {error}"),
                    Err(error) => return Err(error),
                }
            }
        }
    }
    let heading = super::heading(&root, wanted.threads, "committee")?;
    let page = page::page(&runs, &heading);
    print!("{page}");
    write(&results(&root), &page)
}

fn results(root: &Path) -> PathBuf {
    root.join("benches").join("COMMITTEE.md")
}

fn write(results: &Path, page: &str) -> Outcome<()> {
    std::fs::write(results, page)
        .map_err(|error| format!("{} cannot be written: {error}", results.display()))
}

fn tables(wanted: &Wanted) -> Outcome<Vec<&'static Table>> {
    let Some(names) = &wanted.tables else {
        return Ok(TABLES.iter().collect());
    };
    names
        .iter()
        .map(|name| {
            let table = TABLES.iter().find(|table| table.name == name);
            table.ok_or_else(|| format!("no table `{name}`"))
        })
        .collect()
}

/// The program under test.
fn built() -> Outcome<PathBuf> {
    process::run(process::cargo().args([
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "quorate-cli",
    ]))?;
    Ok(workspace::target_folder()?.join("release").join("quorate"))
}

/// One table under one seed.
struct Bench<'a> {
    python: &'a Path,
    peers: &'a Path,
    threads: usize,
    seed: u64,
    table: &'static Table,
}

/// Training and test rows.
struct Rows {
    train: PathBuf,
    test: PathBuf,
}

impl Bench<'_> {
    fn split(&self) -> Outcome<Rows> {
        let folder = workspace::target_folder()?
            .join("bench-rows")
            .join(format!("{}-{}", self.table.name, self.seed));
        let stem = self.table.file.split('.').next().unwrap_or_default();
        let rows = Rows {
            train: folder.join(format!("{stem}.train.parquet")),
            test: folder.join(format!("{stem}.test.parquet")),
        };
        if rows.train.exists() && rows.test.exists() {
            return Ok(rows);
        }
        let mut command = self.python();
        command
            .arg("--data")
            .arg(workspace::data_folder().join(self.table.file));
        match self.table.split {
            Split::Random(train, test) => command
                .args(["--split", "random", "--train"])
                .arg(train.to_string())
                .arg("--test")
                .arg(test.to_string()),
            Split::Index => command.args(["--split", "index"]),
        };
        process::read(command.arg("--write-split").arg(&folder))?;
        Ok(rows)
    }

    fn python(&self) -> Command {
        let mut command = Command::new(self.python);
        command
            .arg(self.peers)
            .args(["--seed", &self.seed.to_string()])
            .env("PEER_THREADS", self.threads.to_string());
        command
    }

    fn theirs(&self, peer: &str, rows: &Rows) -> Outcome<Run> {
        let mut command = self.python();
        command.args(["--peer", peer, "--train-file"]);
        command.arg(&rows.train).arg("--test-file").arg(&rows.test);
        let text = process::read(&mut command)?;
        let line = text.lines().rev().find(|line| line.starts_with('{'));
        let value: Value = line
            .and_then(|line| serde_json::from_str(line).ok())
            .ok_or_else(|| format!("{peer} printed no result"))?;
        let number = |keys: &[&str]| keys.iter().find_map(|key| value[*key].as_f64());
        let run = || {
            Some(Run {
                table: self.table.name.to_owned(),
                tool: peer.to_owned(),
                seed: self.seed,
                rmse: number(&["rmse"])?,
                nlpd: number(&["nlpd"])?,
                coverage: number(&["coverage95"])?,
                seconds: Some([number(&["fit_cpu_s"])?, number(&["predict_cpu_s"])?]),
            })
        };
        run().ok_or_else(|| format!("{peer} gave no score: {value}"))
    }

    fn ours(&self, program: &Path, rows: &Rows) -> Outcome<Run> {
        let model = rows.train.with_file_name("model.quorate");
        let threads = self.threads.to_string();
        let before = children_seconds();
        let mut fit = Command::new(program);
        fit.arg("fit").arg(&rows.train);
        fit.args(["--target", "y", "--quiet", "--threads", &threads]);
        fit.arg("-o").arg(&model);
        process::read(&mut fit)?;
        let fitted = children_seconds();
        let mut evaluate = Command::new(program);
        evaluate.arg("evaluate").arg(&model).arg(&rows.test);
        evaluate.args(["--json", "--threads", &threads]);
        let text = process::read(&mut evaluate)?;
        let done = children_seconds();
        let scores: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let number = |key: &str| {
            let found = scores[key].as_f64();
            found.ok_or_else(|| format!("`evaluate --json` printed no {key}"))
        };
        Ok(Run {
            table: self.table.name.to_owned(),
            tool: "quorate".to_owned(),
            seed: self.seed,
            rmse: number("rmse_standardised")?,
            nlpd: number("nlpd_standardised")?,
            coverage: number("coverage_95")?,
            seconds: Some([fitted - before, done - fitted]),
        })
    }
}

/// User and system seconds of all children that have ended.
fn children_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = after_name
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    let ticks = |field: usize| fields.get(field).copied().unwrap_or(0.0);
    (ticks(13) + ticks(14)) / 100.0
}
