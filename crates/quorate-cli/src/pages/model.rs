//! A model as a page.

use quorate::Inspection;
use quorate::answers::{LandmarkShape, Method};
use quorate::fit::MixtureRecord;
use quorate::inspect::CommitteeReport;
use quorate::joint::JointShape;
use quorate::latent::Approximation;
use quorate::local::{Neighbourhood, SupportedShape};
use quorate::mixture::ParametricMixture;

use super::{TableTypes, beliefs, inputs, scores};
use crate::text::{Align, HEADING, Table, count, percent, printable, readable_kernel, significant};

/// The whole page; `verbose` adds every hyperparameter and every ascent of the search.
pub fn model(found: &Inspection, types: &TableTypes, verbose: bool) -> String {
    let mut sections = vec![
        facts(found).render(),
        section("Inputs", &inputs(found, types)),
    ];
    if let Some(committee) = &found.committee {
        sections.push(section("Parts", &parts(committee)));
    }
    if let Some(mixture) = &found.mixture {
        sections.push(section("Experts", &super::mixture(mixture)));
        if let Some(tree) = soft_tree(found, mixture) {
            sections.push(section("Soft tree", &tree));
        }
    }
    if let Some(seen) = found.leave_one_out.as_ref().or(found.held_out.as_ref()) {
        let title = format!(
            "{} over {}",
            kind_of_scores(found),
            count(seen.rows(), "row")
        );
        sections.push(section(&title, &scores(seen)));
    }
    sections.push(section("Learning", &learning(found, verbose)));
    if let Some(found) = &found.hyperposterior {
        let title = "What is believed about the hyperparameters";
        sections.push(section(title, &beliefs(found)));
    }
    if verbose {
        sections.push(section(
            "Hyperparameters in standardised units",
            &parameters(found),
        ));
    }
    if !found.notes.is_empty() {
        let notes: Vec<String> = found
            .notes
            .iter()
            .map(|note| format!("  {}\n", printable(note)))
            .collect();
        sections.push(section("Notes", &notes.concat()));
    }
    sections.join("\n")
}

/// What the scores of a model are.
pub fn kind_of_scores(found: &Inspection) -> &'static str {
    match found.held_out {
        Some(_) => "Held-out scores",
        None => "Leave-one-out scores",
    }
}

/// The tree of a mixture that is one, with the columns' own names and units.
fn soft_tree(found: &Inspection, mixture: &MixtureRecord) -> Option<String> {
    let Some(ParametricMixture::Tree(tree)) = &mixture.parametric else {
        return None;
    };
    let names: Vec<String> = found
        .inputs
        .iter()
        .map(|own| printable(&own.name))
        .collect();
    let units: Vec<(f64, f64)> = (found.inputs.iter())
        .map(|own| (own.mean.unwrap_or(0.0), own.deviation.unwrap_or(1.0)))
        .collect();
    let text = tree.describe(&names, &units, (found.target.mean, found.target.deviation));
    Some(text.lines().map(|line| format!("  {line}\n")).collect())
}

fn parts(committee: &CommitteeReport) -> String {
    if committee.parts.is_empty() {
        return "  none yet: `quorate update` adds the rows of a table\n".to_owned();
    }
    let mut table = Table::new([
        ("part", Align::Left),
        ("rows", Align::Right),
        ("fingerprint", Align::Left),
        ("", Align::Left),
    ]);
    for part in &committee.parts {
        table.row([
            part.name.as_str(),
            &part.rows.to_string(),
            &part.fingerprint.chars().take(16).collect::<String>(),
            if part.kept { "kept" } else { "" },
        ]);
    }
    table.render()
}

fn section(title: &str, body: &str) -> String {
    format!("{HEADING}{title}{HEADING:#}\n{body}")
}

