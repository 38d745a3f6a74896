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
    let numbers: String = found
        .rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row.iter().map(|value| significant(*value, 4)).collect();
            format!("| {} |\n", cells.join(" | "))
        })
        .collect();
    format!(
        "# {}\n\n{}.\n\n```console\n$ {command}\n```\n\n![{}]({name}.svg)\n\n\
         ## Beside the paper\n\n| the paper says | we find | agrees |\n|---|---|---|\n{claims}\n\
         ## What was done\n\n{setting}\n\
         ## Numbers\n\nAlso in [{name}.csv]({name}.csv), with all their digits.\n\n| {} |\n|{}\n{numbers}",
        found.title,
        experiment.source(),
        found.title,
        found.columns.join(" | "),
        "---:|".repeat(found.columns.len())
    )
}

/// A text that stays in its cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The numbers with all their digits.
pub fn reproduction_csv(found: &Reproduction) -> String {
    let mut text = found.columns.join(",") + "\n";
    for row in &found.rows {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
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
