//! `quorate update`: further rows for a landmarks model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use quorate::Model;
use serde::Serialize;

use super::choices::{checkpoint_path, model_path};
use super::sums::{self, Sum};
use super::usage::check_apart;
use crate::failure::Result;
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables;
use crate::text::{Console, count, printable};

/// Add the rows of a table to a landmarks model as a further part
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate update sales.quorate october.csv -o sales.quorate
  quorate update shared.quorate ward-7.csv --part-name ward-7 --keep-parts -o ward-7.quorate

The result is that of fitting these rows as further parts: scaling, kernel and landmarks stay as they are.")]
pub struct Update {
    /// Model file made by `quorate prepare`, or by `quorate fit --mode landmarks`
    model: PathBuf,
    /// Table with the model's inputs and its target: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    data: PathBuf,
    /// Model file to write; may be the one that was read
    #[arg(short, long, value_name = "MODEL", value_parser = PathBufValueParser::new().try_map(model_path))]
    output: PathBuf,
    /// Name under which the model remembers these rows [default: the table's file name]
    #[arg(long, value_name = "NAME")]
    part_name: Option<String>,
    /// Keep the part's own summary, so that it can be forgotten without its rows
    #[arg(long)]
    keep_parts: bool,
    /// File in which the update writes down how far it has come; the same command goes on from there after an interruption
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(checkpoint_path))]
    checkpoint: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report<'a> {
    part: &'a str,
    rows_added: usize,
    notes: &'a [String],
    #[serde(flatten)]
    sum: Sum<'a>,
}

impl Update {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let written = [Some(&*self.output), self.checkpoint.as_deref()];
        check_apart("update", written, [Some(&*self.data)])?;
        check_apart("update", [self.checkpoint.as_deref()], [Some(&*self.model)])?;
        let staged = Staged::new(&self.output)?;
        let model = Model::load(&self.model)?;
        let mut table = tables::further(&self.data, &model, console)?;
        let name = self.part_name.clone();
        let name = name.unwrap_or_else(|| name_of(&self.data));
        let before = model.inspect()?.rows;
        let progress = Progress::kept(console, self.checkpoint.as_deref())?;
        let updated = model.update_stream(&mut table, &name, self.keep_parts, &progress);
        let (model, notes) = progress.outcome(updated)?;
        let added = model.inspect()?.rows - before;
        for note in &notes {
            console.note(note);
        }
        console.say(format!(
            "Added {} of {} as part {}",
            count(added, "row"),
            self.data.display(),
            printable(&name)
        ))?;
        let sum = sums::write(&model, staged, &self.output, started, console)?;
        progress.done()?;
        console.json(&Report {
            part: &name,
            rows_added: added,
            notes: &notes,
            sum,
        })
    }
}

fn name_of(path: &Path) -> String {
    match path.file_name() {
        Some(name) if path != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "standard-input".to_owned(),
    }
}
