//! The rows as points: scaled so that distance means what the kernel means by it, cut into cells, searched for the
//! nearest.

mod scaled;
mod search;
mod tree;

pub use scaled::ScaledSpace;
pub use search::{Neighbour, NeighbourSearch};
pub use tree::{Cell, balanced_cells};
