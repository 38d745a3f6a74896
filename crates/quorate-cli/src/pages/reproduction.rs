//! A reproduced figure as Markdown, as CSV and as a picture.

use quorate_paper::reproduce::{Experiment, Reproduction};

use crate::plot::{Figure, Mark, Tone};
use crate::text::{HEADING, significant};

/// The page: what was done, what the paper says beside what was found, and the numbers.
pub fn reproduction(experiment: Experiment, found: &Reproduction, command: &str) -> String {
    let name = experiment.name();
    let setting: String = found
        .setting
        .iter()
        .map(|line| format!("- {line}\n"))
        .collect();
    let claims: String = found
        .claims
        .iter()
        .map(|claim| {
            let agrees = if claim.agrees { "yes" } else { "**no**" };
            format!(
                "| {} | {} | {agrees} |\n",
                cell(&claim.theirs),
                cell(&claim.ours)
            )
        })
        .collect();
    let numbers: String = (found.rows.iter().enumerate())
        .map(|(place, row)| {
            let label = found.labels.get(place).map(|label| cell(label));
            let cells = row.iter().map(|value| number(*value));
            let cells: Vec<String> = label.into_iter().chain(cells).collect();
            format!("| {} |\n", cells.join(" | "))
        })
        .collect();
    let headings: Vec<&str> = label_heading(found)
        .into_iter()
        .chain(found.columns.iter().copied())
        .collect();
    format!(
        "# {}\n\n{}.\n\n```console\n$ {command}\n```\n\n![{}]({name}.svg)\n\n\
         ## Beside the paper\n\n| the paper says | we find | agrees |\n|---|---|---|\n{claims}\n\
         ## What was done\n\n{setting}\n\
         ## Numbers\n\nAlso in [{name}.csv]({name}.csv), with all their digits.\n\n| {} |\n|{}\n{numbers}",
        found.title,
        experiment.source(),
        found.title,
        headings.join(" | "),
        (label_heading(found).map_or("", |_| "---|")).to_owned()
            + &"---:|".repeat(found.columns.len())
    )
}

/// Heading of the column of labels, where there is one.
fn label_heading(found: &Reproduction) -> Option<&'static str> {
    (!found.labels.is_empty()).then_some("model")
}

/// A number of the table; a gap stays empty.
fn number(value: f64) -> String {
    if value.is_nan() {
        String::new()
    } else {
        significant(value, 4)
    }
}

/// A text that stays in its cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The numbers with all their digits.
pub fn reproduction_csv(found: &Reproduction) -> String {
    let headings = label_heading(found)
        .into_iter()
        .chain(found.columns.iter().copied());
    let quoted = |text: &str| match text.contains(',') {
        true => format!("\"{text}\""),
        false => text.to_owned(),
    };
    let mut text = headings.map(quoted).collect::<Vec<_>>().join(",") + "\n";
    for (place, row) in found.rows.iter().enumerate() {
        let label = found.labels.get(place).map(|label| quoted(label));
        let cells = row.iter().map(|value| match value.is_nan() {
            true => String::new(),
            false => value.to_string(),
        });
        let cells: Vec<String> = label.into_iter().chain(cells).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

/// The curves.
pub fn reproduction_figure(found: &Reproduction) -> Figure {
    let (x, y) = found.axes;
    let mut figure = Figure::new(found.title.as_str(), x, y).described(found.setting.join(" "));
    figure.x.logarithmic = found.logarithmic.0;
    figure.y.logarithmic = found.logarithmic.1;
    for (number, curve) in found.curves.iter().enumerate() {
        let tone = Tone::Number(number);
        figure = figure
            .with_tone(curve.name.as_str(), Mark::Line(curve.points.clone()), tone)
            .with_tone("", Mark::Points(curve.points.clone()), tone);
    }
    figure
}

/// The claims for the terminal.
pub fn reproduction_claims(experiment: Experiment, found: &Reproduction) -> String {
    let mut text = format!(
        "{HEADING}{}{HEADING:#}\n{}\n",
        found.title,
        experiment.source()
    );
    for claim in &found.claims {
        let agrees = if claim.agrees { "agrees" } else { "DIFFERS" };
        text += &format!(
            "\n  paper  {}\n  ours   {}\n         {agrees}\n",
            claim.theirs, claim.ours
        );
    }
    text
}
