//! What the examples that measure have in common.
// Each example takes what it needs.
#![allow(dead_code)]

use std::error::Error;
use std::path::Path;

use quorate::gp::data::{Frame, read_all};

/// A measurement, or what went wrong.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A whole table.
pub fn read(path: impl AsRef<Path>) -> Outcome<Frame> {
    let options = quorate_table::OpenOptions::default();
    let mut source = quorate_table::open(path.as_ref(), &options)?;
    Ok(read_all(source.as_mut())?)
}

/// User and system seconds of this process, all threads.
pub fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|t| t.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}
