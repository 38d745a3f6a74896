//! Classification and regression trees (Breiman, Friedman, Olshen and Stone 1984).

mod grow;
mod member;

pub use grow::{Node, Tree, TreeShape};
pub use member::{TreeMember, prepare, restore};
