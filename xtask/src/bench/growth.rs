//! `cargo xtask bench growth`: seconds and memory of landmarks fits as tables grow.

use std::path::Path;

use super::watched::{self, Run};
use crate::process::{self, Outcome};
use crate::workspace;

/// Nine times the rows may take so many times the seconds, and memory may differ by a tenth.
const MOST_TIME: f64 = 9.9;
const MOST_MEMORY: f64 = 1.1;
const GIB: f64 = 1_073_741_824.0;

/// Rows generated for the longest table.
const MANY: &str = "10000000";

pub fn growth(threads: usize, heading: &str) -> Outcome<()> {
    let binary = watched::binary()?;
    let folder = std::env::temp_dir().join("quorate-bench-growth");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let outcome = measured(&binary, threads, &folder, heading);
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

fn measured(binary: &Path, threads: usize, folder: &Path, heading: &str) -> Outcome<()> {
    let flights = workspace::data_folder().join("us_flights.parquet");
    if !flights.exists() {
        return Err(format!("{} is not there", flights.display()));
    }
    let fit = |table: &Path, flags: &str| -> Outcome<Run> {
        let (table, model) = (table.to_string_lossy(), folder.join("model.quorate"));
        let model = model.to_string_lossy();
        let mut words = vec!["fit", &*table, "--target", "y", "--mode", "landmarks"];
        words.extend(flags.split_whitespace());
        words.extend(["--output", &*model]);
        let run = watched::run(binary, threads, &words)?;
        println!("{table}: {run:?}");
        Ok(run)
    };
    let mut runs = Vec::new();
    for rows in ["100000", "900000"] {
        let table = folder.join(format!("flights-{rows}.parquet"));
        let mut first = process::cargo();
        first
            .args(["run", "--release", "--locked", "--quiet"])
            .args(["--package", "quorate-table", "--example", "convert", "--"])
            .arg(&flights)
            .arg(&table)
            .arg(rows);
        process::run(&mut first)?;
        runs.push((rows, "500", fit(&table, "--landmarks 500")?));
    }
    for rows in ["1000000", MANY] {
        let table = folder.join(format!("sine-{rows}.parquet"));
        let name = table.to_string_lossy();
        let words = ["generate", "sine", "--rows", rows, "--output", &*name];
        watched::run(binary, threads, &words)?;
        let flags = "--landmarks 50 --part-size 200 --kernel se(ard)";
        runs.push((rows, "50", fit(&table, flags)?));
        let _ = std::fs::remove_file(&table);
    }
    let (time, memory) = (
        runs[1].2.cpu / runs[0].2.cpu,
        runs[1].2.peak / runs[0].2.peak,
    );
    let long = runs[3].2.peak / runs[2].2.peak;
    let goals = [
        (
            "us_flights: times the processor seconds for 9 times the rows",
            time,
            MOST_TIME,
        ),
        ("us_flights: times the memory", memory, MOST_MEMORY),
        ("us_flights: GiB at 900,000 rows", runs[1].2.peak / GIB, 1.0),
        (
            "sine: times the memory for 10 times the rows",
            long,
            MOST_MEMORY,
        ),
    ];
    let tables = ["us_flights", "us_flights", "sine", "sine"];
    let mut page = format!(
        "# How landmarks fits grow\n\n{heading}\n| table | rows | landmarks | s by the clock | s of processor | MB held |\n|---|---:|---:|---:|---:|---:|\n"
    );
    for (table, (rows, landmarks, run)) in tables.iter().zip(&runs) {
        page += &format!(
            "| {table} | {rows} | {landmarks} | {:.1} | {:.1} | {:.0} |\n",
            run.wall,
            run.cpu,
            run.peak / 1e6
        );
    }
    page += "\n| goal | at most | measured | reached |\n|---|---:|---:|---|\n";
    for (sentence, measured, most) in &goals {
        let reached = if measured <= most { "yes" } else { "no" };
        page += &format!("| {sentence} | {most} | {measured:.2} | {reached} |\n");
    }
    super::write_page("growth.md", &page)?;
    match goals
        .iter()
        .filter(|(_, measured, most)| measured > most)
        .count()
    {
        0 => Ok(()),
        missed => Err(format!("{missed} goals are not reached")),
    }
}
