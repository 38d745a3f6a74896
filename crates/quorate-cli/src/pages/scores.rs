//! Scores as tables.

use quorate::{ClassScores, QuantityScores, Scorecard, Scores};

use crate::text::{Align, HEADING, Table, percent, printable, significant};

/// Scores of any task.
pub fn scores(card: &Scorecard) -> String {
    match card {
        Scorecard::Number(scores) => of_number(scores),
        Scorecard::Numbers(several) => several
            .targets
            .iter()
            .map(|own| {
                let title = printable(&own.target);
                format!(
                    "{HEADING}{title}{HEADING:#}\n\n{}\n",
                    of_number(&own.scores)
                )
            })
            .collect(),
        Scorecard::Classes(scores) => of_classes(scores),
        Scorecard::Quantity(scores) => of_quantity(scores),
    }
}

/// A table of averages, and one of intervals.
fn of_quantity(scores: &QuantityScores) -> String {
    let mut averages = Table::new([
        ("score", Align::Left),
        ("", Align::Right),
        ("", Align::Left),
    ]);
    let short = |value: f64| significant(value, 4);
    averages
        .row([
            "NLPD",
            &short(scores.nlpd),
            "negative log predictive density",
        ])
        .row([
            "RMSE",
            &short(scores.rmse),
            "root mean squared error of the mean",
        ])
        .row(["MAE", &short(scores.mae), "mean absolute error of the mean"]);
    if let Some(deviance) = scores.poisson_deviance {
        averages.row(["deviance", &short(deviance), "mean Poisson deviance"]);
    }
    if scores.observed < scores.n {
        let censored = (scores.n - scores.observed).to_string();
        averages.row([
            "censored",
            &censored,
            "rows known only to exceed their value",
        ]);
    }
    if let Some(concordance) = scores.concordance {
        averages.row([
            "concordance",
            &short(concordance),
            "share of pairs whose order was foretold",
        ]);
    }
    for at in &scores.brier_at {
        let name = format!("Brier at {}", short(at.time));
        let meaning = "squared error of the survival probability";
        averages.row([&name, &short(at.brier), meaning]);
    }
    let mut intervals = Table::new([("interval", Align::Right), ("coverage", Align::Right)]);
    for (level, coverage) in [
        ("50 %", scores.coverage_50),
        ("90 %", scores.coverage_90),
        ("95 %", scores.coverage_95),
    ] {
        intervals.row([level, &percent(coverage)]);
    }
    format!("{}\n{}", averages.render(), intervals.render())
}

/// A table of averages and a calibration table.
fn of_classes(scores: &ClassScores) -> String {
    let mut averages = Table::new([
        ("score", Align::Left),
        ("", Align::Right),
        ("", Align::Left),
    ]);
    let short = |value: f64| significant(value, 4);
    let auc = scores.auc.map(short).unwrap_or_default();
    let errors = format!("share of rows in the wrong class ({} rows)", scores.errors);
    averages
        .row(["error rate", &percent(scores.error_rate), &errors])
        .row([
            "log loss",
            &short(scores.log_loss),
            "mean negative log probability",
        ])
        .row([
            "Brier",
            &short(scores.brier),
            "squared distance from the truth",
        ])
        .row(["ECE", &short(scores.ece), "expected calibration error"])
        .row([
            "AUC",
            &auc,
            "area under the ROC curve, mean over the classes",
        ]);
    let mut steps = Table::new([
        ("confidence", Align::Right),
        ("rows", Align::Right),
        ("mean", Align::Right),
        ("right", Align::Right),
    ]);
    for step in &scores.calibration {
        steps.row([
            format!("{} to {}", percent(step.from), percent(step.to)),
            short(step.rows),
            percent(step.confidence),
            percent(step.accuracy),
        ]);
    }
    format!("{}\n{}", averages.render(), steps.render())
}

/// A table of averages and a table of intervals.
fn of_number(scores: &Scores) -> String {
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
