//! From a table to a model: what is found, and by which method.

mod apart;
pub mod auto;
mod calibrate;
mod chosen;
pub(crate) mod coupled;
mod dispersion;
mod drawn;
pub(crate) mod exact;
mod experts;
mod folds;
pub(crate) mod heard;
mod inferred;
pub(crate) mod joint;
pub(crate) mod landmarks;
mod latent;
pub(crate) mod local;
pub(crate) mod mixture;
mod near;
mod quantity;
pub(crate) mod start;
mod supported;
pub(crate) mod through;
mod trials;

use std::borrow::Cow;

use quorate_gp::data::{Batches, Dataset, Frame, Schema, Survey, TargetKind};
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
use crate::hyper::Hyperposterior;
use crate::landmarks::{CHUNK_ROWS, Landmarks, State, fingerprint};
use crate::latent::Approximation;
use crate::local::ConditionalRecord;
use crate::partition::Labels;
use crate::plan::{Plan, Shape, Way};
use crate::spec::{KernelChoice, LearnChoice, MethodChoice, ModeChoice, ModelSpec};
use crate::spread::Spread;
use crate::task::{Link, Scorecard, TaskChoice, Through, decide};
pub(crate) use local::scored_rows;
pub use mixture::MixtureRecord;
pub(crate) use quantity::{rough, started};

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
    pub leave_one_out: Scorecard,
    /// What makes probabilities of the answers about classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// How wide answers are where one noise does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// The likelihood behind the latent function of two classes, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
    /// How the grouped conditional likelihood was climbed; local and joint models only.
    pub conditional: Option<ConditionalRecord>,
    pub outcome: String,
    /// What is believed about the hyperparameters, where the way of learning says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyperposterior: Option<Hyperposterior>,
    /// The processes of a mixture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixture: Option<MixtureRecord>,
}

/// What a survey of a table says of the problem, and how it will be solved.
pub(crate) fn plan(spec: &ModelSpec, survey: &Survey) -> Result<Plan> {
    spec.check()?;
    let (kind, _) = decide(spec, &survey.sample)?;
    let (schema, data, _) = encode(spec, kind, &survey.sample)?;
    Plan::new(spec, &Shape::of(spec, &schema, &data, survey))
}

/// Fits a table that is held.
pub(crate) fn fit(
    spec: &ModelSpec,
    plan: &Plan,
    table: Cow<'_, Frame>,
    watch: &dyn Watch,
) -> Result<(Fitted, State, Answers)> {
    let (kind, remark) = decide(spec, &table)?;
    let (mut schema, data, mut notes) = encode(spec, kind, &table)?;
    notes.extend(remark);
    let labels = Labels::of(&spec.parts.clone().unwrap_or_default(), &table)?;
    // Who names a kernel speaks of the columns as they are.
    let may_differ = spec.kernel == KernelChoice::Auto;
    let further = match may_differ && inferred::is_open(spec, &schema, data.rows()) {
        true => inferred::further(&schema, &table)?,
        false => Vec::new(),
    };
    // The encoded rows are all that is needed from here on.
    drop(table);
    begin("fit", spec, &data, watch)?;
    let way = &plan.chosen.way;
    let (planned, chosen) = chosen::learn(
        &plan.apply(spec),
        way,
        &schema,
        &data,
        labels.as_ref(),
        watch,
    )?;
    let (mut found, state, answers) = match *way {
        Way::Exact if let TargetKind::Quantity(_) = kind => {
            let given = chosen.as_ref().and_then(chosen::Chosen::through);
            let (found, answers) = quantity::fit(&planned, &schema, &data, given, watch)?;
            (found, State::Rows(data), answers)
        }
        Way::Exact if let Some(how) = spec.inference.approximation() => {
            let many = schema.target().classes().is_some_and(|own| own.count() > 2);
            let (found, answers) = if many && how == Approximation::Laplace {
                coupled::fit(&planned, &schema, &data, watch)?
            } else {
                latent::fit(how, &planned, &schema, &data, watch)?
            };
            (found, State::Rows(data), answers)
        }
        Way::Local { .. } if through::likelihood_of(spec, &schema) => {
            let (found, rows, answers) = near::fit(&planned, &schema, &data, watch)?;
            (found, State::Rows(rows), answers)
        }
        Way::Exact if chosen.is_none() && inferred::is_open(spec, &schema, data.rows()) => {
            let plain = inferred::Encoded { schema, data };
            let (encoded, found, answers) = inferred::fit(&planned, plain, further, watch)?;
            schema = encoded.schema;
            (found, State::Rows(encoded.data), answers)
        }
        Way::Exact => {
            let (found, answers) = exact::fit(&planned, &schema, &data, watch)?;
            (found, State::Rows(data), answers)
        }
        Way::Mixture { experts, .. } => {
            let may_widen = plan.otherwise.is_some();
            let (found, state, answers) =
                mixture::fit(&planned, &schema, data, experts, may_widen, watch)?;
            (found, State::Mixture(state), answers)
        }
        Way::Local { .. } => {
            let (found, answers) = local::fit(&planned, &schema, &data, watch)?;
            (found, State::Rows(data), answers)
        }
        Way::Supported { .. } => {
            let (found, rows, state, answers) =
                supported::fit(&planned, &schema, data, labels.as_ref(), watch)?;
            (found, State::Supported(rows, state), answers)
        }
        Way::Joint { .. } => {
            let (found, rows, answers) =
                joint::fit(&planned, &schema, data, labels.as_ref(), watch)?;
            (found, State::Parts(rows), answers)
        }
        Way::Landmarks { .. } => {
            let (labels, rows) = (labels.as_ref(), landmarks::Rows::Absorb);
            let (found, mut state, answers, _) =
                landmarks::fit(&planned, &schema, &data, labels, rows, watch)?;
            if let Some(chosen) = &chosen {
                let columns = schema.columns();
                state.drawn = chosen.sums(&state, columns, &data, labels, watch)?;
            }
            (found, State::Committee(state), answers)
        }
    };
    if let Some(chosen) = chosen {
        chosen.describe(&mut found, &mut notes);
    }
    Ok((finish(spec, schema, found, notes, &answers), state, answers))
}

