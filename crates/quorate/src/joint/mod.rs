//! The committee asked jointly: the questions themselves are the points through which parts speak (Tresp 2000, sec. 3;
//! Committee Machines, sec. 4).
//!
//! Parts are independent of each other given the function at the questions, so a block of many questions asked together
//! is answered better than each alone: what one part knows at one question reaches the others through all of them.

mod ask;
mod member;

pub use ask::{JointAnswers, JointShape};
pub use member::Member;
