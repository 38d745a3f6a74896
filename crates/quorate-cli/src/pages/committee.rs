//! A committee of members as a page, and its weights as a picture.

use quorate::ensemble::{CommitteeModel, MakerChoice};

use super::scores;
use crate::plot::svg::{Ranked, document_bars};
use crate::text::{Align, HEADING, Table, count, printable, significant};

/// Who sits in it, under which rule and with which weights.
pub fn committee(model: &CommitteeModel) -> String {
    let spec = model.spec();
    let mut facts = Table::new([("", Align::Left), ("", Align::Left)]);
    facts
        .row(["target".to_owned(), spec.target.clone()])
        .row(["members".to_owned(), count(model.kinds().len(), "member")])
        .row(["kinds".to_owned(), spec.members.join(", ")])
        .row(["rows of each".to_owned(), rows_of(spec.maker).to_owned()])
        .row(["rule".to_owned(), model.rule().to_owned()])
        .row(["seed".to_owned(), spec.seed.to_string()]);
    let mut sections = vec![facts.render()];
    let mut members = Table::new([
        ("member", Align::Right),
        ("kind", Align::Left),
        ("weight", Align::Right),
    ]);
    for (place, kind) in model.kinds().iter().enumerate() {
        let weight = model.weights().map(|all| significant(all[place], 4));
        members.row([
            (place + 1).to_string(),
            kind.clone(),
            weight.unwrap_or_default(),
        ]);
    }
    sections.push(format!(
        "{HEADING}Members{HEADING:#}\n\n{}",
        members.render()
    ));
    if let Some(found) = model.out_of_bag() {
        sections.push(format!(
            "{HEADING}Rows by members that have not seen them{HEADING:#}\n\n{}",
            scores(found)
        ));
    }
    if !model.notes().is_empty() {
        let notes = model
            .notes()
            .iter()
            .map(|note| format!("  {}\n", printable(note)));
        let notes: String = notes.collect();
        sections.push(format!("{HEADING}Notes{HEADING:#}\n\n{notes}"));
    }
    sections.join("\n")
}

fn rows_of(maker: MakerChoice) -> &'static str {
    match maker {
        MakerChoice::Parts => "a random part",
        MakerChoice::Bags => "a bootstrap sample",
        MakerChoice::All => "all",
        MakerChoice::Noise => "all, noise added to the targets",
        MakerChoice::Flips => "all, some labels drawn anew",
        MakerChoice::Boost => "what the last member got wrong counts more",
        MakerChoice::Filter => "filtered by the members before",
    }
}

/// The weights as bars, as long as they are large; none where the rule weighs members anew at every row.
pub fn weights_figure(model: &CommitteeModel) -> Option<String> {
    let weights = model.weights()?;
    let bars = model.kinds().iter().zip(weights).enumerate();
    let bars = bars.map(|(place, (kind, weight))| {
        let name = format!("{} {kind}", place + 1);
        (name, weight.abs(), significant(*weight, 4))
    });
    let figure = Ranked {
        title: format!("Weights of the members under {}", model.rule()),
        description: "One bar for each member: as long as its weight is large, with the weight behind it. Weights by covariances \
                      may be negative."
            .into(),
        bars: bars.collect(),
    };
    Some(document_bars(&figure, &[]))
}
