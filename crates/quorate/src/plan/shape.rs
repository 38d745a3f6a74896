//! What a plan looks at: the size of the table and of the kernels that will be tried.

use quorate_gp::data::{Dataset, Quantity, Schema, Survey};
use serde::Serialize;

use crate::fit::through::{FURTHER, likelihood_of};
use crate::fit::{auto, exact};
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
    /// True when a row by itself says much about the function, so that those nearest to a question answer it: numbers with
    /// noise, amounts, lifetimes of which most were observed, and large counts.
    pub rows_tell: bool,
    /// Rows whose evidence through landmarks is climbed in the end, where targets have a likelihood.
    pub climbed_rows: Option<usize>,
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
            restarts: exact::restarts(spec, schema),
            learns: spec.learn != LearnChoice::None,
            rows_tell: rows_tell(schema, sample),
            climbed_rows: likelihood_of(spec, schema).then(|| climbed_rows(schema, sample)),
        }
    }
}

/// How many rows hold the information that a climb through landmarks needs: a count says as much as is expected of it.
fn climbed_rows(schema: &Schema, sample: &Dataset) -> usize {
    let (least, most) = FURTHER.rows;
    let Some(Quantity::Count) = schema.target().quantity().map(|code| code.quantity) else {
        return least;
    };
    let each = mean_target(sample).max(1e-9);
    ((FURTHER.told / each).ceil().min(most as f64) as usize).clamp(least, most)
}

fn mean_target(sample: &Dataset) -> f64 {
    let rows = sample.members().len();
    let values = (0..rows).map(|row| sample.own_targets(row).next().unwrap_or(0.0));
    values.sum::<f64>() / rows.max(1) as f64
}

/// Counts of at least this many on average: a row alone knows the logarithm of its rate to a third or so.
const LARGE_COUNT: f64 = 8.0;

fn rows_tell(schema: &Schema, sample: &Dataset) -> bool {
    let Some(code) = schema.target().quantity() else {
        return schema.target().classes().is_none();
    };
    match code.quantity {
        Quantity::Real => true,
        Quantity::Positive => {
            let rows = sample.members().len();
            let observed = (0..rows).map(|row| sample.own_targets(row).nth(2).unwrap_or(1.0));
            observed.sum::<f64>() >= 0.5 * rows as f64
        }
        Quantity::Count => mean_target(sample) >= LARGE_COUNT,
    }
}
