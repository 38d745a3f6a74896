//! `cargo xtask bench plan`: what plans foretell beside what fits took, on real tables.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::watched::{self, Run};
use crate::process::{self, Outcome};
use crate::workspace;

/// Tables and flags; each way of fitting on tables of different sizes.
const FITS: &[(&str, &str)] = &[
    ("concrete.csv.gz", ""),
    ("wine_red.csv.gz", ""),
    ("california.csv.gz", ""),
    ("elevators.parquet", ""),
    ("pol.parquet", ""),
    ("kin40k.parquet", ""),
    ("protein.parquet", ""),
    ("kin8nm.csv.gz", "--method exact"),
    ("kin40k.parquet", "--mode landmarks"),
    ("scatterometry.parquet", "--mode landmarks --landmarks 500"),
    ("fremtpl2_freq.parquet", "--task count --exposure exposure"),
];

/// How far a plan may be off: bytes by a fifth, seconds by a factor of two.
const BYTES: f64 = 1.2;
const SECONDS: f64 = 2.0;

/// What two cores with nothing else to do make of processor seconds.
const CORES: f64 = 1.7;

pub fn plan(threads: usize, heading: &str) -> Outcome<()> {
    let binary = watched::binary()?;
    let mut page = format!(
        "# Plans beside what happened\n\n{heading}\n\
         | table | flags | way | MB planned | MB held | ratio | s planned | s of processor / {CORES} | ratio | s by the clock |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
    );
    let mut wrong = 0;
    for (table, flags) in FITS {
        let path = workspace::data_folder().join(table);
        if !path.exists() {
            return Err(format!("{} is not there", path.display()));
        }
        let (planned, run) = one(&binary, threads, &path, flags)?;
        let chosen = &planned["chosen"];
        let number = |key: &str| chosen[key].as_f64().unwrap_or(f64::NAN);
        let bytes = number("bytes") / run.peak;
        let seconds = number("seconds") / (run.cpu / CORES);
        let held = within(bytes, BYTES) && within(seconds, SECONDS);
        wrong += usize::from(!held);
        let line = format!(
            "| {table} | {flags} | {} | {:.0} | {:.0} | {bytes:.2} | {:.1} | {:.1} | {seconds:.2} | {:.1} |",
            chosen["way"].as_str().unwrap_or(""),
            number("bytes") / 1e6,
            run.peak / 1e6,
            number("seconds"),
            run.cpu / CORES,
            run.wall,
        );
        println!("{line}");
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{line}");
    }
    let _ = write!(
        page,
        "\nA ratio above 1 means that the plan said more. Plans tell the seconds of two cores with nothing else to do; a machine\n\
         that is shared takes longer by the clock, so plans are compared with processor seconds divided by {CORES}, the speed\n\
         of two cores beside one. {} of {} plans are within a fifth in memory and a factor of two in time.\n",
        FITS.len() - wrong,
        FITS.len(),
    );
    super::write_page("plan.md", &page)?;
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} plans were off")),
    }
}

fn one(binary: &Path, threads: usize, table: &Path, flags: &str) -> Outcome<(Value, Run)> {
    let table = table.to_string_lossy();
    let mut words = vec![&*table, "--target", "y"];
    words.extend(flags.split_whitespace());
    let text = process::read(Command::new(binary).arg("plan").args(&words).arg("--json"))?;
    let planned = serde_json::from_str(&text).map_err(|error| format!("no plan: {error}"))?;
    let model = std::env::temp_dir().join("quorate-bench-plan.quorate");
    let output = model.to_string_lossy();
    let mut fit = vec!["fit"];
    fit.extend(words);
    fit.extend(["--output", &*output]);
    let run = watched::run(binary, threads, &fit);
    // The model itself is not wanted.
    let _ = std::fs::remove_file(&model);
    Ok((planned, run?))
}

fn within(ratio: f64, factor: f64) -> bool {
    ratio <= factor && ratio >= 1.0 / factor
}
