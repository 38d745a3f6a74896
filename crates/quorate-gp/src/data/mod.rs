//! Data, checked once and trusted after.
//!
//! A table arrives as a [`Frame`] (or batch by batch, from [`Batches`]); [`Roles`] say which column plays which part;
//! a [`Schema`] is learned from the training rows and turns tables into numbers; a [`Dataset`] holds the training rows
//! for the mathematics.

mod batches;
mod chunks;
mod classes;
mod columns;
mod dataset;
mod encoded;
mod encoder;
mod frame;
mod inputs;
mod merge;
mod names;
mod number;
mod pieces;
mod places;
mod proportions;
mod quantity;
mod roles;
mod rows;
mod sample;
mod scale;
mod schema;
mod stray;
mod survey;
mod target;

pub use batches::{Batches, InMemory, read_all};
pub use chunks::Chunks;
pub use classes::Classes;
pub use columns::{ColumnKind, InputColumn};
pub use dataset::{Dataset, Member};
pub use encoded::Encoded;
pub use encoder::MISSING_LEVEL;
pub use frame::{Column, ColumnType, Frame, Header};
pub use inputs::Inputs;
pub use names::{check_names, nearest_name, unknown_column};
pub use number::NumberScale;
pub use pieces::Pieces;
pub use quantity::{Quantity, QuantityCode, Sighting};
pub use roles::Roles;
pub use rows::asked_noise;
pub use sample::random_rows;
pub use scale::Scale;
pub use schema::Schema;
pub use stray::Stray;
pub use survey::Survey;
pub use target::{Observed, TargetCode, TargetKind};
