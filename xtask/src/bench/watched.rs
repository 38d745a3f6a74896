//! The command, watched while it runs: seconds, processor seconds and the most memory it held.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{self, Outcome};
use crate::workspace;

/// How a run of the command went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Wall-clock seconds.
    pub wall: f64,
    /// Processor seconds.
    pub cpu: f64,
    /// The most memory held, in bytes.
    pub peak: f64,
}

/// Clock ticks of the kernel's own accounting: fixed on Linux.
const TICKS: f64 = 100.0;

/// The built command.
pub fn binary() -> Outcome<PathBuf> {
    process::run(process::cargo().args([
        "build",
        "--release",
        "--locked",
        "--package",
        "quorate-cli",
    ]))?;
    Ok(workspace::target_folder()?.join("release").join("quorate"))
}

/// Runs the command to its end.
pub fn run(binary: &Path, threads: usize, words: &[&str]) -> Outcome<Run> {
    let mut command = Command::new(binary);
    command
        .args(words)
        .args(["--quiet", "--threads", &threads.to_string()])
        .stdin(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        format!(
            "`{}` could not be started: {error}",
            process::shown(&command)
        )
    })?;
    let folder = PathBuf::from(format!("/proc/{}", child.id()));
    let mut run = Run {
        wall: 0.0,
        cpu: 0.0,
        peak: 0.0,
    };
    loop {
        if let Some((cpu, peak)) = look(&folder) {
            run.cpu = run.cpu.max(cpu);
            run.peak = run.peak.max(peak);
        }
        let ended = child.try_wait().map_err(|error| error.to_string())?;
        if let Some(status) = ended {
            run.wall = started.elapsed().as_secs_f64();
            return if status.success() {
                Ok(run)
            } else {
                Err(format!("`{}` failed ({status})", process::shown(&command)))
            };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processor seconds and peak memory of a process so far.
fn look(folder: &Path) -> Option<(f64, f64)> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    let times = stat.rsplit_once(')')?.1;
    let ticks = |field: usize| times.split_whitespace().nth(field)?.parse::<f64>().ok();
    let status = std::fs::read_to_string(folder.join("status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak: f64 = peak.trim().trim_end_matches(" kB").parse().ok()?;
    Some(((ticks(11)? + ticks(12)?) / TICKS, peak * 1024.0))
}
