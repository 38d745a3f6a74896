//! What a model says of itself.

use quorate_gp::data::{ColumnKind, QuantityCode};
use quorate_gp::kernel::Covariance;
use quorate_gp::learn::SearchRecord;
use quorate_gp::linalg::Jitter;
use quorate_gp::parameters::Parameter;
use serde::Serialize;

use crate::answers::Method;
use crate::error::Result;
use crate::fit::MixtureRecord;
use crate::fit::auto::Candidate;
use crate::hyper::Hyperposterior;
use crate::landmarks::State;
use crate::local::ConditionalRecord;
use crate::mixture::MixtureState;
use crate::model::Model;
use crate::partition::PartedRows;
use crate::space::ScaledSpace;
use crate::spec::ModelSpec;
use crate::spread::Spread;
use crate::task::{Link, Scorecard, Through};

/// Everything worth knowing about a fitted model.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// Version of the model file's format.
    pub format_version: u64,
    /// Version of this program.
    pub quorate_version: &'static str,
    /// The choices it was fitted under.
    pub spec: ModelSpec,
    /// Training rows.
    pub rows: usize,
    /// Training rows with different inputs.
    pub distinct_rows: usize,
    /// Input columns as encoded.
    pub inputs: Vec<InputReport>,
    /// The target; the first where there are several.
    pub target: TargetReport,
    /// The targets behind the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_targets: Vec<TargetReport>,
    /// The classes of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassesReport>,
    /// The likelihood of a count, an amount or a lifetime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<QuantityReport>,
    /// Kernel with the values found.
    pub kernel: String,
    /// Kernel's hyperparameters.
    pub parameters: Vec<Parameter>,
    /// Noise variance in the target's own units.
    pub noise_variance: f64,
    /// Its square root.
    pub noise_deviation: f64,
    /// How wide answers are where one noise does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// How it answers.
    pub method: Method,
    /// Log evidence of the standardised rows; none for local models.
    pub log_evidence: Option<f64>,
    /// How many parameters the rows pin down; none for local models.
    pub effective_parameters: Option<f64>,
    /// The committee behind a landmarks model.
    pub committee: Option<CommitteeReport>,
    /// What was added to the diagonal to factor the covariance.
    pub jitter: Jitter,
    /// Scores of rows predicted from all others, one at a time; none where rows were held out instead.
    pub leave_one_out: Option<Scorecard>,
    /// Scores of rows that were held out together; none where they were left out one at a time.
    pub held_out: Option<Scorecard>,
    /// Kernels that were compared.
    pub candidates: Vec<Candidate>,
    /// Ascents of the search.
    pub history: Vec<SearchRecord>,
    /// How the grouped conditional likelihood was climbed; local models only.
    pub conditional: Option<ConditionalRecord>,
    /// How learning ended.
    pub outcome: String,
    /// What is believed about the hyperparameters, where the way of learning says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyperposterior: Option<Hyperposterior>,
    /// The processes of a mixture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixture: Option<MixtureRecord>,
    /// Sentences for people.
    pub notes: Vec<String>,
}

/// A committee that speaks through landmarks.
#[derive(Clone, Debug, Serialize)]
pub struct CommitteeReport {
    /// Number of landmarks.
    pub landmarks: usize,
    /// Effective parameters for each landmark: near 1, more landmarks would tell more.
    pub saturation: f64,
    /// The parts absorbed.
    pub parts: Vec<PartReport>,
}

/// A part of a committee.
#[derive(Clone, Debug, Serialize)]
pub struct PartReport {
    /// Its name.
    pub name: String,
    /// Rows of its table.
    pub rows: usize,
    /// SHA-256 of the encoded rows.
    pub fingerprint: String,
    /// True when its own summary is in the file, so that it can be forgotten without its rows.
    pub kept: bool,
}

/// One encoded input column.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// Name shown to people.
    pub name: String,
    /// `number`, `missing` (indicator) or `category`.
    pub kind: &'static str,
    /// Mean of the training rows; numbers only.
    pub mean: Option<f64>,
    /// Standard deviation of the training rows; numbers only.
    pub deviation: Option<f64>,
    /// Number of levels; categories only.
    pub levels: Option<usize>,
    /// Missing cells in the training rows.
    pub missing: usize,
    /// How much the function is expected to change over one standard deviation of it (or a change of level), in standard
    /// deviations of the target; 0 when the kernel does not read it.
    pub relevance: f64,
    /// Shortest length scale with which the kernel reads it, in the column's own units.
    pub length_scale: Option<f64>,
}

/// Classes and what makes probabilities of them.
#[derive(Clone, Debug, Serialize)]
pub struct ClassesReport {
    /// Label of each class with its share of the training rows.
    pub shares: Vec<(String, f64)>,
    /// How answers become probabilities.
    pub link: Option<Link>,
    /// The likelihood behind the latent function, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
}

/// A count, an amount or a lifetime, and what makes it of the latent function.
#[derive(Clone, Debug, Serialize)]
pub struct QuantityReport {
    /// What kind of number, and its units.
    #[serde(flatten)]
    pub code: QuantityCode,
    /// The likelihood, and the level of the latent function.
    #[serde(flatten)]
    pub through: Through,
    /// Its dispersion parameters, in units of the target's unit.
    pub dispersions: Vec<Parameter>,
}

/// A target column.
#[derive(Clone, Debug, Serialize)]
pub struct TargetReport {
    /// Its name.
    pub name: String,
    /// Mean of the training rows.
    pub mean: f64,
    /// Standard deviation of the training rows.
    pub deviation: f64,
}

/// Above this share the landmarks hold back what the rows know.
const SATURATED: f64 = 0.8;

