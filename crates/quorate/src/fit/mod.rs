//! From a table to a model: what is found, and by which method.

pub mod auto;
mod exact;
mod joint;
pub(crate) mod landmarks;
mod local;
mod start;
mod supported;

use quorate_gp::data::{Dataset, Frame, Schema};
use quorate_gp::kernel::Kernel;
use quorate_gp::learn::SearchRecord;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

pub use crate::answers::LandmarkShape;
use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::fit::auto::Candidate;
use crate::landmarks::{Landmarks, State};
use crate::local::ConditionalRecord;
use crate::partition::Labels;
use crate::score::Scores;
use crate::spec::{MethodChoice, ModeChoice, ModelSpec};
pub(crate) use local::scored_rows;

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
    /// Log evidence of all rows; none for local models.
    pub log_evidence: Option<f64>,
    /// How many parameters the rows pin down; none for local models.
    pub effective_parameters: Option<f64>,
    /// Rows predicted from the others: all of them one at a time, or a sample where that would take long; for landmarks a
    /// sample that was held out together.
    pub leave_one_out: Scores,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
    /// How the grouped conditional likelihood was climbed; local and joint models only.
    pub conditional: Option<ConditionalRecord>,
    pub outcome: String,
}

/// Fits a table under a specification.
pub(crate) fn fit(
    spec: &ModelSpec,
    table: &Frame,
    watch: &dyn Watch,
) -> Result<(Fitted, State, Answers)> {
    spec.check()?;
    let (schema, data, notes) = encode(spec, table)?;
    let (found, state, answers) = match method(spec, data.rows()) {
        Way::Exact => {
            check_memory(data.rows())?;
            let (found, answers) = exact::fit(spec, &schema, &data, watch)?;
            (found, State::Rows(data), answers)
        }
        Way::Local => {
            let (found, answers) = local::fit(spec, &schema, &data, watch)?;
            (found, State::Rows(data), answers)
        }
        Way::Supported => {
            let labels = Labels::of(&spec.parts.clone().unwrap_or_default(), table)?;
            let (found, rows, state, answers) =
                supported::fit(spec, &schema, data, labels.as_ref(), watch)?;
            (found, State::Supported(rows, state), answers)
        }
        Way::Joint => {
            let labels = Labels::of(&spec.parts.clone().unwrap_or_default(), table)?;
            let (found, rows, answers) = joint::fit(spec, &schema, data, labels.as_ref(), watch)?;
            (found, State::Parts(rows), answers)
        }
        Way::Landmarks => {
            let labels = Labels::of(&spec.parts.clone().unwrap_or_default(), table)?;
            let (labels, rows) = (labels.as_ref(), landmarks::Rows::Absorb);
            let (found, state, answers) =
                landmarks::fit(spec, &schema, &data, labels, rows, watch)?;
            (found, State::Committee(state), answers)
        }
    };
    Ok((finish(spec, schema, found, notes, &answers), state, answers))
}

/// Learns everything but the summary from a sample: a landmarks model with no row.
pub(crate) fn prepare(
    spec: &ModelSpec,
    table: &Frame,
    watch: &dyn Watch,
) -> Result<(Fitted, State, Answers)> {
    let landmarks = matches!(spec.mode, ModeChoice::Auto | ModeChoice::Landmarks);
    if spec.method == MethodChoice::Exact || !landmarks {
        return Err(Error::Spec(
            "a prepared model is a committee that speaks through landmarks: leave `--method` and `--mode` out".into(),
        ));
    }
    if spec.part_name.is_some() {
        return Err(Error::Spec(
            "a prepared model has no parts yet: name them with `quorate update --part-name`".into(),
        ));
    }
    let spec = &ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Landmarks,
        ..spec.clone()
    };
    spec.check()?;
    let (schema, data, notes) = encode(spec, table)?;
    let labels = Labels::of(&spec.parts.clone().unwrap_or_default(), table)?;
    let (labels, rows) = (labels.as_ref(), landmarks::Rows::Leave);
    let (found, state, answers) = landmarks::fit(spec, &schema, &data, labels, rows, watch)?;
    let fitted = finish(spec, schema, found, notes, &answers);
    Ok((fitted, State::Committee(state), answers))
}

/// The ways to answer.
enum Way {
    Exact,
    Local,
    Supported,
    Landmarks,
    Joint,
}

fn method(spec: &ModelSpec, rows: usize) -> Way {
    match (spec.method, spec.mode) {
        (_, ModeChoice::Landmarks) => Way::Landmarks,
        (_, ModeChoice::Joint) => Way::Joint,
        (_, ModeChoice::Local) if spec.landmarks.is_some() => Way::Supported,
        (MethodChoice::Exact, _) => Way::Exact,
        // Only an exact fit keeps the noise it is given.
        (MethodChoice::Auto, ModeChoice::Auto) if spec.noise_variance.is_some() => Way::Exact,
        (MethodChoice::Auto, ModeChoice::Auto) if rows <= EXACT_ROWS => Way::Exact,
        _ => Way::Local,
    }
}

fn encode(spec: &ModelSpec, table: &Frame) -> Result<(Schema, Dataset, Vec<String>)> {
    let (schema, mut notes) = Schema::learn(table, &spec.roles())?;
    let data = schema.training_data(table)?;
    let merged = data.members().len() - data.rows();
    if merged > 0 {
        notes.push(format!(
            "{merged} of {} rows repeat the inputs of another and were merged with it",
            data.members().len()
        ));
    }
    Ok((schema, data, notes))
}

fn finish(
    spec: &ModelSpec,
    schema: Schema,
    found: Found,
    mut notes: Vec<String>,
    answers: &Answers,
) -> Fitted {
    for column in answers.kernel().unused_columns() {
        notes.push(format!(
            "input `{}` is not used by the kernel",
            schema.columns()[column].label()
        ));
    }
    // Landmarks always get a little: only more than that is worth a word.
    let usual = match found.method {
        Method::Landmarks(_) | Method::Supported(_) => Landmarks::JITTER.start,
        _ => 0.0,
    };
    if found.jitter.relative > usual {
        notes.push(format!(
            "the covariance needed jitter of {:.0e} of its diagonal",
            found.jitter.relative
        ));
    }
    Fitted {
        spec: spec.clone(),
        schema,
        found,
        notes,
    }
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
