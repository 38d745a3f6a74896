//! A fitted mixture behind the face of a model.

use quorate_gp::data::{Dataset, InputColumn, Inputs};
use quorate_gp::gaussian::Marginals;
use quorate_gp::kernel::BoundKernel;

use super::parametric::ParametricMixture;
use super::predict::{Voice, density, moments, sample_voices};
use super::processes::{MixtureOfProcesses, MixtureRows};
use super::sites::Sites;
use super::speakers::{Heard, Speakers};
use crate::error::{Error, Result};
use crate::fit::MixtureRecord;
use crate::landmarks::LandmarkBelief;
use crate::prediction::Prediction;
use crate::score::Yardstick;

/// What a mixture keeps: its rows, and what they say to each process.
#[derive(Clone, Debug)]
pub struct MixtureState {
    /// The rows; of a long table a sample, for pictures.
    pub data: Dataset,
    /// The sites of the experts, of the gates where there are several experts, and of the noises.
    pub sites: Vec<Sites>,
    /// What all rows of a long table said to the landmarks, instead of sites.
    pub heard: Option<Heard>,
}

impl MixtureRows {
    /// The rows of a data set, those with equal inputs apart.
    pub fn of(data: &Dataset) -> Result<Self> {
        let members = data.members();
        if data.known_noise().iter().any(|noise| *noise > 0.0) {
            return Err(Error::Spec(
                "a mixture learns the noise of every row: leave `--noise` out".into(),
            ));
        }
        let inputs = data.inputs();
        let values = members
            .iter()
            .flat_map(|member| inputs.row(member.group).iter().copied());
        MixtureRows::new(
            values.collect(),
            inputs.width(),
            members.iter().map(|member| member.target).collect(),
            Some(members.iter().map(|member| member.weight).collect()),
        )
    }
}

/// A mixture ready to answer.
#[derive(Clone, Debug)]
pub enum MixtureAnswers {
    /// Of Gaussian processes.
    Processes(Box<MixtureOfProcesses>),
    /// Of Gaussian processes that have heard a long table through landmarks.
    Landmarks {
        /// What they believe.
        speakers: Box<Speakers<LandmarkBelief>>,
        /// A sample of the rows.
        rows: MixtureRows,
    },
    /// Of experts with weights.
    Parametric {
        /// The experts.
        mixture: ParametricMixture,
        /// The rows they were trained on.
        rows: MixtureRows,
        /// What stands for a kernel where one is asked for.
        kernel: Box<BoundKernel>,
    },
}

impl MixtureAnswers {
    /// Makes the rows of a mixture ready.
    pub(crate) fn new(
        record: Option<&MixtureRecord>,
        columns: &[InputColumn],
        state: &MixtureState,
    ) -> Result<Self> {
        let record = record
            .ok_or_else(|| Error::Spec("the model has the rows of a mixture and none".into()))?;
        let rows = MixtureRows::of(&state.data)?;
        if let Some(mixture) = &record.parametric {
            return Ok(MixtureAnswers::Parametric {
                mixture: mixture.clone(),
                rows,
                kernel: Box::new(record.gate.bind(columns)?),
            });
        }
        let prior = record.prior(columns)?;
        if let Some(heard) = &state.heard {
            let speakers = Speakers::after(&prior, heard, columns.len())?;
            return Ok(MixtureAnswers::Landmarks {
                speakers: Box::new(speakers),
                rows,
            });
        }
        let mixture = MixtureOfProcesses::condition(prior, rows, state.sites.clone())?;
        Ok(MixtureAnswers::Processes(Box::new(mixture)))
    }

    /// The rows.
    pub fn rows(&self) -> &MixtureRows {
        match self {
            MixtureAnswers::Processes(mixture) => mixture.rows(),
            MixtureAnswers::Landmarks { rows, .. } | MixtureAnswers::Parametric { rows, .. } => {
                rows
            }
        }
    }

    /// The kernel of the expert in the middle.
    pub fn kernel(&self) -> &BoundKernel {
        match self {
            MixtureAnswers::Processes(mixture) => {
                let experts = &mixture.prior().experts;
                &experts[experts.len() / 2]
            }
            MixtureAnswers::Landmarks { speakers, .. } => speakers.kernel(),
            MixtureAnswers::Parametric { kernel, .. } => kernel,
        }
    }

    /// What each expert says at query points.
    pub fn voices(&self, query: Inputs<'_>) -> Result<Vec<Voice>> {
        match self {
            MixtureAnswers::Processes(mixture) => mixture.voices(query),
            MixtureAnswers::Landmarks { speakers, .. } => speakers.voices(query),
            MixtureAnswers::Parametric { mixture, .. } => mixture.voices(query),
        }
    }

    /// The density at query points, in the target's own units.
    pub(crate) fn predict(&self, query: Inputs<'_>, yardstick: Yardstick) -> Result<Prediction> {
        let Yardstick { mean, deviation } = yardstick;
        let voices = self.voices(query)?;
        Ok(density(&voices, mean, deviation).prediction(query.rows()))
    }

    /// Mean and variance of the function that the experts make together at query points.
    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        moments(&self.voices(query)?, query.rows())
    }

    /// Draws functions (or, with `noisy`, observations) at query points, one inner vector for each draw.
    pub fn sample(
        &self,
        query: Inputs<'_>,
        count: usize,
        seed: u64,
        noisy: bool,
    ) -> Result<Vec<Vec<f64>>> {
        match self {
            MixtureAnswers::Processes(mixture) => mixture.sample(query, count, seed, noisy),
            MixtureAnswers::Landmarks { speakers, .. } => {
                speakers.sample(query, count, seed, noisy)
            }
            MixtureAnswers::Parametric { mixture, .. } => {
                let voices = mixture.voices(query)?;
                Ok(sample_voices(&voices, query.rows(), count, seed, noisy))
            }
        }
    }
}
