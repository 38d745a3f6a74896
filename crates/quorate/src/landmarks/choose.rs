//! Choosing landmarks: random rows, centres of clusters, or the rows of which the others know least.

use quorate_gp::data::{ColumnKind, Inputs, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::linalg::{Matrix, dot};
use quorate_gp::watch::Watch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::space::ScaledSpace;
use crate::spec::LandmarkChoice;

/// Rows looked at for each landmark wanted: enough for stable centres.
const ROWS_PER_CENTRE: usize = 20;
/// Rows looked at for each landmark wanted by the greedy choice, which holds a number for every pair.
const ROWS_PER_PIVOT: usize = 8;
/// Rounds of Lloyd's algorithm: the seeding does most of the work.
const ROUNDS: usize = 8;
/// A row of which less than this share of the prior variance is left unknown adds nothing but rounding.
const KNOWN: f64 = 1e-9;

/// At most `count` landmarks for these inputs under the kernel's metric, row after row; fewer where the inputs have
/// fewer different rows.
pub fn choose(
    choice: LandmarkChoice,
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    count: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<f64>> {
    let sampled = match choice {
        LandmarkChoice::Random => count,
        LandmarkChoice::Kmeans => ROWS_PER_CENTRE * count,
        LandmarkChoice::Greedy => ROWS_PER_PIVOT * count,
    };
    let mut values = Vec::new();
    for row in random_rows(inputs.rows(), sampled, seed) {
        values.extend_from_slice(inputs.row(row));
    }
    let rows = values.len() / inputs.width();
    let sample = Inputs::new(&values, rows, inputs.width())?;
    match choice {
        LandmarkChoice::Random => Ok(values),
        LandmarkChoice::Kmeans => centres(kernel, sample, count.min(rows), seed, watch),
        LandmarkChoice::Greedy => pivots(kernel, sample, count.min(rows), 0.0, watch),
    }
}

/// The cluster of each row, `0..count`: centres from a sample of the rows, then every row goes to its nearest.
pub(crate) fn cluster_rows(
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    count: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<usize>> {
    let metric = Metric::new(kernel);
    let points = metric.space.points(inputs);
    let sample = random_rows(inputs.rows(), ROWS_PER_CENTRE * count, seed);
    let sampled: Vec<f64> = sample
        .iter()
        .flat_map(|&row| metric.point(&points, row))
        .copied()
        .collect();
    let mut means = metric.seeds(&sampled, sample.len(), count, seed, watch)?;
    for round in 0..ROUNDS {
        watch.check()?;
        watch.progress("forming parts", round, ROUNDS);
        let nearest = metric.assign(&sampled, sample.len(), &means);
        means = metric.means(&sampled, &nearest, &means);
    }
    watch.progress("forming parts", ROUNDS, ROUNDS);
    Ok(metric.assign(&points, inputs.rows(), &means))
}

/// Centres of clusters: k-means++ (Arthur and Vassilvitskii 2007) and a few of Lloyd's rounds in the kernel's metric.
fn centres(
    kernel: &BoundKernel,
    sample: Inputs<'_>,
    count: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<f64>> {
    let space = Metric::new(kernel);
    let points = space.space.points(sample);
    let mut means = space.seeds(&points, sample.rows(), count, seed, watch)?;
    let mut nearest = Vec::new();
    for round in 0..ROUNDS {
        watch.check()?;
        watch.progress("choosing landmarks", round, ROUNDS);
        nearest = space.assign(&points, sample.rows(), &means);
        means = space.means(&points, &nearest, &means);
    }
    watch.progress("choosing landmarks", ROUNDS, ROUNDS);
    let width = sample.width();
    let clusters = means.len().checked_div(space.dimension).unwrap_or(1).max(1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); clusters];
    for (row, &cluster) in nearest.iter().enumerate() {
        members[cluster].push(row);
    }
    let kinds = kernel.columns();
    let mut values = Vec::with_capacity(clusters * width);
    for rows in members.iter().filter(|rows| !rows.is_empty()) {
        for (column, kind) in kinds.iter().enumerate() {
            let cells = rows.iter().map(|&row| sample.row(row)[column]);
            values.push(match kind.kind {
                ColumnKind::Category { .. } => most_common(cells),
                _ => cells.sum::<f64>() / rows.len() as f64,
            });
        }
    }
    Ok(values)
}

/// The kernel's space with the distances of its categories.
struct Metric {
    space: ScaledSpace,
    dimension: usize,
    numbers: usize,
    categories: Vec<f64>,
}

impl Metric {
    fn new(kernel: &BoundKernel) -> Self {
        let space = ScaledSpace::of_kernel(kernel);
        Self {
            dimension: space.dimension(),
            numbers: space.number_dimension(),
            categories: space.category_distances().collect(),
            space,
        }
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let (a_numbers, a_levels) = a.split_at(self.numbers);
        let (b_numbers, b_levels) = b.split_at(self.numbers);
        let near: f64 = a_numbers
            .iter()
            .zip(b_numbers)
            .map(|(x, y)| (x - y) * (x - y))
            .sum();
        let levels = a_levels.iter().zip(b_levels).zip(&self.categories);
        let differ = levels.filter(|((x, y), _)| x != y);
        near + differ.map(|(_, distance)| distance).sum::<f64>()
    }

    fn point<'p>(&self, points: &'p [f64], row: usize) -> &'p [f64] {
        &points[row * self.dimension..(row + 1) * self.dimension]
    }

    /// Rows far from those taken before are likelier to be taken next.
    fn seeds(
        &self,
        points: &[f64],
        rows: usize,
        count: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>> {
        let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x6c61_6e64);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut distance = vec![f64::INFINITY; rows];
        let mut taken = ((unit() * rows as f64) as usize).min(rows.saturating_sub(1));
        let mut seeds = Vec::with_capacity(count * self.dimension);
        for place in 0..count {
            if place % 64 == 0 {
                watch.check()?;
            }
            let own = self.point(points, taken);
            seeds.extend_from_slice(own);
            distance
                .par_iter_mut()
                .enumerate()
                .for_each(|(row, least)| {
                    *least = least.min(self.distance(self.point(points, row), own));
                });
            let total: f64 = distance.iter().sum();
            if total <= 0.0 || total.is_nan() {
                break;
            }
            let mut left = unit() * total;
            let drawn = distance.iter().position(|d| {
                left -= d;
                left < 0.0
            });
            // Rounding may leave a hair of the total: the last row that is no seed yet takes it.
            let last = distance.iter().rposition(|d| *d > 0.0);
            taken = drawn.or(last).unwrap_or(0);
        }
        Ok(seeds)
    }

    fn assign(&self, points: &[f64], rows: usize, means: &[f64]) -> Vec<usize> {
        if self.dimension == 0 {
            return vec![0; rows];
        }
        (0..rows)
            .into_par_iter()
            .map(|row| {
                let own = self.point(points, row);
                let mut best = (0, f64::INFINITY);
                for (cluster, mean) in means.chunks_exact(self.dimension).enumerate() {
                    let distance = self.distance(own, mean);
                    if distance < best.1 {
                        best = (cluster, distance);
                    }
                }
                best.0
            })
            .collect()
    }

    /// Mean of each cluster's numbers, its most common levels; a cluster nobody is nearest to stays where it was.
    fn means(&self, points: &[f64], nearest: &[usize], before: &[f64]) -> Vec<f64> {
        let mut means = before.to_vec();
        let mut members = vec![0.0; before.len().checked_div(self.dimension).unwrap_or(0)];
        let mut sums = vec![0.0; before.len()];
        if members.is_empty() {
            return means;
        }
        for (row, &cluster) in nearest.iter().enumerate() {
            members[cluster] += 1.0;
            let start = cluster * self.dimension;
            let sum = &mut sums[start..start + self.numbers];
            let point = self.point(points, row);
            sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
        }
        for (cluster, &size) in members.iter().enumerate().filter(|(_, size)| **size > 0.0) {
            let start = cluster * self.dimension;
            for i in start..start + self.numbers {
                means[i] = sums[i] / size;
            }
        }
        for column in self.numbers..self.dimension {
            let mut cells: Vec<Vec<f64>> = vec![Vec::new(); members.len()];
            for (row, &cluster) in nearest.iter().enumerate() {
                cells[cluster].push(self.point(points, row)[column]);
            }
            for (cluster, cells) in cells.into_iter().enumerate().filter(|(_, c)| !c.is_empty()) {
                means[cluster * self.dimension + column] = most_common(cells.into_iter());
            }
        }
        means
    }
}

/// The most common value; the smallest of several.
fn most_common(cells: impl Iterator<Item = f64>) -> f64 {
    let mut cells: Vec<f64> = cells.collect();
    cells.sort_by(f64::total_cmp);
    let mut best = (0, 0.0);
    for run in cells.chunk_by(|a, b| a == b) {
        if run.len() > best.0 {
            best = (run.len(), run[0]);
        }
    }
    best.1
}

/// Greedy conditional variance: the pivots of a pivoted Cholesky factorisation of the sample's covariance, until no row has more
/// than the variance `unknown` left.
pub(crate) fn pivots(
    kernel: &BoundKernel,
    sample: Inputs<'_>,
    count: usize,
    unknown: f64,
    watch: &dyn Watch,
) -> Result<Vec<f64>> {
    let rows = sample.rows();
    let mut left = kernel.diagonal(sample);
    let largest = left.iter().copied().fold(0.0, f64::max);
    // One row of the factor for each row of the sample.
    let mut factor: Vec<Vec<f64>> = vec![Vec::with_capacity(count); rows];
    let mut values = Vec::new();
    for place in 0..count {
        if place % 16 == 0 {
            watch.check()?;
            watch.progress("choosing landmarks", place, count);
        }
        let most = |best: usize, row: usize| if left[row] > left[best] { row } else { best };
        let pivot = (0..rows).fold(0, most);
        if left[pivot] <= unknown.max(KNOWN * largest) && place > 0 {
            break;
        }
        values.extend_from_slice(sample.row(pivot));
        let root = left[pivot].max(f64::MIN_POSITIVE).sqrt();
        let mut column = Matrix::zeros(rows, 1);
        kernel.fill(sample, sample.slice(pivot, pivot + 1), column.as_mut());
        let own = factor[pivot].clone();
        factor
            .par_iter_mut()
            .zip(&mut left)
            .zip(column.col_as_slice(0))
            .for_each(|((row, left), covariance)| {
                let entry = (covariance - dot(row, &own)) / root;
                row.push(entry);
                *left = (*left - entry * entry).max(0.0);
            });
        left[pivot] = 0.0;
    }
    watch.progress("choosing landmarks", count, count);
    Ok(values)
}
