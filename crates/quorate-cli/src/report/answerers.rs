//! Maps: where the model is sure, and who answered.

use quorate::diagnose::{Answerers, Diagnosis, Expert, PartShare};

use super::{Page, html};
use crate::plot::svg::Ranked;
use crate::plot::{Axis, Figure, Mark, Tone};
use crate::text::{count, significant};

/// Colours that can be told apart.
const TONES: usize = 6;
/// Parts with a bar of their own.
const SHOWN_PARTS: usize = 30;

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let mut cards = Vec::new();
    let names = page.map.names();
    if !names.is_empty() {
        let (figure, how) = who(page.answerers, &names);
        cards.push(html::figure(&figure, &how));
        if let Some(found) = page.diagnosis {
            cards.push(certainty(page, found, &names));
        }
    }
    if let Answerers::Landmarks { parts, .. } = page.answerers {
        cards.extend(brought(parts));
    }
    html::section("Who answered", "answered", &html::cards(&cards))
}

fn who(answerers: &Answerers, names: &[&str]) -> (Figure, String) {
    let figure = Figure::new(
        "Who answered",
        names[0],
        names.get(1).copied().unwrap_or(""),
    );
    let one = names.len() == 1;
    match answerers {
        Answerers::AllRows { rows } => {
            let how =
                "One exact process: every row has a say in every answer, the nearer the louder."
                    .to_owned();
            let points = rows
                .iter()
                .enumerate()
                .map(|(row, place)| at(place, lane(row)));
            let figure = figure
                .described("Training rows over the two most relevant inputs.")
                .with_tone(
                    "training rows",
                    Mark::Points(points.collect()),
                    Tone::Number(0),
                );
            (without_lanes(figure, one), how)
        }
        Answerers::Nearest { rows, experts } => {
            let how = format!(
                "A committee formed for the question: {} and the rows that answered each, in its colour, among a sample of all \
                 rows. Rows near in this picture can differ in other inputs.",
                count(experts.len(), "question")
            );
            (without_lanes(nearest(figure, rows, experts), one), how)
        }
        Answerers::Parts { parts } => {
            let how = format!(
                "{} in turn of colour, each row in the colour of its part; every part is asked about every block of questions.",
                count(parts.len(), "part")
            );
            let mut figure = figure.described(
                "Training rows over the two most relevant inputs, coloured by their part.",
            );
            for tone in 0..TONES.min(parts.len()) {
                let own = parts.iter().skip(tone).step_by(TONES).flatten().enumerate();
                let points = own.map(|(row, place)| at(place, lane(row))).collect();
                figure = figure.with_tone("", Mark::Points(points), Tone::Number(tone));
            }
            (without_lanes(figure, one), how)
        }
        Answerers::Landmarks { places, known, .. } => {
            let how = "Every part spoke to these landmarks, and the landmarks answer. A strong colour: the rows removed most \
                       of the prior variance there; a pale one: little is known."
                .to_owned();
            let points = places.iter().zip(known).enumerate();
            let shades = points
                .map(|(row, (place, known))| {
                    let (x, y) = at(place, lane(row));
                    (x, y, *known)
                })
                .collect();
            let figure = figure
                .described("Landmarks over the two most relevant inputs, shaded by how much is known at each.")
                .with("landmarks, from little to much known", Mark::Shades(shades));
            (without_lanes(figure, one), how)
        }
    }
}

fn nearest(figure: Figure, rows: &[Vec<f64>], experts: &[Expert]) -> Figure {
    let all = rows
        .iter()
        .enumerate()
        .map(|(row, place)| at(place, lane(row)));
    let mut figure = figure
        .described("Training rows over the two most relevant inputs; the neighbourhoods of some questions are coloured.")
        .with_tone("all rows", Mark::Points(all.collect()), Tone::Faint);
    for (index, expert) in experts.iter().enumerate() {
        let own = expert
            .rows
            .iter()
            .enumerate()
            .map(|(row, place)| at(place, lane(row)));
        figure = figure.with_tone("", Mark::Points(own.collect()), Tone::Number(index));
    }
    let questions = experts
        .iter()
        .map(|expert| at(&expert.question, 0.5))
        .collect();
    figure.with("questions", Mark::Rings(questions))
}

