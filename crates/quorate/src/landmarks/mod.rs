//! Landmarks: a few points through which every part speaks, so that what parts know can be added.
//!
//! The mathematics is Tresp (2000), Appendix B, in whitened coordinates: `f(Z) = L v`, `v ~ N(0, I)`. Each part
//! contributes a [`Summary`]; summaries add, in any order and on any machine, and subtract.

mod belief;
mod choose;
mod committee;
mod evidence;
mod frame;
mod given;
mod parts;
mod strays;
mod stream;
mod summary;

pub use belief::LandmarkBelief;
pub use choose::choose;
pub(crate) use choose::{cluster_rows, pivots};
pub use committee::{Committee, Part, PartRecord, State, fingerprint};
pub(crate) use evidence::WAVE;
pub use evidence::{CommitteeEvidence, part_gradient};
pub use frame::Landmarks;
pub use given::GivenLandmarks;
pub use parts::{Cut, Ear, absorb, cut};
pub use strays::Strays;
pub use stream::{CHUNK_ROWS, Listener, Pass, Streamed};
pub(crate) use summary::PartFactor;
pub use summary::{Summary, SummaryTree};
