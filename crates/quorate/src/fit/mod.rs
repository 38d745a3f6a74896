//! From a table to a model: what is found, and by which method.

pub mod auto;
mod exact;
mod local;

use quorate_gp::data::{Dataset, Frame, Schema};
use quorate_gp::kernel::Kernel;
use quorate_gp::learn::SearchRecord;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::fit::auto::Candidate;
use crate::local::ConditionalRecord;
use crate::score::Scores;
use crate::spec::{MethodChoice, ModelSpec};

/// Tables with at most this many distinct rows are fitted exactly unless told otherwise.
const EXACT_ROWS: usize = 4000;
/// Bytes an exact fit may take: two n x n matrices.
const EXACT_BYTES: u64 = 16 << 30;

/// Everything about a fitted model but its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fitted {
    pub spec: ModelSpec,
    pub schema: Schema,
    #[serde(flatten)]
    pub found: Found,
    pub notes: Vec<String>,
}

/// Method, hyperparameters, and how they were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub method: Method,
    pub kernel: Kernel,
    pub noise: GaussianNoise,
    pub jitter: Jitter,
    /// Log evidence of all rows; exact models only.
    pub log_evidence: Option<f64>,
    /// How many parameters the rows pin down; exact models only.
    pub effective_parameters: Option<f64>,
    /// Rows predicted from the others: all of them, or a sample where that would take long.
    pub leave_one_out: Scores,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
    /// How the grouped conditional likelihood was climbed; local models only.
    pub conditional: Option<ConditionalRecord>,
    pub outcome: String,
}

/// Fits a table under a specification.
pub(crate) fn fit(
    spec: &ModelSpec,
    table: &Frame,
    watch: &dyn Watch,
) -> Result<(Fitted, Dataset, Answers)> {
    let (schema, mut notes) = Schema::learn(table, &spec.roles())?;
    let data = schema.training_data(table)?;
    let merged = data.members().len() - data.rows();
    if merged > 0 {
        notes.push(format!(
            "{merged} of {} rows repeat the inputs of another and were merged with it",
            data.members().len()
        ));
    }
    let exact = match spec.method {
        MethodChoice::Auto => data.rows() <= EXACT_ROWS,
        MethodChoice::Exact => true,
        MethodChoice::Committee => false,
    };
    let (found, answers) = if exact {
        check_memory(data.rows())?;
        exact::fit(spec, &schema, &data, watch)?
    } else {
        local::fit(spec, &schema, &data, watch)?
    };
    for column in answers.kernel().unused_columns() {
        notes.push(format!(
            "input `{}` is not used by the kernel",
            schema.columns()[column].label()
        ));
    }
    if found.jitter.relative > 0.0 {
        notes.push(format!(
            "the covariance needed jitter of {:.0e} of its diagonal",
            found.jitter.relative
        ));
    }
    let fitted = Fitted {
        spec: spec.clone(),
        schema,
        found,
        notes,
    };
    Ok((fitted, data, answers))
}

/// Refuses with the number instead of dying.
fn check_memory(rows: usize) -> Result<()> {
    let bytes = 16 * (rows as u64).saturating_mul(rows as u64);
    if bytes <= EXACT_BYTES {
        return Ok(());
    }
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    Err(Error::Spec(format!(
        "an exact fit of {rows} distinct rows needs {:.1} GiB, more than {:.0} GiB: use `--method committee`",
        gib(bytes),
        gib(EXACT_BYTES),
    )))
}
