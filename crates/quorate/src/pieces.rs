//! Tables of questions of any length, answered piece by piece.

use quorate_gp::data::{Batches, Frame, InMemory, Inputs, Observed, Pieces};
use quorate_gp::watch::{Unwatched, Watch};

use crate::error::{Error, Result};
use crate::model::Model;
use crate::score::Scores;
use crate::task::{CardSum, Forecast, Scorecard};

/// Rows answered at a time. Experts of a local model are shared by neighbouring questions of one piece, so the size is
/// fixed: a table gets the same answers whether it is predicted, scored or reported, and from every file format.
pub const PIECE_ROWS: usize = 65_536;

/// Rows of a table with what the model says about them.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// Encoded inputs.
    pub inputs: Inputs<'a>,
    /// Targets in their own units.
    pub targets: &'a Observed,
    /// What is believed about them.
    pub forecast: &'a Forecast,
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
            let targets = self.schema().observed(&piece)?;
            let encoded = self.schema().encode(&piece)?;
            let forecast = self.forecast_rows(&piece, &encoded)?;
            visit(Answered {
                inputs: encoded.inputs(),
                targets: &targets,
                forecast: &forecast,
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
    ) -> Result<(Scorecard, Vec<String>)> {
        self.evaluate_at(source, &[], watch)
    }

    /// The same; survival is scored at these times, or at the quartiles of the lifetimes when there are none.
    pub fn evaluate_at(
        &self,
        source: &mut dyn Batches,
        horizons: &[f64],
        watch: &dyn Watch,
    ) -> Result<(Scorecard, Vec<String>)> {
        let mut sum = CardSum::at(self.schema(), horizons);
        let mut notes: Vec<String> = Vec::new();
        self.answer_each(source, watch, &mut |answered| {
            sum.add(answered.targets, answered.forecast)?;
            for note in answered.forecast.notes() {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
            Ok(())
        })?;
        Ok((sum.card()?, notes))
    }

    /// Scores the model on a table that has the target, whatever the task.
    pub fn score(&self, table: &Frame) -> Result<Scorecard> {
        let mut source = InMemory::new(table.clone());
        Ok(self.evaluate_batches(&mut source, &Unwatched)?.0)
    }

    /// Scores the model on a table that has the target, where that is one number.
    pub fn evaluate(&self, table: &Frame) -> Result<Scores> {
        self.only_numbers("these scores")?;
        match self.score(table)? {
            Scorecard::Number(scores) => Ok(scores),
            _ => Err(Error::Spec("the target is not one number".into())),
        }
    }
}
