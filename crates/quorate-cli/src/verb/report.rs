//! `quorate report`: a page about a model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use quorate::Model;
use serde::Serialize;

use super::usage::check_apart;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::report::{DRAWN_ROWS, Page, Shown};
use crate::staged::Staged;
use crate::tables;
use crate::text::{Console, LITERAL, bytes, duration};

/// Make a page about a model: scores, calibration, residuals, inputs, who answered
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate report houses.quorate held-out.csv -o report.html
  quorate report houses.quorate -o report.html                 judged by its own rows, each predicted from the others

One HTML file that needs no network and no script, and prints well.")]
pub struct Report {
    /// Model file made by `quorate fit`
    model: PathBuf,
    /// Table with the model's inputs and its target to score it on: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from
    /// standard input [default: the training rows, where the model keeps them]
    data: Option<PathBuf>,
    /// HTML file to write; `-` for standard output
    #[arg(short, long, value_name = "HTML")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Outcome<'a> {
    output: &'a Path,
    bytes: usize,
    scores: Option<Shown<'a>>,
    not_shown: Vec<String>,
    notes: &'a [String],
}

impl Report {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let read = [Some(&*self.model), self.data.as_deref()];
        check_apart("report", [Some(&*self.output)], read)?;
        let model = Model::load(&self.model)?;
        let staged = match self.output == Path::new("-") {
            true => None,
            false => Some(Staged::new(&self.output)?),
        };
        let progress = Progress::new(console);
        let (mut diagnosis, mut account, mut notes) = (None, None, Vec::new());
        match &self.data {
            Some(path) => {
                let mut source = tables::scoring(path, &model, console)?;
                if model.has_account() {
                    let (found, said) = model.account(&mut *source, &progress)?;
                    (account, notes) = (Some(found), said);
                } else {
                    let (found, said) = model.diagnose(&mut *source, DRAWN_ROWS, &progress)?;
                    (diagnosis, notes) = (Some(found), said);
                }
                notes.extend(tables::unknown_noise(source.header(), &model));
            }
            // Classes and quantities have the scores that the model keeps.
            None if model.has_account() => {}
            None => diagnosis = model.diagnose_left_out(DRAWN_ROWS, &progress)?,
        }
        let sample = diagnosis.as_ref().map_or(&[][..], |found| &found.sample);
        let answerers = model.answerers(sample, DRAWN_ROWS)?;
        progress.finish();
        for note in &notes {
            console.note(note);
        }
        let page = Page {
            model: &self.model,
            data: self.data.as_deref(),
            inspection: &model.inspect()?,
            diagnosis: diagnosis.as_ref(),
            account: account.as_ref(),
            answerers: &answerers,
            map: &model.map_columns()?,
            notes: &notes,
        };
        let html = page.html();
        let Some(staged) = staged else {
            return console.raw(&html);
        };
        std::fs::write(staged.path(), &html)
            .map_err(|error| staged.blame(Failure::file(&staged.path(), &error)))?;
        staged.commit()?;
        console.say(format!(
            "Wrote {LITERAL}{}{LITERAL:#} ({}) after {}: scored on {}",
            self.output.display(),
            bytes(html.len() as u64),
            duration(started.elapsed()),
            page.scored()
        ))?;
        for missing in page.not_shown() {
            console.note(&format!("not shown: {missing}"));
        }
        console.json(&Outcome {
            output: &self.output,
            bytes: html.len(),
            scores: Shown::of(&page),
            not_shown: page.not_shown(),
            notes: &notes,
        })
    }
}
