//! Which rows each member sees: parts that share none, or bootstrap samples of all.

use quorate_gp::data::{Dataset, Member as Row, random_rows};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::error::Result;

/// Random parts of `rows` distinct rows, their sizes differing by at most one; never more parts than rows.
pub fn parts(rows: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let count = count.clamp(1, rows.max(1));
    let order = shuffled(rows, seed);
    (0..count)
        .map(|part| {
            let (start, end) = (part * rows / count, (part + 1) * rows / count);
            let mut own = order[start..end].to_vec();
            own.sort_unstable();
            own
        })
        .collect()
}

/// Row numbers in random order.
pub fn shuffled(rows: usize, seed: u64) -> Vec<usize> {
    let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x6d61_6b65);
    let mut order: Vec<usize> = random_rows(rows, rows, seed);
    for place in 0..rows {
        let other = place + (random.next_u64() % (rows - place) as u64) as usize;
        order.swap(place, other);
    }
    order
}

/// A bootstrap sample: how often each row of the table was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Bag {
    /// A count for each row of positive weight.
    pub counts: Vec<u32>,
    /// The drawn rows, as weights.
    pub rows: Dataset,
}

impl Bag {
    /// Draws as many rows as there are, with replacement (Breiman 1996; Tresp 2001, *Committee Machines*, 2.3), in
    /// proportion to `probabilities` where they are given.
    pub fn draw(data: &Dataset, seed: u64, probabilities: Option<&[f64]>) -> Result<Bag> {
        let rows = data.members().len();
        let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x0062_6167);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut sums = Vec::with_capacity(rows);
        let mut sum = 0.0;
        for row in 0..rows {
            sum += probabilities.map_or(1.0, |each| each[row]);
            sums.push(sum);
        }
        let mut counts = vec![0; rows];
        for _ in 0..rows {
            let point = unit() * sum;
            counts[sums.partition_point(|&s| s <= point).min(rows - 1)] += 1;
        }
        let rows = reweighted(data, |row| f64::from(counts[row]))?;
        Ok(Bag { counts, rows })
    }
}

/// The same rows with every weight multiplied; rows whose factor is 0 are absent.
pub fn reweighted(data: &Dataset, factor: impl Fn(usize) -> f64) -> Result<Dataset> {
    changed(data, factor, |_, _| {})
}

/// The same rows with every weight multiplied and the targets of each changed.
pub fn changed(
    data: &Dataset,
    factor: impl Fn(usize) -> f64,
    mut change: impl FnMut(usize, &mut [f64]),
) -> Result<Dataset> {
    let members: &[Row] = data.members();
    let values = members
        .iter()
        .flat_map(|row| data.inputs().row(row.group))
        .copied();
    let weights = members.iter().enumerate();
    let weights = weights.map(|(place, row)| row.weight * factor(place));
    let noise = members.iter().map(|row| data.known_noise()[row.group]);
    let outputs = data.outputs();
    let mut targets: Vec<f64> = (0..members.len())
        .flat_map(|place| data.own_targets(place))
        .collect();
    for (place, own) in targets.chunks_exact_mut(outputs).enumerate() {
        change(place, own);
    }
    Ok(Dataset::with_outputs(
        values.collect(),
        data.inputs().width(),
        targets,
        outputs,
        Some(weights.collect()),
        Some(noise.collect()),
    )?)
}
