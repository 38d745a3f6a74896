//! The one map from errors of the core to Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};

/// The exception for an error of the core, with its message in the words of the Python package.
pub fn to_python(error: quorate::Error) -> PyErr {
    match error {
        quorate::Error::Gp(quorate_gp::Error::Interrupted) => PyKeyboardInterrupt::new_err(()),
        // Number, text, file: Python picks the subclass (`FileNotFoundError`, `PermissionError`) by the number.
        quorate::Error::Io { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, plain(&source), path)),
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        other => PyValueError::new_err(in_python(&other.to_string())),
    }
}

/// The same for errors of the mathematics.
pub fn of_gp(error: quorate_gp::Error) -> PyErr {
    to_python(error.into())
}

fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Flags become keyword arguments: `--part-name` is `part_name`, `--mode landmarks` is `mode='landmarks'`.
fn in_python(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        text.push_str(before);
        let flag = &flag[2..];
        let end = flag
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .unwrap_or(flag.len());
        let (name, after) = flag.split_at(end);
        text.push_str(&name.replace('-', "_"));
        let value: String = match after.strip_prefix(' ') {
            Some(word) => word.chars().take_while(char::is_ascii_lowercase).collect(),
            None => String::new(),
        };
        let ends = &after[(value.len() + 1).min(after.len())..];
        if !value.is_empty() && (ends.starts_with('`') || ends.starts_with(" --")) {
            text.push_str(&format!("='{value}'"));
            rest = ends;
            if let Some(more) = rest.strip_prefix(" --") {
                text.push_str(", ");
                // The next flag keeps its dashes so that it is found.
                rest = &rest[rest.len() - more.len() - 2..];
            }
        } else {
            rest = after;
        }
    }
    text.push_str(rest);
    text.replace("`quorate prepare`", "`prepare`")
        .replace("quorate update part_name", "partial_fit(part_name=...)")
        .replace("`data FILE`", "`X` and `y`")
        .replace("`quorate inspect` lists", "`inspect()` lists")
}
