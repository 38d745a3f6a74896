//! The experts of a mixture as a table, and as a picture.

use quorate::Model;
use quorate::answers::Answers;
use quorate::fit::MixtureRecord;
use quorate::mixture::density;
use quorate_gp::data::{ColumnKind, Inputs};

use crate::failure::Result;
use crate::plot::{Figure, Mark, Tone, svg};
use crate::text::{Align, Table, percent, printable, readable_kernel};

/// Places at which curves are drawn.
const PLACES: usize = 301;
/// Height of one figure.
const HEIGHT: usize = 440;

/// Who is responsible for how many rows, and under which kernel; then gates and noise.
pub fn mixture(found: &MixtureRecord) -> String {
    if found.parametric.is_some() {
        let shares = found.shares.iter().map(|share| percent(*share));
        let shares: Vec<String> = shares.collect();
        return format!("  shares of the rows {}\n", shares.join(", "));
    }
    let mut table = Table::new([
        ("expert", Align::Right),
        ("share of rows", Align::Right),
        ("kernel", Align::Left),
    ]);
    for (place, (kernel, share)) in found.experts.iter().zip(&found.shares).enumerate() {
        let kernel = readable_kernel(&kernel.to_string());
        table.row([(place + 1).to_string(), percent(*share), printable(&kernel)]);
    }
    let mut text = table.render();
    if found.experts.len() > 1 {
        let gate = readable_kernel(&found.gate.to_string());
        text += &format!("  gates under {}\n", printable(&gate));
    }
    let noise = readable_kernel(&found.noise.to_string());
    text += &format!("  log deviation of the noise under {}\n", printable(&noise));
    text
}

/// Experts above, gates below, for a mixture of one number; none for other models.
pub fn mixture_figure(model: &Model) -> Result<Option<String>> {
    let schema = model.schema();
    let [column] = schema.columns() else {
        return Ok(None);
    };
    let (Answers::Mixture(answers), ColumnKind::Number) = (model.answers()?, &column.kind) else {
        return Ok(None);
    };
    let seen = answers.rows().inputs()?;
    let values = seen.values().iter().copied();
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let step = (high - low) / (PLACES - 1) as f64;
    let grid: Vec<f64> = (0..PLACES).map(|place| low + step * place as f64).collect();
    let voices = answers.voices(Inputs::new(&grid, PLACES, 1)?)?;
    let (mean, deviation) = (schema.target_mean(), schema.target_deviation());
    let scale = schema.scale(&column.name);
    let x = |place: f64| scale.map_or(place, |own| own.undo(place));
    let curve = |values: &[f64], unit: &dyn Fn(f64) -> f64| {
        let points = grid.iter().zip(values);
        points
            .map(|(place, value)| (x(*place), unit(*value)))
            .collect()
    };
    let own = |value: f64| mean + deviation * value;
    let told = density(&voices, mean, deviation);
    let quantile = |row: usize, p: f64| told.quantile(row, p, false);
    let band = (0..PLACES).map(|row| (x(grid[row]), quantile(row, 0.025), quantile(row, 0.975)));
    let middle: Vec<f64> = (0..PLACES).map(|row| told.moments(row).0).collect();
    let rows = seen.values().iter().zip(answers.rows().targets());
    let points = rows
        .map(|(place, target)| (x(*place), own(*target)))
        .collect();
    let target = model.spec().target.as_str();
    let mut maps = Figure::new("Experts", column.label(), target)
        .described("The mean of every expert, the mean of the mixture and its central 95 %.")
        .with("95 %", Mark::Band(band.collect()))
        .with("rows", Mark::Points(points))
        .with("mixture", Mark::Line(curve(&middle, &|value| value)));
    let mut gates = Figure::new("Gates", column.label(), "probability")
        .described("The probability that each expert speaks.");
    for (place, voice) in voices.iter().enumerate() {
        let (name, tone) = (format!("expert {}", place + 1), Tone::Number(place + 1));
        maps = maps.with_tone(name.as_str(), Mark::Dashes(curve(&voice.mean, &own)), tone);
        let share = Mark::Line(curve(&voice.share, &|value| value));
        gates = gates.with_tone(name, share, tone);
    }
    gates.y.range = Some((0.0, 1.0));
    Ok(Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"{}\">\n{}<g transform=\"translate(0 {HEIGHT})\">\n{}</g>\n</svg>\n",
        2 * HEIGHT,
        svg::document(&maps),
        svg::document(&gates)
    )))
}
