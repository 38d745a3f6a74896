//! `quorate merge`: the sum of landmarks models.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use quorate::Model;

use super::choices::model_path;
use super::sums;
use crate::failure::Result;
use crate::staged::Staged;
use crate::text::{Console, count};

/// Add landmarks models that share scaling, kernel and landmarks
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate prepare sample.csv --target y -o shared.quorate
  quorate update shared.quorate north.csv -o north.quorate
  quorate update shared.quorate south.csv -o south.quorate
  quorate merge north.quorate south.quorate -o all.quorate      the same bytes in any order

Only what `update` wrote travels: sums over rows, never the rows.")]
pub struct Merge {
    /// Model files that started from one `quorate prepare` or one model; no part may be in two of them
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Model file to write; may be one of those that were read
    #[arg(short, long, value_name = "MODEL", value_parser = PathBufValueParser::new().try_map(model_path))]
    output: PathBuf,
}

impl Merge {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let staged = Staged::new(&self.output)?;
        let mut models = Vec::with_capacity(self.models.len());
        for path in &self.models {
            models.push((path.display().to_string(), Model::load(path)?));
        }
        let model = Model::merge(models)?;
        console.say(format!("Added {}", count(self.models.len(), "model")))?;
        let sum = sums::write(&model, staged, &self.output, started, console)?;
        console.json(&sum)
    }
}
