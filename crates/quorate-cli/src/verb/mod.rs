//! One file a verb: its flags, what it does, and what it prints.

mod completions;
mod demo;
mod evaluate;
mod fit;
mod generate;
mod inspect;
mod predict;

pub use completions::Completions;
pub use demo::Demo;
pub use evaluate::Evaluate;
pub use fit::Fit;
pub use generate::Generate;
pub use inspect::Inspect;
pub use predict::Predict;
