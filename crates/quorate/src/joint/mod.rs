//! The committee asked jointly: the questions themselves are the points through which parts speak (Tresp 2000, sec. 3;
//! Committee Machines, sec. 4).
//!
//! Parts are independent of each other given the function at the questions, so a block of many questions asked together
//! is answered better than each alone: what one part knows at one question reaches the others through all of them.
//! Many questions that stand together are answered through a few of them ([`Cells`]).

mod ask;
mod cells;
mod member;

pub use ask::{JointAnswers, JointShape};
pub use cells::Cells;
pub use member::Member;