/// Fits a table that is longer than its sample, as it comes: scaling, hyperparameters and landmarks are the sample's.
pub(crate) fn stream(
    spec: &ModelSpec,
    plan: &Plan,
    survey: &Survey,
    table: &mut dyn Batches,
    watch: &dyn Watch,
) -> Result<(Fitted, State, Answers)> {
    refuse_draws(spec)?;
    let (kind, remark) = decide(spec, &survey.sample)?;
    let (schema, data, mut notes) = encode(spec, kind, &survey.sample)?;
    notes.extend(remark);
    begin("fit of a stream", spec, &data, watch)?;
    let rows = landmarks::Rows::Stream {
        table,
        positions: &survey.positions,
    };
    let way = &plan.chosen.way;
    let (planned, chosen) = chosen::learn(&plan.apply(spec), way, &schema, &data, None, watch)?;
    let (mut found, state, answers, seen) =
        landmarks::fit(&planned, &schema, &data, None, rows, watch)?;
    if let Some(chosen) = chosen {
        chosen.describe(&mut found, &mut notes);
    }
    notes.push(format!(
        "scaling, hyperparameters and landmarks come from {} {} rows; all {} were absorbed as they came",
        survey.positions.len(),
        if survey.goes_on { "first" } else { "random" },
        state.rows().0
    ));
    notes.extend(seen);
    let fitted = finish(spec, schema, found, notes, &answers);
    Ok((fitted, State::Committee(state), answers))
}

/// Learns everything but the summary from a sample: a landmarks model with no row.
pub(crate) fn prepare(
    spec: &ModelSpec,
    table: &Frame,
    watch: &dyn Watch,
) -> Result<(Fitted, State, Answers)> {
    let landmarks = matches!(spec.mode, ModeChoice::Auto | ModeChoice::Landmarks);
    if spec.method == MethodChoice::Exact || spec.mixture().is_some() || !landmarks {
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
    refuse_draws(spec)?;
    let (kind, remark) = decide(spec, table)?;
    let (schema, data, mut notes) = encode(spec, kind, table)?;
    notes.extend(remark);
    let labels = Labels::of(&spec.parts.clone().unwrap_or_default(), table)?;
    let (labels, rows) = (labels.as_ref(), landmarks::Rows::Leave);
    let way = Way::Landmarks {
        landmarks: 0,
        part_size: 0,
    };
    let (planned, chosen) = chosen::learn(spec, &way, &schema, &data, labels, watch)?;
    let (mut found, state, answers, _) =
        landmarks::fit(&planned, &schema, &data, labels, rows, watch)?;
    if let Some(chosen) = chosen {
        chosen.describe(&mut found, &mut notes);
    }
    let fitted = finish(spec, schema, found, notes, &answers);
    Ok((fitted, State::Committee(state), answers))
}

/// A sum for each draw needs the rows at hand.
fn refuse_draws(spec: &ModelSpec) -> Result<()> {
    if matches!(spec.learn, LearnChoice::Nuts | LearnChoice::Hmc) {
        return Err(Error::Spec(format!(
            "`--learn {}` keeps a sum for each draw and needs all rows at once: fit a table of at most {CHUNK_ROWS} rows",
            spec.learn
        )));
    }
    Ok(())
}

/// Binds a journal, where there is one, to the specification, the rows and this version.
fn begin(deed: &str, spec: &ModelSpec, data: &Dataset, watch: &dyn Watch) -> Result<()> {
    let Some(journal) = watch.journal() else {
        return Ok(());
    };
    let spec = serde_json::to_string(spec).map_err(|error| Error::Spec(error.to_string()))?;
    let print = fingerprint(data);
    let version = env!("CARGO_PKG_VERSION");
    Ok(journal.begin(&format!("{deed} by {version}: {spec} {print}"))?)
}

fn encode(
    spec: &ModelSpec,
    kind: TargetKind,
    table: &Frame,
) -> Result<(Schema, Dataset, Vec<String>)> {
    let (mut schema, mut notes) = Schema::learn_as(kind, table, &spec.roles())?;
    // Who names a kernel speaks of the columns as they are: lines and periods must stay lines and periods. So must the lines of
    // a mixture's experts and gates.
    if spec.kernel == KernelChoice::Auto && spec.mixture().is_none() {
        notes.extend(schema.squeeze_outliers(table)?);
    }
    if let (TaskChoice::Binary, Some(classes)) = (spec.task, schema.target().classes())
        && classes.count() != 2
    {
        return Err(Error::Spec(format!(
            "`--task binary` needs two labels, and `{}` has {}: use `--task multiclass`",
            spec.target,
            classes.count()
        )));
    }
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
