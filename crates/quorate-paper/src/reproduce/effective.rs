//! How many query points a committee needs (GBCM, section 6.1).

use quorate::Result;
use quorate_gp::posterior::{ExactPosterior, Predict};

use super::committee::Committee;
use super::setting::{Art, INPUTS, Questions, exact, prior};
use super::{Claim, Context, Curve, Reproduction, Size, mean_and_error};

/// Numbers of query points tried, as multiples of the effective number of parameters.
const MULTIPLES: [f64; 8] = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// Standard deviations of the noise: the more noise, the fewer parameters the rows pin down.
const NOISES: [f64; 3] = [0.1, 0.3, 1.0];
const WIDTH: f64 = 1.0;

/// What one committee loses against one process over all rows.
struct Loss {
    /// Root mean square of the difference of means, in deviations of the exact belief.
    distance: f64,
    effective: f64,
}

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let (rows, module, repetitions): (usize, usize, u64) = match context.size {
        Size::Paper => (1000, 100, 10),
        Size::Quick => (150, 30, 2),
    };
    let mut table = Vec::new();
    let mut curves = Vec::new();
    let total = NOISES.len() * repetitions as usize;
    for (place, &noise) in NOISES.iter().enumerate() {
        let mut losses: Vec<Vec<Loss>> = MULTIPLES.iter().map(|_| Vec::new()).collect();
        for repetition in 0..repetitions {
            context.watch.check()?;
            let done = place * repetitions as usize + repetition as usize;
            context.watch.progress("asking", done, total);
            let mut art = Art::new(context.seed + repetition, noise);
            let kernel = prior(WIDTH)?;
            let data = art.rows(rows)?;
            let posterior = exact(&kernel, noise, data)?;
            let effective = posterior.leave_one_out().effective_parameters;
            for (losses, multiple) in losses.iter_mut().zip(MULTIPLES) {
                let asked = ((multiple * effective).round() as usize).max(1);
                let questions = art.questions(asked);
                losses.push(Loss {
                    distance: distance(&posterior, noise, module, &questions)?,
                    effective,
                });
            }
        }
        let mut points = Vec::new();
        let of = |losses: &[Loss], value: fn(&Loss) -> f64| -> (f64, f64) {
            mean_and_error(&losses.iter().map(value).collect::<Vec<_>>())
        };
        for (losses, multiple) in losses.iter().zip(MULTIPLES) {
            let (effective, _) = of(losses, |loss| loss.effective);
            let (mean, spread) = of(losses, |loss| loss.distance);
            table.push(vec![
                noise,
                effective,
                multiple,
                multiple * effective,
                mean,
                spread,
            ]);
            points.push((multiple, mean));
        }
        let (effective, _) = of(&losses[0], |loss| loss.effective);
        curves.push(Curve {
            name: format!("noise {noise}, P_eff {effective:.0}"),
            points,
        });
    }
    let claims = claims(&curves);
    Ok(Reproduction {
        title: "Query points that a committee needs".to_owned(),
        setting: vec![
            format!("Artificial data: 5 inputs, K = {rows} rows in modules of {module}, squared-exponential prior of width {WIDTH}; {repetitions} repetitions with other maps and rows."),
            "P_eff = trace(Sigma (Psi + Sigma)^-1) of all rows. Query points come from the distribution of the rows, as many as the multiple of P_eff says, all asked together.".to_owned(),
            "Distance: root mean square of the difference between the committee's mean and that of one process over all rows, in standard deviations of the latter's belief.".to_owned(),
        ],
        labels: Vec::new(),
        columns: vec!["noise", "effective_parameters", "multiple", "query_points", "distance", "distance_standard_error"],
        rows: table,
        curves,
        axes: ("query points / effective parameters", "distance from one process, deviations"),
        logarithmic: (true, true),
        panels: Vec::new(),
        claims,
    })
}

fn distance(
    posterior: &ExactPosterior,
    noise: f64,
    module: usize,
    questions: &Questions,
) -> Result<f64> {
    debug_assert_eq!(questions.values.len(), questions.truth.len() * INPUTS);
    let mut committee = Committee::new(posterior.kernel(), noise, questions.inputs()?)?;
    committee.hear(posterior.data(), module)?;
    let belief = posterior.marginals(questions.inputs()?)?;
    let means = committee.means()?;
    let sum: f64 = means
        .iter()
        .enumerate()
        .map(|(row, mean)| (mean - belief.mean[(row, 0)]).powi(2) / belief.variance[(row, 0)])
        .sum();
    Ok((sum / means.len() as f64).sqrt())
}

fn claims(curves: &[Curve]) -> Vec<Claim> {
    let at = |curve: &Curve, multiple: f64| {
        let found = curve.points.iter().find(|point| point.0 == multiple);
        found.map_or(f64::NAN, |point| point.1)
    };
    let list = |multiple: f64| {
        let values: Vec<String> = curves
            .iter()
            .map(|curve| format!("{:.3}", at(curve, multiple)))
            .collect();
        values.join(", ")
    };
    let worst = |multiple: f64| {
        curves
            .iter()
            .map(|curve| at(curve, multiple))
            .fold(0.0, f64::max)
    };
    vec![
        Claim {
            theirs: "With few query points, data sets are not independent given the function there, and the approximation is poor".to_owned(),
            ours: format!("at an eighth of P_eff the committee's mean is {} deviations from that of one process", list(0.125)),
            agrees: curves.iter().all(|curve| at(curve, 0.125) > 2.0 * at(curve, 3.0)),
        },
        Claim {
            theirs: "Only P_eff query points are necessary for the committee to perform well".to_owned(),
            ours: format!("at P_eff: {} deviations; at twice P_eff: {}; at three times: {}", list(1.0), list(2.0), list(3.0)),
            agrees: worst(1.0) < 0.5,
        },
    ]
}
