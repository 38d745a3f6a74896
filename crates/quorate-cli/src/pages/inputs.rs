//! The inputs of a model as a table.

use quorate::Inspection;
use quorate::inspect::InputReport;
use quorate_gp::data::ColumnType;

use super::TableTypes;
use crate::text::{Align, FAINT, Table, count, date, significant};

/// Length of the longest bar.
const BAR: f64 = 12.0;

/// The inputs with their relevance as a number and as a bar, so that the eye finds the ones that matter.
pub fn inputs(found: &Inspection, types: &TableTypes) -> String {
    let mut table = Table::new([
        ("input", Align::Left),
        ("kind", Align::Left),
        ("mean", Align::Right),
        ("deviation", Align::Right),
        ("missing", Align::Right),
        ("length scale", Align::Right),
        ("relevance", Align::Right),
        ("", Align::Left),
    ]);
    let relevances = found.inputs.iter().map(|input| input.relevance);
    let largest = relevances.fold(f64::MIN_POSITIVE, f64::max);
    for input in &found.inputs {
        let column_type = types.iter().find(|(name, _)| *name == input.name);
        let is_date = column_type.is_some_and(|(_, found)| *found == ColumnType::Date);
        let span = |days: f64| {
            let unit = if is_date { " days" } else { "" };
            format!("{}{unit}", significant(days, 4))
        };
        let mean = |mean: f64| {
            if is_date {
                date(mean.floor())
            } else {
                significant(mean, 4)
            }
        };
        let missing = if input.missing > 0 {
            input.missing.to_string()
        } else {
            String::new()
        };
        table.row([
            input.name.clone(),
            kind(input, column_type.map(|(_, found)| *found)),
            input.mean.map(mean).unwrap_or_default(),
            input.deviation.map(span).unwrap_or_default(),
            missing,
            input.length_scale.map(span).unwrap_or_default(),
            significant(input.relevance, 3),
            "■".repeat((BAR * input.relevance / largest).round() as usize),
        ]);
    }
    format!(
        "{}  {FAINT}length scale in the input's own units; relevance: expected change of the target over one deviation of the input, in deviations{FAINT:#}\n",
        table.render()
    )
}

fn kind(input: &InputReport, column_type: Option<ColumnType>) -> String {
    match (input.levels, column_type) {
        (Some(levels), _) => format!("{}, {}", input.kind, count(levels, "level")),
        (None, Some(ColumnType::Date)) => "date".to_owned(),
        (None, Some(ColumnType::Boolean)) => "boolean".to_owned(),
        _ => input.kind.to_owned(),
    }
}
