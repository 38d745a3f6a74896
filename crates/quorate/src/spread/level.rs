//! The level of a spread at which intervals hold what they say.
//!
//! Errors in units of their deviation are seldom normal: where a few are far off and most are small, the variance that
//! makes the rows likeliest is too wide for most of them, and 95 % intervals hold nearly all rows. One factor for all
//! variances brings them back, at a price in density that is bounded.

use super::Spread;
use super::learn::WIDEST;
use super::search::Search;
use crate::prediction::standard_quantile;

/// Share of the rows that 95 % intervals may hold, at least and at most, before the level is changed.
const HELD: (f64, f64) = (0.94, 0.96);
/// Log density per row that a change of the level may cost.
const PRICE: f64 = 0.05;
/// The change is made in this many parts, as many as the price allows.
const PARTS: u32 = 20;

/// What is added to every logarithm.
pub(super) struct Level(f64);

impl Level {
    /// The least change after which intervals hold neither too few nor too many of the rows.
    pub fn of(search: &Search, logarithms: &[f64], counts: &[f64]) -> Self {
        let ratios: Vec<f64> = search.ratios(logarithms).collect();
        let rows: f64 = counts.iter().sum();
        let held = |edge: f64| {
            let inside = ratios.iter().zip(counts).filter(|(own, _)| **own <= edge);
            inside.map(|(_, count)| count).sum::<f64>() / rows
        };
        let edge = standard_quantile(0.975).powi(2);
        let now = held(edge);
        let wanted = now.clamp(HELD.0, HELD.1);
        if wanted == now || rows.is_nan() {
            return Self(0.0);
        }
        let change = (quantile(&ratios, counts, wanted) / edge).ln();
        if !change.is_finite() {
            return Self(0.0);
        }
        let loss = |added: f64| {
            let lifted: Vec<f64> = logarithms.iter().map(|own| own + added).collect();
            search.losses(&lifted, counts).sum::<f64>() / rows
        };
        let most = loss(0.0) + PRICE;
        let parts = (1..=PARTS)
            .rev()
            .map(|part| change * f64::from(part) / f64::from(PARTS));
        Self(
            parts
                .into_iter()
                .find(|added| loss(*added) <= most)
                .unwrap_or(0.0),
        )
    }

    pub fn factor(&self, logarithm: f64) -> f64 {
        (logarithm + self.0).clamp(-WIDEST, WIDEST).exp()
    }

    pub fn lift(&self, mut spread: Spread) -> Spread {
        let lift = |own: f64| (own + self.0).clamp(-WIDEST, WIDEST);
        spread.curve.iter_mut().for_each(|own| *own += self.0);
        spread.range = (lift(spread.range.0), lift(spread.range.1));
        spread
    }
}

/// The value that this share of the counts does not exceed.
fn quantile(values: &[f64], counts: &[f64], share: f64) -> f64 {
    let mut sorted: Vec<(f64, f64)> = values.iter().copied().zip(counts.iter().copied()).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = counts.iter().sum();
    let mut below = 0.0;
    for (value, count) in &sorted {
        below += count;
        if below >= share * all {
            return *value;
        }
    }
    sorted.last().map_or(f64::NAN, |(value, _)| *value)
}
