//! Which rows form a part: by their place in the kernel's metric, at random, or as the table has them.
//!
//! Parts that stand together lose least: what the parts of a committee do not tell each other matters only between
//! rows that are correlated (Tresp 2000, sec. 3).

mod choice;
mod cluster;
mod labels;
mod rows;

pub use choice::PartChoice;
pub use labels::Labels;
pub use rows::PartedRows;

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::watch::Watch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::error::{Error, Result};
use crate::space::{ScaledSpace, balanced_cells};

/// How rows are given to experts.
#[derive(Clone, Copy, Debug)]
pub struct Partition<'a> {
    /// By what.
    pub choice: &'a PartChoice,
    /// Rows of one expert, at most.
    pub size: usize,
    /// Seed of random parts and of clusters.
    pub seed: u64,
}

impl Partition<'_> {
    /// The rows of each part. Every row is in one part; no part is empty or longer than `size`. `labels` are needed for
    /// parts by a column.
    pub fn assign(
        &self,
        kernel: &BoundKernel,
        data: &Dataset,
        labels: Option<&Labels>,
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<usize>>> {
        let inputs = data.inputs();
        let all: Vec<usize> = (0..inputs.rows()).collect();
        let size = self.size.max(1);
        Ok(match self.choice {
            PartChoice::Tree => cells(kernel, inputs, &all, size),
            PartChoice::Given => all.chunks(size).map(<[usize]>::to_vec).collect(),
            PartChoice::Random => random(inputs.rows(), size, self.seed),
            PartChoice::Cluster => {
                let clusters = cluster::clusters(kernel, inputs, size, self.seed, watch)?;
                shorter(kernel, inputs, clusters, size)
            }
            PartChoice::Column(name) => {
                let labels = labels.ok_or_else(|| {
                    Error::Spec(format!("parts by column `{name}` need the table itself"))
                })?;
                shorter(kernel, inputs, labels.lists(data), size)
            }
        })
    }
}

/// Balanced cells of some of the rows in the kernel's metric; in their order where the kernel reads no column.
pub(crate) fn cells(
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    rows: &[usize],
    size: usize,
) -> Vec<Vec<usize>> {
    let space = ScaledSpace::of_kernel(kernel);
    let dimension = space.dimension();
    if dimension == 0 {
        return rows.chunks(size).map(<[usize]>::to_vec).collect();
    }
    let all = space.points(inputs);
    let point = |row: &usize| &all[row * dimension..(row + 1) * dimension];
    let points: Vec<f64> = rows.iter().flat_map(point).copied().collect();
    let directions = space.number_dimension().max(1);
    let (order, cells) = balanced_cells(&points, dimension, directions, size);
    let members = |start, end| {
        let places = order[start..end].iter();
        places.map(|&place| rows[place as usize]).collect()
    };
    cells
        .iter()
        .map(|cell| members(cell.start, cell.end))
        .collect()
}

/// Cuts lists that are too long for one expert into balanced cells.
fn shorter(
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    lists: Vec<Vec<usize>>,
    size: usize,
) -> Vec<Vec<usize>> {
    let mut parts = Vec::with_capacity(lists.len());
    for list in lists {
        if list.len() <= size {
            parts.push(list);
        } else {
            parts.extend(cells(kernel, inputs, &list, size));
        }
    }
    parts
}

/// Random parts whose sizes differ by at most one row.
fn random(rows: usize, size: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x7061_7274);
    let mut order: Vec<usize> = (0..rows).collect();
    for place in 0..rows {
        let other = place + (random.next_u64() % (rows - place) as u64) as usize;
        order.swap(place, other);
    }
    let parts = rows.div_ceil(size);
    (0..parts)
        .map(|part| {
            let mut list = order[part * rows / parts..(part + 1) * rows / parts].to_vec();
            list.sort_unstable();
            list
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_gp::data::{ColumnKind, InputColumn};
    use quorate_gp::kernel::Kernel;
    use quorate_gp::watch::Unwatched;

    #[test]
    fn every_row_is_in_one_part_and_no_part_is_too_long() {
        let column = |name: &str| InputColumn {
            name: name.into(),
            kind: ColumnKind::Number,
            deviation: 1.0,
        };
        let kernel: Kernel = "se(ard)".parse().expect("kernel text");
        let kernel = kernel.bind(&[column("a"), column("b")]).expect("columns");
        let values = (0..234).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let targets = (0..117).map(f64::from).collect();
        let data = Dataset::new(values, 2, targets, None, None).expect("rows");
        let labels = Labels::of_codes((0..117).map(|row| row % 3).collect());
        let choices = ["tree", "random", "cluster", "given", "column:site"];
        for (choice, fewest) in choices.iter().zip([6, 6, 6, 6, 6]) {
            let choice: PartChoice = choice.parse().expect("a choice");
            let partition = Partition {
                choice: &choice,
                size: 20,
                seed: 3,
            };
            let assign = || partition.assign(&kernel, &data, Some(&labels), &Unwatched);
            let parts = assign().expect("parts");
            let mut rows: Vec<usize> = parts.concat();
            rows.sort_unstable();
            assert_eq!(rows, (0..117).collect::<Vec<_>>(), "{choice}");
            assert!(parts.iter().all(|part| (1..=20).contains(&part.len())));
            assert!(parts.len() >= fewest, "{choice}");
            assert_eq!(parts, assign().expect("parts again"));
            if matches!(choice, PartChoice::Column(_)) {
                let one = |part: &Vec<usize>| part.iter().all(|row| row % 3 == part[0] % 3);
                assert!(parts.iter().all(one));
            }
        }
    }
}
