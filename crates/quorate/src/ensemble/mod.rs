//! Committees of any members: who gets which rows, what they answer together, and why that helps.
//!
//! A [`Committee`] is itself a member, so that committees nest. [`makers`] say which rows each member sees, [`boosting`]
//! trains members one after the other, [`out_of_fold`] finds out how members do on rows they have not seen, and
//! [`Ambiguity`] and [`Decomposition`] say what a committee owes to its members' differences.

pub mod boosting;
mod committee;
mod council;
mod diagnostics;
pub mod makers;
mod out_of_fold;

pub use committee::Committee;
pub use council::{Council, Said};
pub use diagnostics::{Ambiguity, Decomposition};
pub use makers::Bag;
pub use out_of_fold::{FOLDS, out_of_fold};
