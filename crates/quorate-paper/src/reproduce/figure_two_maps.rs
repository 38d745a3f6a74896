//! What single maps say where GBCM's figure 2 begins: the paper tells one.

use quorate::Result;
use quorate_gp::watch::Unwatched;
use rayon::prelude::*;

use super::figure_two::{AMPLITUDE, Online, WIDTHS};
use super::setting::{INPUTS, scaled_prior};
use super::{Claim, Context, Curve, Reproduction, Size, mean_and_error};

/// No overlap, and almost nothing else.
const NOISES: [f64; 2] = [0.0, 8.0];
/// Percent correct of which the paper's figure is below, with each noise.
const PRINTED: [f64; 2] = [95.0, 50.0];
/// Share of the maps that say a thing from which one map may well say it.
const OFTEN: f64 = 0.05;

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let (module, asked, maps): (usize, usize, u64) = match context.size {
        Size::Paper => (1000, 1000, 60),
        Size::Quick => (60, 50, 3),
    };
    let done = std::sync::atomic::AtomicUsize::new(0);
    let each = (0..maps).into_par_iter().map(|map| {
        let mut shares = vec![map as f64 + 1.0];
        for noise in NOISES {
            context.watch.check()?;
            let mut online = Online::new(context.seed + map, noise, module, asked)?;
            online.hear(&Unwatched)?;
            shares.push(online.percent_correct()?);
        }
        for width in WIDTHS {
            let kernel = scaled_prior(INPUTS, AMPLITUDE, width)?;
            let seed = context.seed + map;
            let mut online = Online::under(&kernel, seed, NOISES[0], module, asked)?;
            online.hear(&Unwatched)?;
            shares.push(online.percent_correct()?);
        }
        let so_far = 1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        context.watch.progress("maps", so_far, maps as usize);
        Ok(shares)
    });
    let rows: Vec<Vec<f64>> = each.collect::<Result<_>>()?;
    let sorted = |column: usize| {
        let mut shares: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        shares.sort_by(f64::total_cmp);
        shares
    };
    let curves = NOISES.iter().enumerate().map(|(place, noise)| Curve {
        name: format!("noise {noise}"),
        points: (1..).map(f64::from).zip(sorted(place + 1)).collect(),
    });
    let mut claims: Vec<Claim> = (0..NOISES.len())
        .map(|place| claim(place, &sorted(place + 1)))
        .collect();
    let widths: Vec<Vec<f64>> = (0..WIDTHS.len())
        .map(|place| sorted(1 + NOISES.len() + place))
        .collect();
    claims.push(of_widths(&widths));
    Ok(Reproduction {
        title: "Where classes that overlap begin, map by map".to_owned(),
        setting: vec![
            format!(
                "The first {module} rows of [figure 2](gbcm-figure-2.md), on {maps} maps, each with rows of its own: the paper tells one map, and not which."
            ),
            "The last columns are without noise under a prior whose width was set and not validated.".to_owned(),
            format!(
                "A claim about one map agrees where it is true of at least {:.0} % of these. Half of the query points are right by chance.",
                100.0 * OFTEN
            ),
        ],
        labels: Vec::new(),
        columns: vec![
            "map",
            "percent_without_noise",
            "percent_with_noise_8",
            "width_0.3",
            "width_0.5",
            "width_0.7",
            "width_1",
            "width_1.4",
            "width_2",
            "width_3",
        ],
        curves: curves.collect(),
        axes: ("maps, the worst first", "percent correct"),
        logarithmic: (false, false),
        panels: Vec::new(),
        claims,
        rows,
    })
}

fn claim(place: usize, shares: &[f64]) -> Claim {
    let (noise, printed) = (NOISES[place], PRINTED[place]);
    let below = shares.iter().filter(|share| **share < printed).count();
    let (mean, error) = mean_and_error(shares);
    Claim {
        theirs: format!("With noise {noise} less than {printed} % at K = 1,000"),
        ours: format!(
            "on {below} of {} maps; {mean:.1} +- {error:.1} % on average, {:.1} to {:.1} %",
            shares.len(),
            shares[0],
            shares[shares.len() - 1]
        ),
        agrees: below as f64 >= OFTEN * shares.len() as f64,
    }
}

/// Whether another width than the validated one tells as few as the paper.
fn of_widths(widths: &[Vec<f64>]) -> Claim {
    let means: Vec<f64> = widths
        .iter()
        .map(|shares| mean_and_error(shares).0)
        .collect();
    let told: Vec<String> = (WIDTHS.iter().zip(&means))
        .map(|(width, mean)| format!("{mean:.1} % with {width}"))
        .collect();
    Claim {
        theirs: "With noise 0 less than 95 %, the width of the prior not told".to_owned(),
        ours: format!("by the width on average: {}", told.join(", ")),
        agrees: means.iter().any(|mean| *mean < PRINTED[0]),
    }
}
