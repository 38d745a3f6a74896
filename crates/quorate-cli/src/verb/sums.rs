//! What the verbs that add and take away parts have in common: writing the model and saying what it now holds.

use std::path::Path;
use std::time::Instant;

use quorate::{Inspection, Model};
use serde::Serialize;

use crate::failure::Result;
use crate::staged::Staged;
use crate::text::{Console, LITERAL, bytes, count, duration, percent, significant};

/// A model file that was written, and what it holds.
#[derive(Serialize)]
pub struct Sum<'a> {
    model: &'a Path,
    bytes: u64,
    rows: usize,
    parts: Vec<String>,
    landmarks: usize,
    log_evidence: Option<f64>,
    effective_parameters: Option<f64>,
    saturation: f64,
    seconds: f64,
}

/// Writes a landmarks model whole and says what it holds.
pub fn write<'a>(
    model: &Model,
    staged: Staged,
    output: &'a Path,
    started: Instant,
    console: &Console,
) -> Result<Sum<'a>> {
    model
        .save(&staged.path())
        .map_err(|error| staged.blame(error.into()))?;
    let size = std::fs::metadata(staged.path()).map_or(0, |found| found.len());
    let page = model.inspect()?;
    staged.commit()?;
    let sum = Sum::of(&page, output, size, started);
    if let Some(warning) = page.committee.as_ref().and_then(|c| c.warning()) {
        console.note(&warning);
    }
    console.say(format!(
        "{} in {}, seen through {}; effective parameters {}, {} of the landmarks' number",
        count(sum.rows, "row"),
        count(sum.parts.len(), "part"),
        count(sum.landmarks, "landmark"),
        significant(sum.effective_parameters.unwrap_or(0.0), 4),
        percent(sum.saturation),
    ))?;
    console.say(format!(
        "Wrote {LITERAL}{}{LITERAL:#} ({}) after {}",
        output.display(),
        bytes(size),
        duration(started.elapsed())
    ))?;
    Ok(sum)
}

impl<'a> Sum<'a> {
    fn of(page: &Inspection, output: &'a Path, size: u64, started: Instant) -> Self {
        let committee = page.committee.as_ref();
        let parts = committee.map(|found| found.parts.iter().map(|part| part.name.clone()));
        Self {
            model: output,
            bytes: size,
            rows: page.rows,
            parts: parts.map(Iterator::collect).unwrap_or_default(),
            landmarks: committee.map_or(0, |found| found.landmarks),
            log_evidence: page.log_evidence,
            effective_parameters: page.effective_parameters,
            saturation: committee.map_or(0.0, |found| found.saturation),
            seconds: started.elapsed().as_secs_f64(),
        }
    }
}
