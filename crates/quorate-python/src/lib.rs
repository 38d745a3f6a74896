//! The native module `quorate._core`: conversions, one error map, and work that leaves the interpreter free.
//!
//! Everything a person meets is in the Python package `quorate`; this module takes checked arrays from it and hands them
//! to the library. No mathematics and no defaults live here.

mod command;
mod committee;
mod errors;
mod guest;
mod message;
mod model;
mod network;
mod prediction;
mod summary;
mod table;
mod work;

use pyo3::prelude::*;

/// The core of `quorate`: not for direct use.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::committee::{Committee, registry};
    #[pymodule_export]
    use crate::message::{
        absorb, check_part, objective_message, part_message, private_part_message,
        shared_fingerprint, sum_objectives,
    };
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::network::Network;
    #[pymodule_export]
    use crate::prediction::{ClassPrediction, Prediction, QuantityPrediction};
    #[pymodule_export]
    use crate::summary::{
        block_evidence, committee_gradient, emptied_at, hyperparameters, subtract, summary_numbers,
    };
    #[pymodule_export]
    use crate::table::Table;

    /// Version of the program.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
