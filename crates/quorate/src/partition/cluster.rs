//! Parts around the centres of clusters.

use quorate_gp::data::Inputs;
use quorate_gp::kernel::BoundKernel;
use quorate_gp::watch::Watch;

use crate::error::Result;
use crate::landmarks::cluster_rows;

/// Clusters of about `size` rows each: k-means in the kernel's metric, every row with its nearest centre.
pub fn clusters(
    kernel: &BoundKernel,
    inputs: Inputs<'_>,
    size: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<Vec<usize>>> {
    let count = inputs.rows().div_ceil(size);
    let nearest = cluster_rows(kernel, inputs, count, seed, watch)?;
    let mut lists = vec![Vec::new(); count];
    for (row, cluster) in nearest.into_iter().enumerate() {
        lists[cluster].push(row);
    }
    lists.retain(|list| !list.is_empty());
    Ok(lists)
}
