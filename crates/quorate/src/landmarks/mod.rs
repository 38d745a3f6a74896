//! Landmarks: a few points through which every part speaks, so that what parts know can be added.
//!
//! The mathematics is Tresp (2000), Appendix B, in whitened coordinates: `f(Z) = L v`, `v ~ N(0, I)`. Each part
//! contributes a [`Summary`]; summaries add, in any order and on any machine, and subtract.

mod belief;
mod evidence;
mod frame;
mod summary;

pub use belief::LandmarkBelief;
pub use evidence::CommitteeEvidence;
pub use frame::Landmarks;
pub use summary::{Summary, SummaryTree};
