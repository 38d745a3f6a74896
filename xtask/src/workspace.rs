//! Where things are: the repository, its build folder, its data.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::{self, Outcome};

/// The root of the repository.
///
/// Cargo names this package's folder at run time; the folder known at build time serves when the program is started
/// by hand.
pub fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or(package.clone(), Path::to_path_buf)
}

/// The folder of real data sets as an absolute path, whether or not it exists. Tests run in the folder of their own
/// package, so a relative path would mean a different place to each of them.
pub fn data_folder() -> PathBuf {
    let named = std::env::var_os("QUORATE_DATA").filter(|value| !value.is_empty());
    let folder = match named {
        Some(value) => std::path::absolute(&value).unwrap_or_else(|_| value.into()),
        None => root().join("..").join("shared").join("data"),
    };
    std::fs::canonicalize(&folder).unwrap_or(folder)
}

/// What `cargo metadata` says about the workspace and everything it depends on.
pub fn metadata() -> Outcome<Value> {
    let text = process::read(
        process::cargo()
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(root()),
    )?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata is not JSON: {error}"))
}

/// The folder that cargo builds into.
pub fn target_folder() -> Outcome<PathBuf> {
    metadata()?["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target directory".into())
}
