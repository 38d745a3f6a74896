//! A mixture of Gaussian processes for the whole table: experts around the kernel that one process would have.

use quorate_gp::data::{Dataset, InputColumn, Schema, TargetCode, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::Jitter;
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use super::trials::{Maker, Trial};
use super::{Found, exact, heard};
use crate::answers::{Answers, Method, MixtureShape};
use crate::error::{Error, Result};
use crate::mixture::{
    MixtureAnswers, MixtureOfProcesses, MixtureRows, MixtureState, ParametricMixture, Prior,
    density,
};
use crate::score::{ScoreSum, Yardstick};
use crate::spec::{LearnChoice, ModelSpec};
use crate::task::Scorecard;

/// Rows a mixture is fitted to at most: each round factors several matrices of all rows for each expert.
pub const MOST_ROWS: usize = 2000;
/// Rows of a longer table on which kernels, gates and noises are chosen before all rows speak through landmarks.
pub const SAMPLE: usize = 1000;
/// Targets without noise have this variance of it, as a share of their own: precisions of rows stay finite.
const LEAST_NOISE: f64 = 1e-8;

/// A mixture as its file tells it, but for the sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureRecord {
    /// The kernel of each expert.
    pub experts: Vec<Kernel>,
    /// The share of the rows each is responsible for.
    pub shares: Vec<f64>,
    /// The kernel of the gates.
    pub gate: Kernel,
    /// The kernel of the logarithms of the noise deviations.
    pub noise: Kernel,
    /// What those are around, in standardised units.
    pub level: f64,
    /// Objective at the start of each round: a lower bound of the log evidence.
    pub objective: Vec<f64>,
    /// Log density of the rows, each left out, at the start of each round.
    pub left_out: Vec<f64>,
    /// The round that was kept.
    pub kept: usize,
    /// Experts with weights, where they are no processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parametric: Option<ParametricMixture>,
    /// Rows of a long table that its processes have heard through landmarks; none where the rows are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<usize>,
}

impl MixtureRecord {
    /// The prior processes, bound to the columns of a table.
    pub fn prior(&self, columns: &[InputColumn]) -> Result<Prior> {
        let experts = self.experts.iter().map(|kernel| kernel.bind(columns));
        Ok(Prior {
            experts: experts.collect::<quorate_gp::Result<_>>()?,
            gate: self.gate.bind(columns)?,
            noise: self.noise.bind(columns)?,
            level: self.level,
        })
    }
}

