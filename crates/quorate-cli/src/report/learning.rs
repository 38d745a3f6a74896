//! How the kernel and its hyperparameters were found.

use std::collections::BTreeSet;

use super::{Page, html};
use crate::plot::{Figure, Mark, Tone};
use crate::text::{count, readable_kernel, significant};

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let found = page.inspection;
    let mut cards = Vec::new();
    cards.extend(ascents(page));
    cards.extend(climb(page));
    let candidates: Vec<Vec<String>> = found
        .candidates
        .iter()
        .map(|candidate| {
            vec![
                candidate.kernel.clone(),
                candidate
                    .log_evidence
                    .map_or_else(String::new, |evidence| significant(evidence, 5)),
                significant(candidate.predictive_nlpd, 4),
            ]
        })
        .collect();
    cards.push(html::table(
        "Kernels that were compared; a small NLPD is good.",
        &[
            ("kernel", false),
            ("log evidence", true),
            ("predictive NLPD", true),
        ],
        &candidates,
    ));
    let mut facts = vec![
        vec!["kernel".to_owned(), readable_kernel(&found.kernel)],
        vec!["outcome".to_owned(), found.outcome.clone()],
    ];
    if let Some(evidence) = found.log_evidence {
        facts.push(vec!["log evidence".to_owned(), significant(evidence, 6)]);
    }
    if let Some(record) = &found.conditional {
        facts.push(vec![
            "climb".to_owned(),
            format!(
                "{}, {} skipped; {} of conditional log likelihood a row at the end",
                count(record.steps, "step"),
                record.failures,
                significant(record.log_likelihood_per_row, 4)
            ),
        ]);
    }
    let parameters: Vec<Vec<String>> = found
        .parameters
        .iter()
        .map(|parameter| {
            let fixed = if parameter.fixed { "fixed" } else { "" };
            vec![
                parameter.name.clone(),
                significant(parameter.value, 5),
                fixed.to_owned(),
            ]
        })
        .collect();
    cards.push(html::table(
        "Hyperparameters, in standardised units.",
        &[("name", false), ("value", true), ("", false)],
        &parameters,
    ));
    cards.push(html::wide_table(
        "How learning ended.",
        &[("", false), ("", false)],
        &facts,
    ));
    html::section("Learning", "learning", &html::cards(&cards))
}

/// How the conditional likelihood rose. Every step looks at other groups, so that single steps scatter; the line is the mean
/// of the steps around.
fn climb(page: &Page<'_>) -> Option<String> {
    const AROUND: usize = 8;
    let path = &page.inspection.conditional.as_ref()?.path;
    if path.len() <= AROUND {
        return None;
    }
    let steps: Vec<(f64, f64)> = (1..).map(f64::from).zip(path.iter().copied()).collect();
    let smooth = path.windows(AROUND).zip(1..).map(|(values, first)| {
        let mean = values.iter().sum::<f64>() / AROUND as f64;
        (f64::from(first) + (AROUND as f64 - 1.0) / 2.0, mean)
    });
    let figure = Figure::new("Climb", "step", "conditional log likelihood, a row")
        .described("The grouped conditional likelihood of each step's own groups.")
        .with("steps", Mark::Points(steps))
        .with(format!("mean of {AROUND}"), Mark::Line(smooth.collect()));
    Some(html::figure(
        &figure,
        "The climb of the kernel that was kept, in wide neighbourhoods. A line that still rises at its end would gain from more steps.",
    ))
}

/// Where each ascent of the evidence ended, those on a sample of the rows apart from those on all.
fn ascents(page: &Page<'_>) -> Option<String> {
    let history = &page.inspection.history;
    // One ascent has nothing to be compared with.
    if history.len() < 2 {
        return None;
    }
    let sizes: BTreeSet<usize> = history.iter().map(|record| record.rows).collect();
    let mut figure = Figure::new(
        "Ascents of the evidence",
        "start",
        "log evidence + log prior, a row",
    )
    .described("The objective at the end of each ascent over the number of its start.");
    for (index, rows) in sizes.iter().enumerate() {
        let own = history.iter().filter(|record| record.rows == *rows);
        let points = own
            .map(|record| (record.start as f64, record.value / record.rows as f64))
            .collect();
        figure = figure.with_tone(
            format!("on {}", count(*rows, "row")),
            Mark::Points(points),
            Tone::Number(index),
        );
    }
    let evaluations: usize = history.iter().map(|record| record.evaluations).sum();
    Some(html::figure(
        &figure,
        &format!(
            "{} from different starts, {}. Ascents that end at the same height found the same hill.",
            count(history.len(), "ascent"),
            count(evaluations, "evaluation")
        ),
    ))
}
