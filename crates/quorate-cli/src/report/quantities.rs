//! Counts, amounts and lifetimes: do targets fall where their predicted distributions say.

use super::calibration::histogram;
use super::{Page, html};
use crate::text::percent;

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let Some(scores) = page.card().and_then(|card| card.quantity()) else {
        return String::new();
    };
    let mut cards = Vec::new();
    if let Some(pit) = page.account.and_then(|found| found.pit.as_ref()) {
        cards.push(html::figure(
            &histogram(pit, scores.n),
            "Where targets fall in their predicted distribution. Flat is calibrated; a valley means intervals too narrow, a \
             hill too wide, a slope means bias. A count is spread over the probability it has, a censored row over what lies \
             beyond it.",
        ));
    }
    let coverage = [
        (0.5, scores.coverage_50),
        (0.9, scores.coverage_90),
        (0.95, scores.coverage_95),
    ];
    let rows: Vec<Vec<String>> = coverage
        .iter()
        .map(|(promised, seen)| vec![percent(*promised), percent(*seen)])
        .collect();
    cards.push(html::table(
        "Central intervals and the share of targets inside. Intervals of counts hold whole numbers, and so a little more than they \
         promise.",
        &[("interval", false), ("inside", true)],
        &rows,
    ));
    html::section("Calibration", "calibration", &html::cards(&cards))
}
