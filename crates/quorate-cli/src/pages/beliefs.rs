//! What is believed about the hyperparameters, as a table.

use quorate::hyper::Hyperposterior;

use crate::plot::svg::{Interval, intervals};
use crate::text::{Align, FAINT, Table, count, significant};

/// The same as a picture: the more an input matters, the further to the right is its length scale's mark (Williams and
/// Barber 1998, figure 2, show the logarithm of the inverse squared length `w`).
pub fn beliefs_figure(found: &Hyperposterior) -> String {
    let rows: Vec<Interval> = found
        .parameters
        .iter()
        .filter(|belief| belief.deviation > 0.0)
        .map(|belief| {
            let is_length = belief.name.contains("length_scale");
            let (sign, name) = match (is_length, belief.logarithm) {
                (true, _) => (-2.0, format!("log w: {}", belief.name)),
                (false, true) => (1.0, format!("log {}", belief.name)),
                (false, false) => (1.0, belief.name.clone()),
            };
            Interval {
                name,
                mean: sign * belief.mean,
                deviation: f64::abs(sign) * belief.deviation,
                maximum: sign * belief.maximum,
            }
        })
        .collect();
    let description = format!(
        "Posterior of each hyperparameter by {}; w is the inverse squared length scale of an input.",
        found.source
    );
    let axis = "logarithm, in standardised units; w = 1 / length scale squared";
    intervals("Hyperparameters with error bars", &description, axis, &rows)
}

/// Mean, deviation and maximum of each coordinate; of draws also how far they can be trusted.
pub fn beliefs(found: &Hyperposterior) -> String {
    let drawn = found.chains.is_some();
    let mut columns = vec![
        ("hyperparameter", Align::Left),
        ("mean", Align::Right),
        ("deviation", Align::Right),
        ("maximum", Align::Right),
        ("value at maximum", Align::Right),
    ];
    if drawn {
        columns.push(("R-hat", Align::Right));
        columns.push(("effective draws", Align::Right));
    }
    let mut table = Table::new(columns);
    for belief in &found.parameters {
        let value = if belief.logarithm {
            belief.maximum.exp()
        } else {
            belief.maximum
        };
        let name = if belief.logarithm {
            format!("log {}", belief.name)
        } else {
            belief.name.clone()
        };
        let fixed = belief.deviation == 0.0;
        let mut row = vec![
            name,
            significant(belief.mean, 4),
            if fixed {
                "fixed".to_owned()
            } else {
                significant(belief.deviation, 3)
            },
            significant(belief.maximum, 4),
            significant(value, 4),
        ];
        if drawn {
            let number = |value: Option<f64>, digits| {
                value.map_or_else(String::new, |value| significant(value, digits))
            };
            row.push(number(belief.r_hat, 4));
            row.push(number(belief.effective_draws, 3));
        }
        table.row(row);
    }
    let mut text = table.render();
    let chains = found.chains.as_ref().map_or(String::new(), |report| {
        format!(
            "{} of {} after {} to warm up, {}, {} evaluations; ",
            count(report.chains, "chain"),
            count(report.draws, "draw"),
            report.warmup,
            count(report.divergences, "divergence"),
            report.evaluations
        )
    });
    text += &format!(
        "  {FAINT}by {}: {chains}hyperprior {}; in standardised units{FAINT:#}\n",
        found.source, found.prior
    );
    text
}
