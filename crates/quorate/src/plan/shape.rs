//! What a plan looks at: the size of the table and of the kernels that will be tried.

use quorate_gp::data::{Dataset, Schema, Survey};
use serde::Serialize;

use crate::fit::auto;
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};

/// The size of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Rows of the table.
    pub rows: usize,
    /// Rows with different inputs.
    pub distinct_rows: usize,
    /// Encoded input columns.
    pub inputs: usize,
    /// Named kernels in the kernel given; none where one is to be found.
    pub terms: Option<usize>,
    /// Kernels that an exact fit would compare.
    pub candidates: usize,
    /// Starts of a search beyond the first; by the number of rows when absent.
    pub restarts: Option<usize>,
    /// True when hyperparameters are learned by the objective of the method.
    pub learns: bool,
}

impl Shape {
    /// The size of a table under a specification, from a survey of it and the encoded sample.
    pub fn of(spec: &ModelSpec, schema: &Schema, sample: &Dataset, survey: &Survey) -> Self {
        let columns = schema.columns();
        let terms = match &spec.kernel {
            KernelChoice::Given(kernel) => Some(kernel.atoms()),
            KernelChoice::Auto => None,
        };
        // Rows of weight 0 are absent, and repeated inputs count once: both in the share they have of the sample.
        let share = |part: usize| {
            let looked_at = survey.positions.len().max(1) as u128;
            (part as u128 * survey.rows as u128 / looked_at) as usize
        };
        Self {
            rows: share(sample.members().len()),
            distinct_rows: share(sample.rows()),
            inputs: columns.len(),
            terms,
            candidates: auto::candidates(columns).len(),
            restarts: spec.restarts,
            learns: spec.learn != LearnChoice::None,
        }
    }
}
