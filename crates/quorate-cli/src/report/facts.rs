//! What the model is, remarks, and where the page comes from.

use quorate::Inspection;
use quorate::answers::Method;

use super::{Page, html};
use crate::plot::svg::escape;
use crate::text::{count, percent, significant};

/// The head of the page.
pub fn header(page: &Page<'_>) -> String {
    let found = page.inspection;
    let columns: Vec<&str> = found
        .inputs
        .iter()
        .filter(|input| input.kind != "missing")
        .map(|input| input.name.as_str())
        .collect();
    let lede = format!(
        "Predicted from {} by {}, which learned from {}. Scored on {}.",
        count(columns.len(), "input"),
        method(found.method),
        count(found.rows, "row"),
        page.scored(),
    );
    format!(
        "<header>\n<p class=\"eyebrow\">Quorate report · {}</p>\n<h1>Predicting {}</h1>\n<p class=\"lede\">{}</p>\n</header>\n",
        escape(&page.model.display().to_string()),
        escape(&found.target.name),
        escape(&lede)
    )
}

fn method(method: Method) -> String {
    match method {
        Method::Exact => "an exact Gaussian process".to_owned(),
        Method::Coupled => "Gaussian processes through the softmax".to_owned(),
        Method::Latent(_) => "a Gaussian process through a likelihood".to_owned(),
        Method::Mixture(shape) if shape.experts == 1 => {
            "a Gaussian process whose noise is a process too".to_owned()
        }
        Method::Mixture(shape) => {
            let experts = count(shape.experts, "Gaussian process expert");
            match shape.landmarks {
                Some(landmarks) => format!(
                    "a mixture of {experts} with gates, which heard all rows through {}",
                    count(landmarks, "landmark")
                ),
                None => format!("a mixture of {experts} with gates"),
            }
        }
        Method::Local(shape) => format!(
            "a committee of local experts, {} to each question",
            count(shape.neighbours, "nearest row")
        ),
        Method::Supported(shape) => format!(
            "a committee of local experts, {} to each question, with {} behind them",
            count(shape.neighbourhood.neighbours, "nearest row"),
            count(shape.landmarks, "landmark")
        ),
        Method::Joint(shape) => format!(
            "a committee that is asked about {} together",
            count(shape.questions, "row")
        ),
        Method::Landmarks(shape) => format!(
            "a committee that speaks through {}",
            count(shape.landmarks, "landmark")
        ),
    }
}

/// What is predicted, as the training rows had it.
fn target(found: &Inspection) -> String {
    let short = |value: f64| significant(value, 4);
    match &found.classes {
        Some(classes) => {
            let share = |(label, share): &(String, f64)| format!("{label} {}", percent(*share));
            let shares: Vec<String> = classes.shares.iter().map(share).collect();
            format!("{}: {}", found.target.name, shares.join(", "))
        }
        None => format!(
            "{}, mean {}, standard deviation {}",
            found.target.name,
            short(found.target.mean),
            short(found.target.deviation)
        ),
    }
}

/// What the model is, what the page leaves out, and remarks.
pub fn section(page: &Page<'_>) -> String {
    let found = page.inspection;
    let short = |value: f64| significant(value, 4);
    let mut facts = vec![
        vec!["target".to_owned(), target(found)],
        vec![
            "training rows".to_owned(),
            format!(
                "{}, {} with different inputs",
                found.rows, found.distinct_rows
            ),
        ],
        vec!["method".to_owned(), method(found.method)],
    ];
    match &found.quantity {
        Some(quantity) => facts.push(vec![
            "likelihood".to_owned(),
            quantity.through.likelihood.to_string(),
        ]),
        None => facts.push(vec![
            "noise".to_owned(),
            format!("standard deviation {}", short(found.noise_deviation)),
        ]),
    }
    if let Some(effective) = found.effective_parameters {
        let share = match &found.committee {
            Some(committee) => format!(
                ", {} of the landmarks' number",
                percent(committee.saturation)
            ),
            None => String::new(),
        };
        facts.push(vec![
            "effective parameters".to_owned(),
            format!("{}{share}", short(effective)),
        ]);
    }
    let mut cards = vec![html::table(
        "The model.",
        &[("", false), ("", false)],
        &facts,
    )];
    let notes: Vec<&String> = found.notes.iter().chain(page.notes).collect();
    let list = |title: &str, items: &[String]| {
        let items: String = items
            .iter()
            .map(|item| format!("<li>{}</li>", escape(item)))
            .collect();
        format!("<div class=\"card\"><h3>{title}</h3><ul>{items}</ul></div>\n")
    };
    let missing = page.not_shown();
    if !missing.is_empty() {
        cards.push(list("Not shown", &missing));
    }
    if !notes.is_empty() {
        let notes: Vec<String> = notes.into_iter().cloned().collect();
        cards.push(list("Notes", &notes));
    }
    html::section("The model", "model", &html::cards(&cards))
}

/// The foot of the page: how it was made.
pub fn footer(page: &Page<'_>) -> String {
    let data = page
        .data
        .map_or_else(String::new, |path| format!(" {}", path.display()));
    format!(
        "<footer>\n<p>Made by quorate {} with <code>{}</code>. The numbers are in this file as JSON, in the element \
         <code>quorate-report</code>.</p>\n</footer>\n",
        escape(page.inspection.quorate_version),
        escape(&format!(
            "quorate report {}{data} -o report.html",
            page.model.display()
        ))
    )
}
