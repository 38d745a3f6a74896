//! Counts over rows whose targets are classes, counts, amounts or lifetimes.

use quorate_gp::data::{Batches, Observed, Quantity, Sighting, TargetCode};
use quorate_gp::watch::Watch;
use serde::Serialize;

use super::tally::PIT_BARS;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::task::{CardSum, Forecast, QuantityPrediction, Scorecard};

/// What the counts say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Account {
    /// The scores, as `evaluate` gives them.
    pub scores: Scorecard,
    /// Rows of each class, by the class that was likeliest; none where the target is no class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Vec<Vec<usize>>>,
    /// Share of the targets in each of twenty equal steps of their predicted distribution function; 0.05 each when
    /// calibrated. A count is spread evenly between the values of the function below and at it (Czado, Gneiting and Held
    /// 2009, eq. 2), a censored lifetime between its own and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pit: Option<Vec<f64>>,
}

impl Model {
    /// True for a target that [`Model::account`] is about.
    pub fn has_account(&self) -> bool {
        let target = self.schema().target();
        matches!(target, TargetCode::Classes(_) | TargetCode::Quantity(_))
    }

    /// Counts over the rows of a table of any length that has the target, which is a class, a count, an amount or a
    /// lifetime; the notes of [`Model::predict`] come along.
    pub fn account(
        &self,
        source: &mut dyn Batches,
        watch: &dyn Watch,
    ) -> Result<(Account, Vec<String>)> {
        if !self.has_account() {
            return Err(Error::Spec(
                "numbers are diagnosed as such: there is no confusion among them".into(),
            ));
        }
        let mut sum = CardSum::new(self.schema());
        let classes = self.schema().target().classes();
        let mut confusion = classes.map(|own| vec![vec![0; own.count()]; own.count()]);
        let (mut pit, mut weight) = ([0.0; PIT_BARS], 0.0);
        let mut notes: Vec<String> = Vec::new();
        self.answer_each(source, watch, &mut |answered| {
            sum.add(answered.targets, answered.forecast)?;
            match (answered.targets, answered.forecast, &mut confusion) {
                (Observed::Classes(codes), Forecast::Classes(told), Some(confusion)) => {
                    for (code, decision) in codes.iter().zip(told.decisions()) {
                        confusion[*code][decision] += 1;
                    }
                }
                (Observed::Quantities(seen), Forecast::Quantity(told), _) => {
                    for (row, own) in seen.iter().enumerate() {
                        spread(&mut pit, between(told, row, own));
                        weight += 1.0;
                    }
                }
                _ => {}
            }
            for note in answered.forecast.notes() {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
            Ok(())
        })?;
        let account = Account {
            scores: sum.card()?,
            pit: (weight > 0.0).then(|| pit.iter().map(|sum| sum / weight).collect()),
            confusion,
        };
        Ok((account, notes))
    }
}

/// The values of the predicted distribution function between which a target lies.
fn between(told: &QuantityPrediction, row: usize, seen: &Sighting) -> (f64, f64) {
    let at = told.distribution(row, seen.value);
    match (seen.observed, told.code.quantity) {
        (false, _) => (at, 1.0),
        (true, Quantity::Count) if seen.value >= 1.0 => {
            (told.distribution(row, seen.value - 1.0), at)
        }
        (true, Quantity::Count) => (0.0, at),
        (true, _) => (at, at),
    }
}

/// Adds one row, spread evenly over an interval of the distribution function.
fn spread(bars: &mut [f64; PIT_BARS], (low, high): (f64, f64)) {
    let place = |value: f64| (value * PIT_BARS as f64).clamp(0.0, PIT_BARS as f64);
    let (low, high) = (place(low), place(high));
    if high - low < 1e-9 {
        bars[(low as usize).min(PIT_BARS - 1)] += 1.0;
        return;
    }
    for (bar, sum) in bars.iter_mut().enumerate() {
        let (from, to) = (bar as f64, (bar + 1) as f64);
        *sum += (high.min(to) - low.max(from)).max(0.0) / (high - low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_counts_once_however_it_is_spread() {
        let mut bars = [0.0; PIT_BARS];
        for interval in [
            (0.0, 0.31),
            (0.22, 0.22),
            (0.5, 1.0),
            (1.0, 1.0),
            (0.0, 0.0),
        ] {
            spread(&mut bars, interval);
        }
        assert!((bars.iter().sum::<f64>() - 5.0).abs() < 1e-12);
        // A twentieth of 0.31, the whole of 0.22, and nothing of the others.
        assert!((bars[4] - (0.05 / 0.31 + 1.0)).abs() < 1e-12);
        assert!((bars[19] - (0.1 + 1.0)).abs() < 1e-12);
    }
}