/// What is predicted: numbers with their scaling, or classes with their shares.
fn targets(found: &Inspection, mut table: Table) -> Table {
    /// Classes shown.
    const SHOWN: usize = 12;
    let short = |value: f64| significant(value, 4);
    if let Some(classes) = &found.classes {
        let shown = classes.shares.iter().take(SHOWN);
        let mut shares: Vec<String> = shown
            .map(|(label, share)| format!("{} {}", printable(label), percent(*share)))
            .collect();
        if classes.shares.len() > SHOWN {
            shares.push(format!("and {} more", classes.shares.len() - SHOWN));
        }
        let title = format!("{}, {} classes", found.target.name, classes.shares.len());
        table.row(["target", &title]).row(["", &shares.join(", ")]);
        if let Some(link) = classes.link {
            let text = format!(
                "temperature {}, and each class is granted {} and {} for every deviation",
                short(link.temperature),
                short(link.floor),
                short(link.spread)
            );
            table.row(["probabilities", &text]);
        }
        if let Some(through) = classes.through {
            let text = format!(
                "{} likelihood, level {}",
                through.likelihood,
                short(through.level)
            );
            table.row(["probabilities", &text]);
        }
        return table;
    }
    if let Some(quantity) = &found.quantity {
        let likelihood = quantity.through.likelihood;
        let text = format!("{likelihood}, level {}", short(quantity.through.level));
        table.row(["likelihood", &text]);
        for own in &quantity.dispersions {
            let fixed = if own.fixed { " (fixed)" } else { "" };
            let text = format!("{} {}{fixed}", own.name, short(own.value));
            table.row(["", &text]);
        }
    }
    let all = std::iter::once(&found.target).chain(&found.further_targets);
    for target in all {
        let scaling = format!(
            "mean {}, standard deviation {}",
            short(target.mean),
            short(target.deviation)
        );
        table.row(["target", &target.name]).row(["", &scaling]);
    }
    table
}

fn facts(found: &Inspection) -> Table {
    let table = Table::new([("", Align::Left), ("", Align::Left)]);
    let short = |value: f64| significant(value, 4);
    let rows = if found.distinct_rows == found.rows {
        count(found.rows, "row")
    } else {
        format!(
            "{}, {} with different inputs",
            count(found.rows, "row"),
            found.distinct_rows
        )
    };
    let jitter = if found.jitter.relative > 0.0 {
        format!(
            "{} of the covariance's diagonal",
            short(found.jitter.relative)
        )
    } else {
        "none needed".to_owned()
    };
    let mut table = targets(found, table);
    table
        .row(["trained on", &rows])
        .row(["kernel", &readable_kernel(&found.kernel)]);
    let through = found.classes.as_ref().and_then(|classes| classes.through);
    if found.quantity.is_none() && through.is_none() {
        let noise = format!(
            "standard deviation {}, variance {}",
            short(found.noise_deviation),
            short(found.noise_variance)
        );
        table.row(["noise", &noise]);
    }
    if let Some(spread) = &found.spread {
        let (least, greatest) = spread.extremes();
        let text = format!(
            "deviations times {} to {}, by the answer and the inputs",
            short(least),
            short(greatest)
        );
        table.row(["spread", &text]);
        if let Some(tails) = spread.tails {
            let text = format!(
                "{} of the errors are {} times as wide, {} are strays",
                percent(tails.wide),
                short(tails.factor.sqrt()),
                percent(tails.stray)
            );
            table.row(["tails", &text]);
        }
    }
    table.row(["answers from", &answers_from(found.method)]);
    if let Some(evidence) = found.log_evidence {
        table.row(["log evidence", &short(evidence)]);
    }
    if let Some(parameters) = found.effective_parameters {
        let text = match &found.committee {
            Some(committee) => format!(
                "{}, {} of the landmarks' number",
                short(parameters),
                percent(committee.saturation)
            ),
            None => short(parameters),
        };
        table.row(["effective parameters", &text]);
    }
    table.row(["jitter", &jitter]);
    table
}

