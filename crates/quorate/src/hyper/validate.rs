//! The simple option: one common width of the kernel, and the noise, by a validation set (Tresp 2000, sec. 7: "optimized
//! using a validation set of size 100").

use quorate_gp::data::{Dataset, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::parameters::Role;
use quorate_gp::posterior::{ExactPosterior, Predict};
use quorate_gp::watch::Watch;

use crate::error::{Error, Result};

/// Rows that validate, at most; of a small table a fifth.
const VALIDATION: usize = 100;
/// Rows that are learned from, at most.
const TRAINING: usize = 1000;

/// What the search found.
#[derive(Clone, Debug)]
pub struct Validated {
    /// Kernel with all its length scales multiplied by the best factor.
    pub kernel: BoundKernel,
    /// The best noise.
    pub noise: GaussianNoise,
    /// Rows that validated.
    pub rows: usize,
    /// Widths and noises tried.
    pub tried: usize,
    /// Mean log density of the validation rows, standardised.
    pub log_density: f64,
}

/// Searches a grid of common widths and noise variances, then a finer one around the best.
pub fn validated(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    noise_is_fixed: bool,
    data: &Dataset,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Validated> {
    let count = VALIDATION.min(data.rows() / 5);
    if count == 0 {
        return Err(Error::Spec(
            "a validation set needs at least 5 rows with different inputs: use `--learn block`"
                .into(),
        ));
    }
    let rows = random_rows(
        data.rows(),
        (count + TRAINING).min(data.rows()),
        seed ^ 0x7661,
    );
    // Random rows come in increasing order: every so many of them validate.
    let every = rows.len() / count;
    let is_asked = |place: usize| place.is_multiple_of(every) && place / every < count;
    let (mut asked, mut seen) = (Vec::new(), Vec::new());
    for (place, &row) in rows.iter().enumerate() {
        if is_asked(place) {
            &mut asked
        } else {
            &mut seen
        }
        .push(row);
    }
    let (asked, seen) = (data.select(&asked), data.select(&seen));

    let parameters = kernel.parameters();
    let widths: Vec<usize> = (0..parameters.len())
        .filter(|&i| parameters[i].role == Role::LengthScale && !parameters[i].fixed)
        .collect();
    let here: Vec<f64> = parameters.iter().map(|p| p.coordinate()).collect();
    let moved = |width: f64| -> Result<BoundKernel> {
        let mut place = here.clone();
        widths.iter().for_each(|&i| place[i] += width);
        let mut kernel = kernel.clone();
        kernel.set_coordinates(&place)?;
        Ok(kernel)
    };
    let mut best: Option<(f64, (f64, f64))> = None;
    let mut tried = 0;
    // In e-folds around the start: first wide, then finer around the best.
    for (stage, reach, steps) in [(0, 3.0, 6), (1, 0.5, 2), (2, 0.2, 2)] {
        watch.progress("validating widths", stage, 3);
        let centre = best.map_or((0.0, 0.0), |(_, place)| place);
        let grid = |moves: bool, centre: f64| -> Vec<f64> {
            let span = if moves { -steps..=steps } else { 0..=0 };
            span.map(|step| centre + reach * f64::from(step) / f64::from(steps))
                .collect()
        };
        for width in grid(!widths.is_empty(), centre.0) {
            let kernel = moved(width)?;
            for level in grid(!noise_is_fixed, centre.1) {
                watch.check()?;
                tried += 1;
                let noise = GaussianNoise {
                    variance: noise.variance * level.exp(),
                };
                match density(&kernel, noise, &seen, &asked) {
                    Ok(value) if best.is_none_or(|(leader, _)| value > leader) => {
                        best = Some((value, (width, level)));
                    }
                    Ok(_) => {}
                    Err(error) if error.is_recoverable() => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    watch.progress("validating widths", 3, 3);
    let Some((log_density, (width, level))) = best else {
        return Err(quorate_gp::Error::NotFinite {
            what: "the density of the validation rows",
        }
        .into());
    };
    Ok(Validated {
        kernel: moved(width)?,
        noise: GaussianNoise {
            variance: noise.variance * level.exp(),
        },
        rows: asked.rows(),
        tried,
        log_density,
    })
}

/// Mean log density of the rows asked about, given those seen.
fn density(
    kernel: &BoundKernel,
    noise: GaussianNoise,
    seen: &Dataset,
    asked: &Dataset,
) -> quorate_gp::Result<f64> {
    let policy = JitterPolicy::default();
    let posterior = ExactPosterior::condition(kernel.clone(), noise, seen.clone(), policy)?;
    let belief = posterior.marginals(asked.inputs())?;
    let (mut sum, mut weight) = (0.0, 0.0);
    for member in asked.members() {
        let group = member.group;
        let variance = belief.variance[(group, 0)] + noise.variance + asked.known_noise()[group];
        let error = member.target - belief.mean[(group, 0)];
        sum -= 0.5
            * member.weight
            * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance);
        weight += member.weight;
    }
    Ok(sum / weight)
}
