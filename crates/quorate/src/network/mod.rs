//! Networks whose conditionals are Gaussian processes (Tresp 2001, *Mixtures of Gaussian Processes*, sec. 5).
//!
//! A Bayesian network is a directed graph without cycles over the columns of a table; a dependency network has one
//! conditional for each column given others, cycles allowed. Every column with parents has a [`crate::Model`] of its own:
//! classes for discrete columns, counts behind their likelihood, a process (or another method) for numbers. Columns without parents have their
//! frequencies, a tally of counts, or a Gaussian. Exogenous columns are given from outside and modify the others.

mod conditional;
mod counts;
mod file;
mod graph;
mod learn;
mod query;
mod sample;
mod search;

pub use conditional::{Conditional, Marginal};
pub use counts::Tally;
pub use file::{load_network, network_from_bytes, network_to_bytes, save_network};
pub use graph::Graph;
pub use learn::{NetworkSpec, fit_network};
pub use query::{Answer, Answers, Ask};
pub use sample::Value;
pub use search::{Search, Step, search_graph};

/// A fitted network.
#[derive(Debug)]
pub struct Network {
    /// Who depends on whom.
    pub graph: Graph,
    /// The conditional of every column that is not exogenous, in the order of the graph.
    pub conditionals: Vec<Conditional>,
    /// Sentences for people.
    pub notes: Vec<String>,
}
