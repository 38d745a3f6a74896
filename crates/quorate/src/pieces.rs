//! Tables of questions of any length, answered piece by piece.

use quorate_gp::data::{Batches, Frame, InMemory, Inputs, Pieces};
use quorate_gp::watch::{Unwatched, Watch};

use crate::error::Result;
use crate::model::Model;
use crate::prediction::Prediction;
use crate::score::{ScoreSum, Scores, Yardstick};

/// Rows answered at a time. Experts of a local model are shared by neighbouring questions of one piece, so the size is
/// fixed: a table gets the same answers whether it is predicted, scored or reported, and from every file format.
pub const PIECE_ROWS: usize = 65_536;

/// Rows of a table with what the model says about them.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// Encoded inputs.
    pub inputs: Inputs<'a>,
    /// Targets in their own units.
    pub targets: &'a [f64],
    /// What is believed about them.
    pub prediction: &'a Prediction,
}

impl Model {
    /// Rows answered at a time: about [`PIECE_ROWS`], and whole blocks where the model answers rows in blocks.
    pub fn piece_rows(&self) -> usize {
        match self.questions_together() {
            Some(block) => block * (PIECE_ROWS / block).max(1),
            None => PIECE_ROWS,
        }
    }

    /// Answers every row of a table that has the target, in pieces that are handed to `visit` in their order. Memory does
    /// not grow with the table.
    pub fn answer_each(
        &self,
        source: &mut dyn Batches,
        watch: &dyn Watch,
        visit: &mut dyn FnMut(Answered<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut pieces = Pieces::new(source, self.piece_rows());
        let mut rows = 0;
        while let Some(piece) = pieces.next_batch()? {
            watch.check()?;
            let targets = self.schema().targets(&piece)?;
            let encoded = self.schema().encode(&piece)?;
            let mut prediction = self.predict_encoded(encoded.inputs())?;
            prediction.notes.extend(encoded.notes.iter().cloned());
            visit(Answered {
                inputs: encoded.inputs(),
                targets: &targets,
                prediction: &prediction,
            })?;
            rows += piece.rows();
            watch.progress("scoring", rows, 0);
        }
        Ok(())
    }

    /// Scores the model on a table of any length that has the target; the notes of [`Model::predict`] come along.
    pub fn evaluate_batches(
        &self,
        source: &mut dyn Batches,
        watch: &dyn Watch,
    ) -> Result<(Scores, Vec<String>)> {
        let mut sum = ScoreSum::new(Yardstick::from(self.schema()));
        let mut notes: Vec<String> = Vec::new();
        self.answer_each(source, watch, &mut |answered| {
            let variance = answered.prediction.variance(false);
            for (row, target) in answered.targets.iter().enumerate() {
                sum.add(*target, answered.prediction.mean[row], variance[row], 1.0);
            }
            for note in &answered.prediction.notes {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
            Ok(())
        })?;
        Ok((sum.scores()?, notes))
    }

    /// Scores the model on a table that has the target.
    pub fn evaluate(&self, table: &Frame) -> Result<Scores> {
        let mut source = InMemory::new(table.clone());
        Ok(self.evaluate_batches(&mut source, &Unwatched)?.0)
    }
}
