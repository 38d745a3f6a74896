//! What a page about a model shows beyond its scores: calibration, widths, a sample of rows, and who answered.
//!
//! Everything is counted as rows pass by, in memory that does not grow with their number. Drawing is left to the shells.

mod account;
mod answerers;
mod left_out;
mod map;
mod reservoir;
mod tally;
mod widths;

pub use account::Account;
pub use answerers::{Answerers, Expert, PartShare};
pub use map::MapColumns;
pub use tally::{Diagnosis, SampledRow, Tally};
pub use widths::WidthClass;

use quorate_gp::data::{Batches, Observed};
use quorate_gp::watch::Watch;

use crate::error::Result;
use crate::model::Model;
use crate::task::Forecast;

impl Model {
    /// Diagnoses the model on a table of any length that has the target; the notes of [`Model::predict`] come along.
    /// A random sample of at most `sampled` rows is kept for drawing.
    pub fn diagnose(
        &self,
        source: &mut dyn Batches,
        sampled: usize,
        watch: &dyn Watch,
    ) -> Result<(Diagnosis, Vec<String>)> {
        self.only_numbers("these pictures")?;
        let map = self.map_columns()?;
        let mut tally = Tally::new(
            self.schema().into(),
            map.columns(),
            sampled,
            self.spec().seed,
        );
        let mut notes: Vec<String> = Vec::new();
        self.answer_each(source, watch, &mut |answered| {
            if let (Observed::Numbers(columns), Forecast::Number(prediction)) =
                (answered.targets, answered.forecast)
            {
                let rows = columns.iter().flatten().enumerate();
                let rows = rows.map(|(row, target)| (*target, 1.0, answered.inputs.row(row)));
                tally.add_all(prediction, rows);
            }
            for note in answered.forecast.notes() {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
            Ok(())
        })?;
        Ok((tally.finish()?, notes))
    }
}
