//! The most probable function as neighbourhoods see it: the mode of each cell of rows together with the rows around it.

use quorate_gp::data::{Dataset, Schema};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::posterior::LaplacePosterior;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use crate::error::Result;
use crate::latent::observations;
use crate::space::{Cell, NeighbourSearch, ScaledSpace, balanced_cells};
use crate::task::Through;

/// Rows whose mode is found together.
const CELL: usize = 128;
/// Nearest rows that each of them brings along.
const COMPANIONS: usize = 12;

/// The latent value at each distinct row: Laplace's method on the row's cell and the rows nearest to its members.
///
/// Unlike landmarks, neighbourhoods can follow a function as rough as the kernel says; unlike parts that stand alone, no
/// row of a cell is without company on one side.
pub fn modes_around(
    kernel: &BoundKernel,
    through: Through,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Vec<f64>> {
    let seen = observations(schema, data, through)?;
    through.likelihood.check(&seen)?;
    let space = ScaledSpace::of_kernel(kernel);
    let points = space.points(data.inputs());
    let dimension = space.dimension();
    let (order, cells) = if dimension == 0 {
        in_order(data.rows())
    } else {
        let directions = space.number_dimension().max(1);
        balanced_cells(&points, dimension, directions, CELL)
    };
    let search = NeighbourSearch::new(space, data.inputs());
    watch.progress("finding modes around rows", 0, cells.len());
    let found: Vec<Vec<(usize, f64)>> = cells
        .par_iter()
        .map(|cell| {
            watch.check()?;
            let own: Vec<usize> = order[cell.start..cell.end]
                .iter()
                .map(|&row| row as usize)
                .collect();
            let mut rows = own.clone();
            for &row in own.iter().filter(|_| dimension > 0) {
                let point = &points[row * dimension..(row + 1) * dimension];
                let near = search.nearest(point, COMPANIONS);
                rows.extend(near.iter().map(|neighbour| neighbour.row as usize));
            }
            rows.sort_unstable();
            rows.dedup();
            let posterior = LaplacePosterior::fit(
                kernel.clone(),
                through.likelihood,
                data.select(&rows),
                seen.select(&rows),
                None,
            )?;
            let mode = rows.iter().copied().zip(posterior.mode().iter().copied());
            let mut own = own;
            own.sort_unstable();
            Ok(mode
                .filter(|(row, _)| own.binary_search(row).is_ok())
                .collect())
        })
        .collect::<Result<_>>()?;
    watch.progress("finding modes around rows", cells.len(), cells.len());
    let mut latent = vec![0.0; data.rows()];
    for (row, value) in found.into_iter().flatten() {
        latent[row] = value;
    }
    Ok(latent)
}

/// Cells of rows that no column tells apart.
fn in_order(rows: usize) -> (Vec<u32>, Vec<Cell>) {
    let cell = |start: usize| Cell {
        start,
        end: (start + CELL).min(rows),
    };
    let cells = (0..rows).step_by(CELL).map(cell).collect();
    ((0..rows as u32).collect(), cells)
}