impl CommitteeReport {
    /// A sentence for people when there are too few landmarks for what the rows know.
    pub fn warning(&self) -> Option<String> {
        (self.saturation > SATURATED).then(|| {
            format!(
                "the rows pin down {:.0} % of what {} landmarks can say: more landmarks would say more",
                100.0 * self.saturation,
                self.landmarks
            )
        })
    }
}

impl Model {
    /// What the model says of itself; needs no factorisation.
    pub fn inspect(&self) -> Result<Inspection> {
        let schema = self.schema();
        let bound = self.kernel().bind(schema.columns())?;
        let inverse_lengths = bound.relevance();
        let relevance = ScaledSpace::of_kernel(&bound).changes(schema.columns().len());
        let missing = schema.missing_cells();
        let inputs = schema
            .columns()
            .iter()
            .zip(&relevance)
            .zip(&inverse_lengths)
            .map(|((column, relevance), (_, inverse_length))| InputReport {
                name: column.label(),
                kind: match column.kind {
                    ColumnKind::Number => "number",
                    ColumnKind::Missing => "missing",
                    ColumnKind::Category { .. } => "category",
                },
                mean: schema
                    .scale(&column.name)
                    .filter(|_| column.kind == ColumnKind::Number)
                    .map(|scale| scale.centre()),
                deviation: (column.kind == ColumnKind::Number).then_some(column.deviation),
                levels: match column.kind {
                    ColumnKind::Category { levels } => Some(levels),
                    _ => None,
                },
                missing: missing
                    .iter()
                    .find(|(name, _)| *name == column.name && column.kind == ColumnKind::Number)
                    .map_or(0, |(_, cells)| *cells),
                relevance: *relevance,
                length_scale: (*inverse_length > 0.0 && column.kind == ColumnKind::Number)
                    .then(|| column.deviation / inverse_length),
            })
            .collect();
        let noise_variance = self.fitted.found.noise.variance
            * schema.target_deviation()
            * schema.target_deviation();
        let (rows, distinct_rows) = match &self.state {
            State::Rows(data)
            | State::Parts(PartedRows { data, .. })
            | State::Supported(PartedRows { data, .. }, _) => (data.members().len(), data.rows()),
            State::Mixture(MixtureState { data, .. }) => {
                let record = self.fitted.found.mixture.as_ref();
                match record.and_then(|record| record.heard) {
                    Some(rows) => (rows, rows),
                    None => (data.members().len(), data.rows()),
                }
            }
            State::Committee(committee) => committee.rows(),
        };
        let scores = self.fitted.found.leave_one_out.clone();
        let (leave_one_out, held_out) = match self.fitted.found.method {
            Method::Landmarks(_) | Method::Joint(_) | Method::Supported(_) => (None, Some(scores)),
            _ => (Some(scores), None),
        };
        let committee = self.committee_report();
        let quantity = schema.target().quantity();
        let described = quantity.map_or(schema.target_scale(), |code| code.described);
        let mut notes = self.fitted.notes.clone();
        notes.extend(committee.as_ref().and_then(CommitteeReport::warning));
        Ok(Inspection {
            format_version: crate::file::version_of(&self.fitted),
            quorate_version: env!("CARGO_PKG_VERSION"),
            spec: self.spec().clone(),
            rows,
            distinct_rows,
            inputs,
            target: TargetReport {
                name: self.spec().target.clone(),
                mean: described.mean,
                deviation: described.deviation,
            },
            further_targets: schema
                .roles()
                .targets()
                .zip(schema.target_scales())
                .skip(1)
                .map(|(name, scale)| TargetReport {
                    name: name.to_owned(),
                    mean: scale.mean,
                    deviation: scale.deviation,
                })
                .collect(),
            classes: schema.target().classes().map(|classes| ClassesReport {
                shares: classes
                    .labels()
                    .iter()
                    .cloned()
                    .zip(classes.shares().iter().copied())
                    .collect(),
                link: self.fitted.found.link,
                through: self.fitted.found.through,
            }),
            quantity: quantity
                .zip(self.fitted.found.through)
                .map(|(code, through)| QuantityReport {
                    code: *code,
                    through,
                    dispersions: through.likelihood.parameters(),
                }),
            kernel: self.kernel().to_string(),
            parameters: bound.parameters(),
            noise_variance,
            noise_deviation: noise_variance.sqrt(),
            spread: self.fitted.found.spread.clone(),
            method: self.fitted.found.method,
            conditional: self.fitted.found.conditional.clone(),
            log_evidence: self.fitted.found.log_evidence,
            effective_parameters: self.fitted.found.effective_parameters,
            jitter: self.fitted.found.jitter,
            committee,
            leave_one_out,
            held_out,
            candidates: self.fitted.found.candidates.clone(),
            history: self.fitted.found.history.clone(),
            outcome: self.fitted.found.outcome.clone(),
            hyperposterior: self.fitted.found.hyperposterior.clone(),
            mixture: self.fitted.found.mixture.clone(),
            notes,
        })
    }

    fn committee_report(&self) -> Option<CommitteeReport> {
        let committee = self.committee()?;
        let landmarks = committee.total.landmarks();
        let effective = self.fitted.found.effective_parameters.unwrap_or(0.0);
        let parts = committee.parts.iter().map(|part| PartReport {
            name: part.record.name.clone(),
            rows: part.record.rows,
            fingerprint: part.record.fingerprint.clone(),
            kept: part.kept.is_some(),
        });
        Some(CommitteeReport {
            landmarks,
            saturation: effective / landmarks as f64,
            parts: parts.collect(),
        })
    }
}
