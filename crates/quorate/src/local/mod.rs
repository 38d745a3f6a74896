//! Answers from the nearest rows: each question, or small group of questions, is put to an expert formed for it.

mod ask;
mod groups;
mod learn;
mod left_out;
mod share;
mod support;

pub use ask::{LocalAnswers, Neighbourhood};
pub use groups::{GroupShape, draw_centres, groups_around};
pub use learn::{
    ConditionalRecord, ConditionalSearch, EARLY, learn_conditional, learn_latent_conditional,
};
pub(crate) use left_out::MOST_ROWS_LEFT_OUT;
pub use support::{SupportedAnswers, SupportedShape};
