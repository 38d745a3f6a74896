//! Groups for the grouped conditional likelihood: rows around a random row, predicted from the next nearest.

use quorate_gp::learn::Group;
use rand::Rng;
use rayon::prelude::*;

use crate::space::NeighbourSearch;

/// How many rows a group has, and how many it is predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupShape {
    /// Rows of the group.
    pub members: usize,
    /// Neighbours it is predicted from.
    pub neighbours: usize,
}

impl Default for GroupShape {
    fn default() -> Self {
        Self {
            members: 64,
            neighbours: 448,
        }
    }
}

/// Draws the random rows that groups stand around.
pub fn draw_centres(count: usize, rows: usize, random: &mut impl Rng) -> Vec<usize> {
    (0..count)
        .map(|_| (random.next_u64() % rows as u64) as usize)
        .collect()
}

/// Groups around rows: the nearest rows are the group, the next nearest its neighbours.
pub fn groups_around(
    search: &NeighbourSearch,
    points: &[f64],
    centres: &[usize],
    shape: GroupShape,
) -> Vec<Group> {
    let dimension = search.space().dimension();
    centres
        .par_iter()
        .map(|&centre| {
            let point = &points[centre * dimension..(centre + 1) * dimension];
            let found = search.nearest(point, shape.members + shape.neighbours);
            let members = shape.members.min(found.len().div_ceil(2));
            let (group, neighbours) = found.split_at(members);
            Group {
                rows: neighbours
                    .iter()
                    .chain(group)
                    .map(|neighbour| neighbour.row as usize)
                    .collect(),
                neighbours: neighbours.len(),
            }
        })
        .collect()
}
