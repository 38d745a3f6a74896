//! Scores as tables.

use quorate::Scores;

use crate::text::{Align, Table, percent, significant};

/// A table of averages and a table of intervals.
pub fn scores(scores: &Scores) -> String {
    let mut averages = Table::new([
        ("score", Align::Left),
        ("own units", Align::Right),
        ("standardised", Align::Right),
        ("", Align::Left),
    ]);
    let short = |value: f64| significant(value, 4);
    averages
        .row([
            "RMSE",
            &short(scores.rmse),
            &short(scores.rmse_standardised),
            "root mean squared error",
        ])
        .row(["MAE", &short(scores.mae), "", "mean absolute error"])
        .row([
            "CRPS",
            &short(scores.crps),
            "",
            "continuous ranked probability score",
        ])
        .row([
            "NLPD",
            &short(scores.nlpd),
            &short(scores.nlpd_standardised),
            "negative log predictive density",
        ])
        .row([
            "SMSE",
            "",
            &scores.smse.map(short).unwrap_or_default(),
            "squared error as a share of the target's variance",
        ])
        .row([
            "MSLL",
            "",
            &short(scores.msll),
            "NLPD less that of the training mean and variance",
        ]);
    let mut intervals = Table::new([
        ("interval", Align::Right),
        ("coverage", Align::Right),
        ("mean width", Align::Right),
    ]);
    for (level, coverage, width) in [
        ("50 %", scores.coverage_50, scores.width_50),
        ("90 %", scores.coverage_90, scores.width_90),
        ("95 %", scores.coverage_95, scores.width_95),
    ] {
        intervals.row([level, &percent(coverage), &short(width)]);
    }
    format!("{}\n{}", averages.render(), intervals.render())
}
