//! Which inputs matter.

use super::{Page, html};
use crate::plot::svg::Ranked;
use crate::text::{count, significant};

/// Inputs with a bar of their own.
const SHOWN: usize = 24;

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let mut inputs: Vec<_> = page.inspection.inputs.iter().collect();
    inputs.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    let rest = inputs.len().saturating_sub(SHOWN);
    let more = match rest {
        0 => String::new(),
        _ => format!(
            " The {} with the least are in the table only.",
            count(rest, "input")
        ),
    };
    let ranked = Ranked {
        title: "Relevance of inputs".to_owned(),
        description: "Bars: expected change of the target over one deviation of each input, in deviations of the target."
            .to_owned(),
        bars: inputs
            .iter()
            .take(SHOWN)
            .map(|input| {
                let text = significant(input.relevance, 3);
                (input.name.clone(), input.relevance, text)
            })
            .collect(),
    };
    let rows: Vec<Vec<String>> = inputs
        .iter()
        .map(|input| {
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| significant(v, 4));
            let kind = match input.levels {
                Some(levels) => format!("{}, {}", input.kind, count(levels, "level")),
                None => input.kind.to_owned(),
            };
            vec![
                input.name.clone(),
                kind,
                number(input.mean),
                number(input.deviation),
                number(input.length_scale),
                significant(input.relevance, 3),
                input.missing.to_string(),
            ]
        })
        .collect();
    let heads = [
        ("input", false),
        ("kind", false),
        ("mean", true),
        ("deviation", true),
        ("length scale", true),
        ("relevance", true),
        ("missing", true),
    ];
    html::section(
        "Inputs",
        "inputs",
        &html::cards(&[
            html::bars(
                &ranked,
                &format!(
                    "How much the target is expected to change over one deviation of an input (or a change of level), in \
                     deviations of the target.{more}"
                ),
            ),
            html::wide_table(
                "In the units of each input, as in the training rows.",
                &heads,
                &rows,
            ),
        ]),
    )
}
