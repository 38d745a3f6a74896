//! What people read about models: scores, inputs, how learning went.

mod beliefs;
mod committee;
mod inputs;
mod mixture;
mod model;
mod reproduction;
mod scores;

pub use beliefs::{beliefs, beliefs_figure};
pub use committee::{committee, weights_figure};
pub use inputs::inputs;
pub use mixture::{mixture, mixture_figure};
pub use model::{kind_of_scores, learning, model};
pub use reproduction::{reproduction, reproduction_claims, reproduction_csv, reproduction_picture};
pub use scores::scores;

use quorate_gp::data::ColumnType;

/// Types of the table's columns that are inputs.
pub type TableTypes = [(String, ColumnType)];
