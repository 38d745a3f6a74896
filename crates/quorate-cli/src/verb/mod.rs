//! One file a verb: its flags, what it does, and what it prints.

mod ask;
mod choices;
mod compare;
mod completions;
mod demo;
mod evaluate;
mod fit;
mod forget;
mod generate;
mod inspect;
mod merge;
mod plan;
mod predict;
mod prepare;
mod report;
mod reproduce;
mod serve;
mod sums;
mod update;

pub use ask::Ask;
pub use compare::Compare;
pub use completions::Completions;
pub use demo::Demo;
pub use evaluate::Evaluate;
pub use fit::Fit;
pub use forget::Forget;
pub use generate::Generate;
pub use inspect::Inspect;
pub use merge::Merge;
pub use plan::Plan;
pub use predict::Predict;
pub use prepare::Prepare;
pub use report::Report;
pub use reproduce::Reproduce;
pub use serve::Serve;
pub use update::Update;
