//! Starting other programs and waiting for them.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Success, or one sentence that says what went wrong.
pub type Outcome<T> = std::result::Result<T, String>;

/// The `cargo` that started this program, so that every step uses the pinned toolchain.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    forget_ourselves(&mut command);
    command
}

/// Takes away what cargo told this program about its own package: build scripts that watch these variables would run
/// again, and all that depends on them be compiled again, after every `cargo` by hand.
pub fn forget_ourselves(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let own = name.to_string_lossy();
        if own.starts_with("CARGO_PKG_") || own.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs the command with its output going straight to ours.
pub fn run(command: &mut Command) -> Outcome<()> {
    let status = command
        .status()
        .map_err(|error| format!("`{}` could not be started: {error}", shown(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed ({status})", shown(command)))
    }
}

/// Runs the command and returns its standard output; its standard error goes to ours.
pub fn read(command: &mut Command) -> Outcome<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("`{}` could not be started: {error}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("`{}` failed ({})", shown(command), output.status));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("`{}` printed something that is not text", shown(command)))
}

/// Runs the command, passes each line of its standard output on as it comes, and shows it to `see` as well.
pub fn follow(command: &mut Command, mut see: impl FnMut(&str)) -> Outcome<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{}` could not be started: {error}", shown(command)))?;
    if let Some(pipe) = child.stdout.take() {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        // Bytes rather than text: a test may print anything, and a bad byte must not end the run.
        while reader
            .read_until(b'\n', &mut line)
            .map_err(|error| format!("lost the output of `{}`: {error}", shown(command)))?
            > 0
        {
            // A closed terminal is no reason to abandon the child half way.
            let _ = std::io::stdout().write_all(&line);
            see(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("lost `{}`: {error}", shown(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed ({status})", shown(command)))
    }
}
