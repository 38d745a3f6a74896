//! Radial basis function networks: centres by clustering, their width and the weights by evidence (Latouche 2007, 2.1.1).

use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::kernel::Kernel;

use super::{Basis, Expansion, Member, Recipe, Setting, WeightSpace};
use crate::error::Result;
use crate::fit::auto::with_categories;
use crate::landmarks::choose;
use crate::spec::LandmarkChoice;

/// Centres at most; the thesis takes 10 for one input and 50 for three.
const CENTRES: usize = 50;
/// Rows for each centre at least.
const ROWS_PER_CENTRE: usize = 5;
/// Rows on which widths are compared.
const TRIAL_ROWS: usize = 1000;
/// Widths tried, in units of the mean distance from a centre to the nearest other.
const WIDTHS: [f64; 5] = [0.7, 1.0, 1.5, 2.5, 5.0];

struct Radial {
    basis: Basis,
    expansion: Expansion,
}

impl Recipe for Radial {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let fitted = WeightSpace::fit(self.basis.clone(), self.expansion.clone(), rows)?;
        Ok(Box::new(fitted))
    }
}

/// Centres and width are shared by all members, so that their weights mean the same (thesis, chapter 3).
pub fn prepare(setting: &Setting<'_>, rows: &Dataset) -> Result<Box<dyn Recipe>> {
    let (basis, expansion) = radial(setting, rows)?;
    Ok(Box::new(Radial { basis, expansion }))
}

/// Centres by clustering, and the width under which the first output is likeliest.
pub fn radial(setting: &Setting<'_>, rows: &Dataset) -> Result<(Basis, Expansion)> {
    let count = (rows.rows() / ROWS_PER_CENTRE).clamp(1, CENTRES);
    around(count, setting, rows)
}

/// The same around so many centres.
pub fn around(count: usize, setting: &Setting<'_>, rows: &Dataset) -> Result<(Basis, Expansion)> {
    let expansion = Expansion::of(setting.columns);
    let kernel: Kernel = with_categories(setting.columns, "se").parse()?;
    let bound = kernel.bind(setting.columns)?;
    let chosen = choose(
        LandmarkChoice::Kmeans,
        &bound,
        rows.inputs(),
        count,
        setting.seed,
        setting.watch,
    )?;
    let width = rows.inputs().width();
    let centres = expansion.apply(Inputs::new(&chosen, chosen.len() / width, width)?);
    let unit = nearest_distance(&centres, expansion.width());
    let trial = rows.select(&random_rows(rows.rows(), TRIAL_ROWS, setting.seed));
    let mut best: Option<(f64, Basis)> = None;
    for factor in WIDTHS {
        setting.watch.check()?;
        let basis = Basis::Radial {
            centres: centres.clone(),
            width: factor * unit,
        };
        let fitted = WeightSpace::fit(basis.clone(), expansion.clone(), &trial)?;
        let evidence = fitted.posterior().log_evidence;
        if best.as_ref().is_none_or(|(most, _)| evidence > *most) {
            best = Some((evidence, basis));
        }
    }
    let fallback = Basis::Radial {
        centres,
        width: unit,
    };
    Ok((best.map_or(fallback, |(_, basis)| basis), expansion))
}

/// Mean distance from a centre to the nearest other; 1 where there is no other.
fn nearest_distance(centres: &[f64], width: usize) -> f64 {
    let all: Vec<&[f64]> = centres.chunks_exact(width.max(1)).collect();
    let distance = |a: &[f64], b: &[f64]| -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let nearest = |i: usize| {
        let others = (0..all.len()).filter(|&j| j != i);
        let distances = others.map(|j| distance(all[i], all[j]));
        distances.filter(|d| *d > 0.0).fold(f64::INFINITY, f64::min)
    };
    let found: Vec<f64> = (0..all.len())
        .map(nearest)
        .filter(|distance| distance.is_finite())
        .collect();
    if found.is_empty() {
        1.0
    } else {
        found.iter().sum::<f64>() / found.len() as f64
    }
}
