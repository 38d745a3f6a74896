//! Runs the built command in a folder of its own and looks at what it leaves there.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

#[cfg(unix)]
pub mod ending;
#[cfg(unix)]
pub mod terminal;

/// A folder for one test; gone with it.
pub struct Place {
    folder: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with `train.csv`, `test.csv` and `model.quorate`, a model of the former.
    pub fn with_model() -> Self {
        let place = Self::new();
        place.write("train.csv", rows(40, 1));
        place.write("test.csv", rows(15, 2));
        place.write("model.quorate", model());
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names in the folder, hidden ones too, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The command, to be run here; words are split at spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line to its end.
    pub fn run(&self, line: &str) -> Outcome {
        outcome(self.command(line).output().unwrap())
    }

    /// Runs a command line with `input` on standard input.
    pub fn run_with(&self, line: &str, input: &str) -> Outcome {
        self.write("standard-input", input);
        let file = fs::File::open(self.path("standard-input")).unwrap();
        outcome(self.command(line).stdin(file).output().unwrap())
    }
}

impl Outcome {
    /// Asserts that the command did what it should.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

fn outcome(output: Output) -> Outcome {
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A small table with two numbers, a category and a target that follows from them.
pub fn rows(count: usize, seed: usize) -> String {
    let mut text = String::from("a,b,site,y\n");
    for row in 0..count {
        // A lattice rule: spread over the square, the same everywhere, and different for each seed.
        let place = |stride: f64| (row as f64 * stride + seed as f64 * 0.377).fract();
        let (a, b) = (place(0.754_877_666) * 4.0, place(0.569_840_291) * 2.0);
        let site = ["north", "south", "west"][(row + seed) % 3];
        let y = a.sin() + 0.5 * b + ((row + seed) % 3) as f64 + 0.1 * place(0.618_034) - 0.05;
        text += &format!("{a:.4},{b:.4},{site},{y:.5}\n");
    }
    text
}

/// The bytes of a model of `rows(40, 1)`, fitted once for all tests of a file.
fn model() -> &'static [u8] {
    static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
    MODEL.get_or_init(|| {
        let place = Place::new();
        place.write("train.csv", rows(40, 1));
        place
            .run("fit train.csv --target y --kernel se(ard)+category[site] --restarts 0 -o model.quorate")
            .ok();
        place.bytes("model.quorate")
    })
}

/// Asserts that nothing but `names` is in the folder.
#[track_caller]
pub fn assert_only(place: &Place, names: &[&str]) {
    let mut expected: Vec<&str> = names.to_vec();
    expected.sort_unstable();
    assert_eq!(place.names(), expected);
}

/// Compares with a committed picture of earlier output. `QUORATE_SNAPSHOTS=write` replaces the picture instead: look at
/// the difference before committing it.
#[track_caller]
pub fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/all/snapshots")
        .join(name);
    if std::env::var_os("QUORATE_SNAPSHOTS").is_some_and(|wish| wish == "write") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == known,
        "{name} has changed; now:\n{text}\nbefore:\n{known}"
    );
}