/// A place on the map; one axis alone gets a second one that means nothing.
fn at(place: &[f64], otherwise: f64) -> (f64, f64) {
    (place[0], place.get(1).copied().unwrap_or(otherwise))
}

/// Spreads points over the height of a map with one axis: multiples of the golden ratio.
fn lane(index: usize) -> f64 {
    (index as f64 * 0.618_033_988_749_895).fract()
}

fn without_lanes(mut figure: Figure, one: bool) -> Figure {
    if one {
        figure.y_label = "spread for the eye".to_owned();
        figure.y = Axis {
            range: Some((-0.05, 1.05)),
            ..Axis::default()
        };
    }
    figure
}

/// Predicted deviations over the map, or, with one axis, the predictions themselves.
fn certainty(page: &Page<'_>, found: &Diagnosis, names: &[&str]) -> String {
    let target = &page.inspection.target.name;
    if names.len() == 1 {
        let mut rows: Vec<_> = found.sample.iter().collect();
        rows.sort_by(|a, b| a.place[0].total_cmp(&b.place[0]));
        let x = |row: &&quorate::diagnose::SampledRow| page.map.own_units(&row.place)[0];
        let reach = 1.959_964;
        let figure = Figure::new("The function", names[0], target.as_str())
            .described("Predicted mean with 95 % interval and seen targets over the input.")
            .with(
                "95 % interval",
                Mark::Band(
                    rows.iter()
                        .map(|row| {
                            (
                                x(row),
                                row.mean - reach * row.deviation,
                                row.mean + reach * row.deviation,
                            )
                        })
                        .collect(),
                ),
            )
            .with(
                "seen",
                Mark::Points(rows.iter().map(|row| (x(row), row.target)).collect()),
            )
            .with(
                "mean",
                Mark::Line(rows.iter().map(|row| (x(row), row.mean)).collect()),
            );
        return html::figure(
            &figure,
            "Predictions over the one number that the kernel reads.",
        );
    }
    // By rank, so that one far row does not take all the colour.
    let mut order: Vec<usize> = (0..found.sample.len()).collect();
    order.sort_by(|&a, &b| {
        found.sample[a]
            .deviation
            .total_cmp(&found.sample[b].deviation)
    });
    let mut shade = vec![0.0; order.len()];
    for (rank, &row) in order.iter().enumerate() {
        shade[row] = rank as f64 / order.len().max(1) as f64;
    }
    let points = found.sample.iter().zip(shade).map(|(row, shade)| {
        let place = page.map.own_units(&row.place);
        (place[0], place[1], shade)
    });
    let figure = Figure::new("Where it is sure", names[0], names[1])
        .described("Scored rows over the two most relevant inputs, shaded by predicted standard deviation.")
        .with("scored rows, from sure to unsure", Mark::Shades(points.collect()));
    html::figure(
        &figure,
        "Scored rows in fifths by predicted deviation: pale is sure, strong is unsure.",
    )
}

/// What each part brought to the sum.
fn brought(parts: &[PartShare]) -> Option<String> {
    if parts.is_empty() {
        return None;
    }
    let known: Option<Vec<f64>> = parts.iter().map(|part| part.effective_parameters).collect();
    let mut bars: Vec<(String, f64, String)> = parts
        .iter()
        .map(|part| match (&known, part.effective_parameters) {
            (Some(_), Some(effective)) => (
                part.name.clone(),
                effective,
                format!("{}, {}", significant(effective, 3), count(part.rows, "row")),
            ),
            _ => (part.name.clone(), part.rows as f64, count(part.rows, "row")),
        })
        .collect();
    let rest = bars.len().saturating_sub(SHOWN_PARTS);
    bars.truncate(SHOWN_PARTS);
    let mut how = match known {
        Some(_) => "Effective parameters that each part pins down; together they are those of the model.".to_owned(),
        None => "Rows of each part. How much each taught is known only where parts were kept (`--keep-parts`).".to_owned(),
    };
    if rest > 0 {
        how += &format!(" {} more are not shown.", count(rest, "part"));
    }
    let ranked = Ranked {
        title: "What each part brought".to_owned(),
        description: "Bars, one for each part of the committee.".to_owned(),
        bars,
    };
    Some(html::bars(&ranked, &how))
}
