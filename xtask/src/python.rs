//! Python: virtual environments made under the build folder, the wheel, and its tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{self, Outcome};
use crate::tally::Tally;
use crate::workspace;

/// True when there is a Python to work with, new enough for the pinned packages.
pub fn found() -> bool {
    let asked = Command::new("python3")
        .args([
            "-c",
            "import sys, venv; sys.exit(sys.version_info < (3, 11))",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// Makes the environment of [`test_package`] ahead of time, where there is a Python.
pub fn prepare() {
    if found() {
        let _ = package_environment();
    }
}

fn package_environment() -> Outcome<PathBuf> {
    let requirements = workspace::root().join("python").join("requirements.txt");
    own_environment("package", &requirements)
}

/// Builds the wheel with the profile and the features of all other builds, installs it into an environment of its own, and
/// runs the tests of the package there.
pub fn test_package(log: &Path, full: bool, tally: &mut Tally) -> Outcome<()> {
    let root = workspace::root();
    let python = package_environment()?;
    let wheels = workspace::target_folder()?.join("wheels");
    // A wheel of an earlier version would be installed along with the new one.
    if wheels.is_dir() {
        std::fs::remove_dir_all(&wheels)
            .map_err(|error| format!("{} cannot be emptied: {error}", wheels.display()))?;
    }
    let mut maturin = Command::new(&python);
    process::forget_ourselves(&mut maturin);
    process::run(
        maturin
            .args(["-m", "maturin", "build", "--release", "--interpreter"])
            .arg(&python)
            .arg("--out")
            .arg(&wheels)
            .env("PATH", path_to_cargo()?)
            .current_dir(&root),
    )?;
    process::run(
        Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args([
                "--no-deps",
                "--no-index",
                "--force-reinstall",
                "--find-links",
            ])
            .arg(&wheels)
            .arg("quorate")
            .current_dir(&root),
    )?;
    let mut tests = Command::new(&python);
    tests
        .args(["-m", "pytest", "--numprocesses", "3", "--dist", "worksteal"])
        .env("QUORATE_DATA", workspace::data_folder())
        .env("QUORATE_SKIP_LOG", log)
        .env("QUORATE_WHEELS", &wheels)
        .current_dir(&root);
    if full {
        tests.env("QUORATE_FULL", "1");
    }
    process::follow(&mut tests, |line| tally.read_pytest_line(line))
}

/// The path with the `cargo` that started us in front: maturin looks there for the pinned one.
fn path_to_cargo() -> Outcome<OsString> {
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let folder = cargo
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_path_buf);
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(folder.into_iter().chain(std::env::split_paths(&rest)))
        .map_err(|error| format!("the path cannot be written: {error}"))
}

/// The Python of a virtual environment that holds the packages of a requirements file.
///
/// The environment is made once and kept until the file changes: a copy of it is stored beside the packages as the
/// sign that the installation came to its end. `QUORATE_PYTHON` names a Python that has them already; nothing is
/// installed then.
pub fn environment(name: &str, requirements: &Path) -> Outcome<PathBuf> {
    if let Some(python) = std::env::var_os("QUORATE_PYTHON").filter(|value| !value.is_empty()) {
        return Ok(python.into());
    }
    own_environment(name, requirements)
}

/// The same, always our own: for what installs more into it.
fn own_environment(name: &str, requirements: &Path) -> Outcome<PathBuf> {
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
