//! A table that is absorbed as it comes: a chunk of rows is cut into parts, heard, and gone before the next is read.

use std::collections::BTreeSet;

use quorate_gp::data::{Batches, Chunks, Column, Dataset, Frame, Schema};
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use super::committee::Fingerprint;
use super::{Committee, Cut, Ear, Strays, Summary, SummaryTree};
use crate::error::{Error, Result};
use crate::partition::Labels;

/// A table of more rows than this is not held: they are absorbed in chunks of this size, and a sample of this size stands
/// for the table where scaling, hyperparameters and landmarks are learned.
pub const CHUNK_ROWS: usize = 50_000;

/// Remarks on the cells of chunks, at most: the first few say what is wrong with the others.
const MOST_NOTES: usize = 6;

/// How the rows of a long table were given to experts: enough to do it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streamed {
    /// Rows of a chunk; each is cut into parts of its own.
    pub chunk: usize,
    /// Positions of the rows that were scored first and absorbed last; rows of their chunk with equal inputs went with them.
    pub held_out: Vec<usize>,
}

/// What a pass over a table has found.
#[derive(Debug)]
pub struct Pass {
    /// Rows of positive weight.
    pub rows: usize,
    /// Rows with different inputs within their chunk.
    pub distinct_rows: usize,
    /// SHA-256 of the encoded rows.
    pub fingerprint: String,
    /// The rows held out, if any.
    pub held: Option<Dataset>,
    /// Sentences for people.
    pub notes: Vec<String>,
}

/// What every chunk of a table is heard with.
pub struct Listener<'a> {
    /// How its cells become numbers.
    pub schema: &'a Schema,
    /// How its rows are heard.
    pub ear: Ear<'a>,
    /// How the rows of a chunk are cut into parts.
    pub cut: &'a Cut,
}

impl Listener<'_> {
    /// Adds all rows of a table to a tree but those held out, which are handed back.
    pub fn hear(
        &self,
        tree: &mut SummaryTree,
        source: &mut dyn Batches,
        how: &Streamed,
        committee: &Committee,
        watch: &dyn Watch,
    ) -> Result<Pass> {
        let held_out: BTreeSet<usize> = how.held_out.iter().copied().collect();
        let mut strays = Strays::new(self.schema, committee);
        let mut fingerprint = Fingerprint::default();
        let mut pass = Pass {
            rows: 0,
            distinct_rows: 0,
            fingerprint: String::new(),
            held: None,
            notes: Vec::new(),
        };
        let mut chunks = Chunks::new(source, how.chunk);
        let mut read = 0;
        while let Some(frame) = chunks.next_batch()? {
            watch.check()?;
            let first = read;
            read += frame.rows();
            if self.is_empty(&frame) {
                continue;
            }
            let data = self.schema.training_data(&frame)?;
            if pass.notes.len() < MOST_NOTES {
                pass.notes.extend(self.remarks(&frame, first, how.chunk)?);
            }
            let labels = Labels::of(&self.cut.parts, &frame)?;
            drop(frame);
            fingerprint.update(&data);
            same_rows(&fingerprint, first, watch)?;
            strays.observe(&data);
            pass.rows += data.members().len();
            pass.distinct_rows += data.rows();
            let (held, others) = apart(&data, first, &held_out);
            if !held.is_empty() {
                let held = data.select(&held);
                match &mut pass.held {
                    Some(all) => all.append(&held),
                    None => pass.held = Some(held),
                }
            }
            let others = data.select(&others);
            drop(data);
            self.ear
                .hear(tree, &others, self.cut, labels.as_ref(), watch)?;
        }
        pass.fingerprint = fingerprint.finish();
        pass.notes.extend(strays.notes(self.schema));
        Ok(pass)
    }

    /// What a person should know of the cells of a chunk.
    fn remarks(&self, frame: &Frame, first: usize, chunk: usize) -> Result<Vec<String>> {
        let notes = self.schema.encode(frame)?.notes;
        if first == 0 && frame.rows() < chunk {
            return Ok(notes);
        }
        let (from, to) = (first + 1, first + frame.rows());
        let placed = |note: &String| format!("rows {from} to {to}: {note}");
        Ok(notes.iter().map(placed).collect())
    }

    /// The summary of all rows of a table, the way they were heard before.
    pub fn summarise(
        &self,
        source: &mut dyn Batches,
        how: &Streamed,
        committee: &Committee,
        watch: &dyn Watch,
    ) -> Result<Summary> {
        let mut tree = SummaryTree::of_outputs(self.schema.target().functions());
        let pass = self.hear(&mut tree, source, how, committee, watch)?;
        if let Some(held) = &pass.held {
            let how = self.cut.without_column();
            self.ear.hear(&mut tree, held, &how, None, watch)?;
        }
        Ok(tree.total(self.ear.landmarks.count())?)
    }

    /// True when no row of a frame has any weight.
    fn is_empty(&self, frame: &Frame) -> bool {
        let weight = self.schema.roles().weight.as_ref();
        match weight.and_then(|name| frame.column(name)) {
            Some(Column::Number(cells)) => cells.iter().all(|weight| *weight == 0.0),
            _ => false,
        }
    }
}

/// Writes the fingerprint of all rows so far down, or compares it with that of an earlier run.
fn same_rows(fingerprint: &Fingerprint, first: usize, watch: &dyn Watch) -> Result<()> {
    let Some(journal) = watch.journal() else {
        return Ok(());
    };
    let print = fingerprint.numbers();
    match journal.recall() {
        Some(earlier) if earlier == print => Ok(()),
        Some(_) => Err(Error::Spec(format!(
            "the rows from {} on are not those that the checkpoint was made from: remove it, or name another",
            first + 1
        ))),
        None => Ok(journal.record(&print)?),
    }
}

/// The groups of a chunk with a row that was held out, and the others.
fn apart(data: &Dataset, first: usize, held_out: &BTreeSet<usize>) -> (Vec<usize>, Vec<usize>) {
    let mut is_held = vec![false; data.rows()];
    for member in data.members() {
        is_held[member.group] |= held_out.contains(&(first + member.row));
    }
    (0..data.rows()).partition(|&group| is_held[group])
}
