//! Committees of any members: who gets which rows, what they answer together, and why that helps.
//!
//! A [`Committee`] is itself a member, so that committees nest. [`makers`] say which rows each member sees, [`boosting`]
//! trains members one after the other, [`out_of_fold`] finds out how members do on rows they have not seen, and
//! [`Ambiguity`] and [`Decomposition`] say what a committee owes to its members' differences. A [`CommitteeModel`] is a
//! committee fitted to a table under a [`CommitteeSpec`]; a [`Jury`] is one that tells classes apart.

pub mod boosting;
mod committee;
mod council;
mod diagnostics;
mod guests;
mod jury;
mod latents;
pub mod makers;
mod model;
mod numbers;
mod out_of_fold;
mod seats;
mod spec;
mod successive;
mod weight_space;

pub use committee::Committee;
pub use council::{Council, Said};
pub use diagnostics::{Ambiguity, Decomposition};
pub use guests::{Guests, NoGuests};
pub use jury::{Jury, record_of as class_record};
pub use makers::Bag;
pub use model::{AmbiguityOf, CommitteeModel, Differences};
pub(crate) use model::{Body, Members};
pub(crate) use numbers::council_of;
pub use out_of_fold::{FOLDS, out_of_fold, out_of_fold_of};
pub use seats::{MakerChoice, Making, Seat, Share};
pub use spec::CommitteeSpec;
pub use successive::{Weighted, boost_classes, boost_numbers, filter_classes, gentle_boost};
pub use weight_space::{WeightBelief, cooperative, non_parametric, parametric};
