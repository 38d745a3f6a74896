//! Virtual environments for the software we compare with, made under the build folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Outcome};
use crate::workspace;

/// The Python of a virtual environment that holds the packages of a requirements file.
///
/// The environment is made once and kept until the file changes: a copy of it is stored beside the packages as the
/// sign that the installation came to its end. `QUORATE_PYTHON` names a Python that has them already; nothing is
/// installed then.
pub fn environment(name: &str, requirements: &Path) -> Outcome<PathBuf> {
    if let Some(python) = std::env::var_os("QUORATE_PYTHON").filter(|value| !value.is_empty()) {
        return Ok(python.into());
    }
    let wanted = std::fs::read_to_string(requirements)
        .map_err(|error| format!("{} cannot be read: {error}", requirements.display()))?;
    let folder = workspace::target_folder()?.join("venv").join(name);
    let python = if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    };
    let stamp = folder.join("installed.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    println!("making the Python environment `{name}`");
    process::run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    process::run(
        Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
            ])
            .arg(requirements),
    )?;
    std::fs::write(&stamp, wanted)
        .map_err(|error| format!("{} cannot be written: {error}", stamp.display()))?;
    Ok(python)
}