/// Fits a mixture; with `may_widen` to a larger sample of a long table where landmarks are no help.
pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: Dataset,
    experts: usize,
    may_widen: bool,
    watch: &dyn Watch,
) -> Result<(Found, MixtureState, Answers)> {
    if !matches!(schema.target(), TargetCode::Number(_)) {
        return Err(Error::Spec(
            "a mixture predicts one number: leave `--method mixture` and `--likelihood heteroscedastic` out for classes and several targets"
                .into(),
        ));
    }
    let all = data.rows();
    let parametric = spec.parametric(experts)?;
    let long = all > MOST_ROWS || (spec.landmark_count().is_some() && parametric.is_none());
    let most = if parametric.is_some() {
        MOST_ROWS
    } else {
        SAMPLE
    };
    let (data, long) = if long {
        (data.select(&random_rows(all, most, spec.seed)), Some(data))
    } else {
        (data, None)
    };
    if experts > data.members().len() {
        return Err(Error::Spec(format!(
            "{experts} experts for {} rows: a mixture needs at least one row for each expert",
            data.members().len()
        )));
    }
    if let Some(asked) = parametric {
        return super::experts::fit(asked, schema, data, watch);
    }
    let learned = exact::find_hyperparameters(spec, schema, &data, watch)?;
    let base = learned.kernel.bind(schema.columns())?;
    let maker = Maker {
        columns: schema.columns(),
        rows: MixtureRows::of(&data)?,
        level: 0.5 * learned.noise.variance.max(LEAST_NOISE).ln(),
        keeps: spec.learn == LearnChoice::None,
        watch,
    };
    let mut best = maker.one_expert(base)?;
    if experts == 1 && !maker.keeps {
        best = maker.relearned(best, &data, spec)?;
    }
    if experts > 1 {
        best = maker.several(&best, experts)?;
    }
    let heard = match &long {
        Some(long) => heard::hear(spec, schema, &maker, &best, long)?,
        None => None,
    };
    let (data, best, heard) = match (&long, heard) {
        (_, Some(all)) => (data, all.trial, Some((all.heard, all.rows))),
        (Some(long), None) if may_widen => {
            let (data, best) = heard::widened(spec, &maker, best, data, long)?;
            (data, best, None)
        }
        (_, None) => (data, best, None),
    };
    let Trial {
        prior,
        mixture,
        record,
        ..
    } = best;
    let (scores, noise) = scored(schema, &mixture)?;
    let shares = mixture.responsibilities();
    let share = |own: &Vec<f64>| {
        let weights = mixture.rows().weights();
        let sum: f64 = own.iter().zip(weights).map(|(p, w)| p * w).sum();
        sum / weights.iter().sum::<f64>()
    };
    let record = MixtureRecord {
        experts: prior.experts.iter().map(BoundKernel::kernel).collect(),
        shares: shares.iter().map(share).collect(),
        gate: prior.gate.kernel(),
        noise: prior.noise.kernel(),
        level: prior.level,
        objective: record.objective,
        left_out: record.left_out,
        kept: record.kept,
        parametric: None,
        heard: heard.as_ref().map(|(_, rows)| *rows),
    };
    let landmarks = (heard.as_ref()).map(|(own, _)| own.landmarks.len() / schema.columns().len());
    let shape = MixtureShape { experts, landmarks };
    let outcome = outcome(&learned.outcome, &record, shape, all, &mixture);
    let found = Found {
        method: Method::Mixture(shape),
        kernel: record.experts[experts / 2].clone(),
        noise: GaussianNoise { variance: noise },
        jitter: Jitter::default(),
        log_evidence: None,
        effective_parameters: Some(mixture.effective_parameters()),
        leave_one_out: scores,
        link: None,
        spread: None,
        through: None,
        candidates: learned.candidates,
        history: learned.history,
        conditional: None,
        outcome,
        hyperposterior: None,
        mixture: Some(record),
    };
    let state = MixtureState {
        data,
        sites: match &heard {
            Some(_) => Vec::new(),
            None => mixture.sites(),
        },
        heard: heard.map(|(heard, _)| heard),
    };
    let answers = MixtureAnswers::new(found.mixture.as_ref(), schema.columns(), &state)?;
    Ok((found, state, Answers::Mixture(Box::new(answers))))
}

fn outcome(
    learned: &str,
    record: &MixtureRecord,
    shape: MixtureShape,
    all: usize,
    mixture: &MixtureOfProcesses,
) -> String {
    let rounds = record.objective.len();
    let what = match record.experts.len() {
        1 => "The noise as a process".to_owned(),
        several => format!("A mixture of {several} processes"),
    };
    let rows = mixture.rows().count();
    let (before, some) = match shape.landmarks {
        Some(landmarks) => (
            "Kernels, gates and noises were chosen on a sample of the rows. ",
            format!(" to all {rows} rows through {landmarks} landmarks"),
        ),
        None if all > rows => (
            "All rows through landmarks predicted rows left out no better than a sample. ",
            format!(" to {rows} of {all} rows, drawn at random,"),
        ),
        None => ("", String::new()),
    };
    format!(
        "{learned} {before}{what} was fitted{some} in {rounds} rounds, of which round {} was kept.",
        record.kept + 1
    )
}

/// Scores of rows left out one at a time, and the mean noise variance.
fn scored(schema: &Schema, mixture: &MixtureOfProcesses) -> Result<(Scorecard, f64)> {
    let yardstick = Yardstick::from(schema);
    let Yardstick { mean, deviation } = yardstick;
    let rows = mixture.rows();
    let told = density(&mixture.left_out(), mean, deviation);
    let prediction = told.clone().prediction(rows.count());
    let mut sum = ScoreSum::new(yardstick);
    let variances = prediction.variance(false);
    for (row, target) in rows.targets().iter().enumerate() {
        let (target, weight) = (mean + deviation * target, rows.weights()[row]);
        sum.add(target, prediction.mean[row], variances[row], weight);
        sum.correct(target, &told, row, weight);
    }
    let weighted = prediction.noise_variance.iter().zip(rows.weights());
    let noise: f64 = weighted.map(|(noise, weight)| noise * weight).sum();
    let noise = noise / rows.weights().iter().sum::<f64>() / (deviation * deviation);
    Ok((Scorecard::Number(sum.scores()?), noise))
}
