//! Ways in which a command comes to its end.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Outcome, Place};

/// How a command is run.
#[derive(Clone, Copy, Debug)]
pub enum Ending {
    /// Left alone.
    Natural,
    /// Its reader goes after the first line.
    ClosedPipe,
    /// Standard output is a full disk.
    FullOutput,
    /// No file may be larger than a few blocks: a disk that fills up half way.
    SizeLimit,
    /// Ctrl-C after a while.
    Interrupt(Duration),
    /// Killed after a while.
    Kill(Duration),
}

impl Ending {
    /// Runs the command line; how it ended, and the seconds from the signal (or the start) to the end.
    pub fn of(self, place: &Place, line: &str) -> (Outcome, f64) {
        let mut command = match self {
            Ending::SizeLimit => limited(place, line),
            Ending::Interrupt(_) => listening(&place.command(line)),
            _ => place.command(line),
        };
        let output = match self {
            Ending::FullOutput => File::options()
                .write(true)
                .open("/dev/full")
                .unwrap()
                .into(),
            _ => Stdio::piped(),
        };
        // Standard input stays open and empty until the end, so that a command that reads it waits.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        match self {
            Ending::Interrupt(wait) => signal(&child, wait, Signal::SIGINT),
            Ending::Kill(wait) => signal(&child, wait, Signal::SIGKILL),
            _ => {}
        }
        let started = Instant::now();
        let mut stdout = String::new();
        if let Some(mut pipe) = child.stdout.take() {
            match self {
                Ending::ClosedPipe => drop(BufReader::new(pipe).read_line(&mut stdout).unwrap()),
                _ => drop(pipe.read_to_string(&mut stdout).unwrap()),
            }
        }
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let status = child.wait().unwrap();
        let outcome = Outcome {
            // As a shell reports it.
            code: status.code().or(status.signal().map(|signal| 128 + signal)),
            stdout,
            stderr,
        };
        (outcome, started.elapsed().as_secs_f64())
    }
}

fn signal(child: &Child, wait: Duration, signal: Signal) {
    std::thread::sleep(wait);
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// The command with Ctrl-C as a terminal gives it: tests started in the background inherit that it is ignored, and a
/// command respects that.
fn listening(command: &Command) -> Command {
    let mut wrapped = Command::new("env");
    wrapped
        .arg("--default-signal=INT")
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

/// The command under a limit on the size of files; the signal that would kill it is ignored, so that writing fails.
fn limited(place: &Place, line: &str) -> Command {
    let words: String = line
        .split_whitespace()
        .map(|word| format!("'{word}' "))
        .collect();
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f 8; exec \"$0\" {words}"))
        .arg(env!("CARGO_BIN_EXE_quorate"))
        .current_dir(place.path(""))
        .env("TMPDIR", place.path(""))
        .stdin(Stdio::null());
    command
}
