//! A step divided among three experts (Mixtures of Gaussian Processes, figure 1).

use quorate::Result;
use quorate::mixture::{Judge, MixtureRows};
use quorate_gp::data::Inputs;

use super::mixtures::{Choices, Problem, squared_error};
use super::{Claim, Context, Curve, Reproduction, Size};
use crate::draw::{Draw, Stream};
use crate::step;

/// The three bandwidths; the figure does not state them.
const SCALES: [f64; 3] = [0.1, 0.4, 1.2];
/// Length scale and variance of gates that are tried.
const GATES: [(f64, f64); 2] = [(0.3, 10.0), (0.6, 10.0)];
/// Where the maps are drawn: from -REACH to REACH.
const REACH: f64 = 3.0;

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let (count, points) = match context.size {
        Size::Paper => (100, 241),
        Size::Quick => (40, 25),
    };
    let mut draw = Draw::new(context.seed, Stream::Rows);
    let x: Vec<f64> = (0..count).map(|_| draw.normal()).collect();
    let y: Vec<f64> = x.iter().map(|x| step(*x)).collect();
    let problem = Problem {
        rows: MixtureRows::new(x, 1, y, None)?,
        width: 1,
        scales: SCALES.to_vec(),
        noise: None,
    };
    let choices = Choices {
        gates: &GATES,
        levels: &[],
        judge: Judge::Density,
    };
    let mixed = problem.solve(&choices, context.watch)?;
    let grid: Vec<f64> = (0..points)
        .map(|place| -REACH + 2.0 * REACH * place as f64 / (points - 1) as f64)
        .collect();
    let query = Inputs::new(&grid, points, 1)?;
    let (alone, voices) = (mixed.alone(query)?, mixed.mixture.voices(query)?);
    let result = mixed.means(query)?;
    // Errors where rows come from: new inputs of the same distribution.
    let fresh: Vec<f64> = (0..2000).map(|_| draw.normal()).collect();
    let truth: Vec<f64> = fresh.iter().map(|x| step(*x)).collect();
    let asked = Inputs::new(&fresh, fresh.len(), 1)?;
    let alone_errors: Vec<f64> = (mixed.alone(asked)?.iter())
        .map(|map| squared_error(map, &truth))
        .collect();
    let error = squared_error(&mixed.means(asked)?, &truth);
    let least = alone_errors.iter().copied().fold(f64::INFINITY, f64::min);

    let mut rows = Vec::new();
    for (place, x) in grid.iter().enumerate() {
        let mut row = vec![*x, step(*x)];
        row.extend(alone.iter().map(|map| map[place]));
        row.extend(voices.iter().map(|voice| voice.mean[place]));
        row.extend(voices.iter().map(|voice| voice.share[place]));
        row.push(result[place]);
        rows.push(row);
    }
    let curve = |name: String, values: &[f64]| Curve {
        name,
        points: grid.iter().copied().zip(values.iter().copied()).collect(),
    };
    let mut curves = Vec::new();
    for (scale, map) in SCALES.iter().zip(&alone) {
        curves.push(curve(format!("alone, s = {scale}"), map));
    }
    for (scale, voice) in SCALES.iter().zip(&voices) {
        curves.push(curve(format!("gate, s = {scale}"), &voice.share));
    }
    curves.push(curve("mixture".to_owned(), &result));
    let strongest = |near: &dyn Fn(f64) -> bool| {
        let mut sums = [0.0; 3];
        for (place, x) in grid.iter().enumerate().filter(|(_, x)| near(**x)) {
            let _ = x;
            for (sum, voice) in sums.iter_mut().zip(&voices) {
                *sum += voice.share[place];
            }
        }
        let total: f64 = sums.iter().sum();
        sums.map(|sum| sum / total)
    };
    let middle = strongest(&|x| x.abs() < 0.15);
    let between = strongest(&|x| (0.3..1.2).contains(&x.abs()));
    let outside = strongest(&|x| x.abs() > 1.8);
    let told = |shares: [f64; 3]| {
        let each: Vec<String> = (SCALES.iter().zip(shares))
            .map(|(scale, share)| format!("s = {scale}: {share:.2}"))
            .collect();
        each.join(", ")
    };
    Ok(Reproduction {
        title: "A step divided among three experts".to_owned(),
        setting: vec![
            format!("{count} rows, x standard normal, y = -1 left of zero and 1 from zero on, no noise (the figure states neither the number of rows nor the height)."),
            format!("Three experts of bandwidth {SCALES:?} (not stated), amplitude 1; noise of the experts alone {} by their evidence; which noise processes may leave by a tenth of its logarithm; gates by the density of rows left out, among two.", mixed.noise),
            "Who speaks where depends on these choices: with bandwidths 0.1, 0.5 and 4 the mixture does without the widest expert, and with gates of length scale 1 the two wider ones share everything.".to_owned(),
            "Columns: the maps of the experts alone, then in the mixture, the gates P(z = i | x), and the mixture's mean.".to_owned(),
        ],
        labels: Vec::new(),
        columns: vec!["x", "step", "alone_1", "alone_2", "alone_3", "expert_1", "expert_2", "expert_3", "gate_1", "gate_2", "gate_3", "mixture"],
        rows,
        curves,
        axes: ("x", "y, or P(z = i | x)"),
        logarithmic: (false, false),
        panels: Vec::new(),
        claims: vec![
            Claim {
                theirs: "The fit of the mixture is better than the map of any individual model".to_owned(),
                ours: format!("mean squared error {error:.4}; alone {}", alone_errors.iter().map(|e| format!("{e:.4}")).collect::<Vec<_>>().join(", ")),
                agrees: error < least,
            },
            Claim {
                theirs: "The model with the highest bandwidth models the transition at zero".to_owned(),
                ours: format!("gates within 0.15 of zero: {}", told(middle)),
                agrees: middle[0] > middle[1] && middle[0] > middle[2],
            },
            Claim {
                theirs: "The model with an intermediate bandwidth models the intermediate region".to_owned(),
                ours: format!("gates from 0.3 to 1.2: {}", told(between)),
                agrees: between[1] > between[0] && between[1] > between[2],
            },
            Claim {
                theirs: "The model with the lowest bandwidth models the extreme regions".to_owned(),
                ours: format!("gates beyond 1.8: {}", told(outside)),
                agrees: outside[2] > outside[0] && outside[2] > outside[1],
            },
        ],
    })
}