/// Where a model's answers come from, in words.
fn answers_from(method: Method) -> String {
    match method {
        Method::Exact => "all rows at once".to_owned(),
        Method::Coupled => "all rows at once, by coupled Laplace".to_owned(),
        Method::Latent(Approximation::Laplace) => {
            "all rows at once, by Laplace's method".to_owned()
        }
        Method::Latent(Approximation::Propagation) => {
            "all rows at once, by expectation propagation".to_owned()
        }
        Method::Mixture(shape) => {
            let rows = match shape.landmarks {
                Some(landmarks) => {
                    format!("what all rows said to {}", count(landmarks, "landmark"))
                }
                None => "all rows at once".to_owned(),
            };
            match shape.experts {
                1 => format!("{rows}, with noise that depends on the inputs"),
                several => format!("{} with gates, each from {rows}", count(several, "expert")),
            }
        }
        Method::Local(Neighbourhood {
            neighbours,
            together,
            least_rows,
        }) => {
            let least = match least_rows > neighbours {
                true => format!(", from {} at least", count(least_rows, "row")),
                false => String::new(),
            };
            format!(
                "the {neighbours} nearest rows of each question, {together} questions together{least}"
            )
        }
        Method::Supported(SupportedShape {
            neighbourhood,
            landmarks,
            replace_touched,
            ..
        }) => format!(
            "{}, and {} for all others{}",
            answers_from(Method::Local(neighbourhood)),
            count(landmarks, "landmark"),
            if replace_touched {
                "; touched parts are replaced"
            } else {
                ""
            }
        ),
        Method::Landmarks(LandmarkShape {
            landmarks,
            part_size,
        }) => format!(
            "{}, which heard parts of at most {}",
            count(landmarks, "landmark"),
            count(part_size, "row")
        ),
        Method::Joint(JointShape {
            part_size,
            questions,
            companions,
            prior,
        }) => format!(
            "parts of at most {}, asked about {} together and {} more{}",
            count(part_size, "row"),
            count(questions, "row"),
            companions,
            if prior {
                ""
            } else {
                ", with a negligible prior"
            }
        ),
    }
}

/// How the kernel and its hyperparameters were found.
pub fn learning(found: &Inspection, verbose: bool) -> String {
    let mut text = format!("  {}\n", printable(&found.outcome));
    if !found.candidates.is_empty() {
        let mut table = Table::new([
            ("kernel tried", Align::Left),
            ("log evidence", Align::Right),
            ("predictive NLPD", Align::Right),
        ]);
        for candidate in &found.candidates {
            table.row([
                candidate.kernel.clone(),
                candidate
                    .log_evidence
                    .map_or_else(String::new, |evidence| significant(evidence, 5)),
                significant(candidate.predictive_nlpd, 4),
            ]);
        }
        text += &format!("\n{}", table.render());
    }
    if verbose && !found.history.is_empty() {
        let mut table = Table::new([
            ("start", Align::Right),
            ("rows", Align::Right),
            ("steps", Align::Right),
            ("evaluations", Align::Right),
            ("stepped back", Align::Right),
            ("log evidence + log prior", Align::Right),
        ]);
        for record in &found.history {
            table.row([
                record.start.to_string(),
                record.rows.to_string(),
                record.steps.to_string(),
                record.evaluations.to_string(),
                record.failures.to_string(),
                significant(record.value, 7),
            ]);
        }
        text += &format!("\n{}", table.render());
    }
    text
}

fn parameters(found: &Inspection) -> String {
    let mut table = Table::new([
        ("name", Align::Left),
        ("value", Align::Right),
        ("", Align::Left),
    ]);
    for parameter in &found.parameters {
        let fixed = if parameter.fixed { "fixed" } else { "" };
        table.row([
            parameter.name.as_str(),
            &significant(parameter.value, 5),
            fixed,
        ]);
    }
    table.render()
}
