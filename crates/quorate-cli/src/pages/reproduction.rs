//! A reproduced figure as Markdown, as CSV and as a picture.

use quorate_paper::reproduce::{Experiment, Panel, Reproduction};

use crate::plot::{Figure, Mark, Tone, svg};
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

/// Small pictures in a row, how much smaller they are, and the range of what they show: what leaves it is drawn at its edge.
const ACROSS: usize = 6;
const SMALLER: f64 = 0.4;
const SHOWN: (f64, f64) = (-2.0, 2.0);
/// Size of a picture that is not made smaller.
const WHOLE: (f64, f64) = (760.0, 440.0);

/// The picture of a page: its figure, and below it the small ones.
pub fn reproduction_picture(found: &Reproduction) -> String {
    let figure = svg::document(&reproduction_figure(found));
    if found.panels.is_empty() {
        return figure;
    }
    let (wide, high) = (SMALLER * WHOLE.0, SMALLER * WHOLE.1);
    let place = |(number, panel): (usize, &Panel)| {
        let (row, column) = (number / ACROSS, number % ACROSS);
        format!(
            "<g transform=\"translate({:.0} {:.0}) scale({SMALLER})\">\n{}</g>\n",
            column as f64 * wide,
            WHOLE.1 + row as f64 * high,
            svg::document(&small(panel))
        )
    };
    let panels: String = found.panels.iter().enumerate().map(place).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\">\n{figure}{panels}</svg>\n",
        ACROSS as f64 * wide,
        WHOLE.1 + found.panels.len().div_ceil(ACROSS) as f64 * high
    )
}

fn small(panel: &Panel) -> Figure {
    let held = |y: f64| y.clamp(SHOWN.0, SHOWN.1);
    let line = |points: &[(f64, f64)]| points.iter().map(|(x, y)| (*x, held(*y))).collect();
    let bars = panel.bars.iter();
    let bars = bars.map(|(x, low, high)| (*x, held(*low), held(*high)));
    let mut figure = Figure::new(panel.title.as_str(), "x", "t")
        .described("A function, what fused nodes say of it, and one deviation to both sides.")
        .with("one deviation", Mark::Band(bars.collect()))
        .with("function", Mark::Dashes(line(&panel.truth)))
        .with("prediction", Mark::Line(line(&panel.mean)));
    figure.y.range = Some(SHOWN);
    figure
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
fn reproduction_figure(found: &Reproduction) -> Figure {
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
