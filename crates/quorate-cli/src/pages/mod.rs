//! What people read about models: scores, inputs, how learning went.

mod model;
mod scores;

pub use model::{inputs, learning, model};
pub use scores::scores;
