//! Data, checked once and trusted after.

mod columns;
mod inputs;

pub use columns::{ColumnKind, InputColumn};
pub use inputs::Inputs;
