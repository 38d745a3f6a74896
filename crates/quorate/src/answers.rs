//! The ways a fitted model answers, behind one face.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{JitterPolicy, Matrix};
use quorate_gp::posterior::{ExactPosterior, MulticlassPosterior, Predict};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::joint::{JointAnswers, JointShape};
use crate::landmarks::{LandmarkBelief, State};
use crate::latent::{Approximation, LatentAnswers};
use crate::local::{LocalAnswers, Neighbourhood, SupportedAnswers, SupportedShape};
use crate::mixture::MixtureAnswers;

/// How a model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One exact process over all rows.
    Exact,
    /// One process over all rows, through a likelihood.
    Latent(Approximation),
    /// One process for each class over all rows, joined by the softmax.
    Coupled,
    /// An expert formed from the nearest rows for each small group of questions.
    Local(Neighbourhood),
    /// The same, with landmarks that carry all other rows.
    Supported(SupportedShape),
    /// From what all parts said to the landmarks.
    Landmarks(LandmarkShape),
    /// From all parts, asked about blocks of questions.
    Joint(JointShape),
    /// From experts with gates and noises of their own.
    Mixture(MixtureShape),
}

/// The size of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixtureShape {
    /// Number of experts.
    pub experts: usize,
    /// Landmarks through which its processes heard a long table; none where the rows are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landmarks: Option<usize>,
}

/// The size of a committee that speaks through landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandmarkShape {
    /// Number of landmarks.
    pub landmarks: usize,
    /// Rows of one expert, at most.
    pub part_size: usize,
}

/// A model's rows, ready to answer.
#[derive(Clone, Debug)]
pub enum Answers {
    /// From all rows at once.
    Exact(ExactPosterior),
    /// From all rows at once, about the latent function behind the targets.
    Latent(Box<LatentAnswers>),
    /// From all rows at once, about one latent function for each class.
    Coupled(Box<MulticlassPosterior>),
    /// From the nearest rows.
    Local(LocalAnswers),
    /// From the nearest rows and the landmarks.
    Supported(Box<SupportedAnswers>),
    /// From the landmarks.
    Landmarks(LandmarkBelief),
    /// From all parts, block by block.
    Joint(JointAnswers),
    /// From experts with gates.
    Mixture(Box<MixtureAnswers>),
}

impl Answers {
    /// Makes the rows ready.
    pub fn new(
        method: Method,
        kernel: BoundKernel,
        noise: GaussianNoise,
        state: &State,
    ) -> Result<Self> {
        Ok(match (method, state) {
            (Method::Exact, State::Rows(data)) => {
                let policy = JitterPolicy::default();
                let data = data.clone();
                Answers::Exact(ExactPosterior::condition(kernel, noise, data, policy)?)
            }
            (Method::Local(shape), State::Rows(data)) => {
                Answers::Local(LocalAnswers::new(kernel, noise, data.clone(), shape))
            }
            (Method::Landmarks(_), State::Committee(state)) => {
                Answers::Landmarks(state.belief(kernel)?)
            }
            (Method::Supported(shape), State::Supported(rows, state)) => {
                let belief = state.belief(kernel.clone())?;
                let local =
                    LocalAnswers::new(kernel, noise, rows.data.clone(), shape.neighbourhood);
                Answers::Supported(Box::new(SupportedAnswers::new(
                    local,
                    belief,
                    &state.total,
                    rows,
                    shape,
                )))
            }
            (Method::Joint(shape), State::Parts(rows)) => {
                Answers::Joint(JointAnswers::new(kernel, noise, rows, shape)?)
            }
            _ => {
                return Err(Error::Spec(
                    "the model's method and what it holds do not belong together".into(),
                ));
            }
        })
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        match self {
            Answers::Exact(posterior) => posterior.kernel(),
            Answers::Latent(latent) => latent.kernel(),
            Answers::Coupled(posterior) => &posterior.kernels()[0],
            Answers::Local(local) => local.kernel(),
            Answers::Landmarks(belief) => belief.landmarks().kernel(),
            Answers::Supported(supported) => supported.kernel(),
            Answers::Joint(joint) => joint.kernel(),
            Answers::Mixture(mixture) => mixture.kernel(),
        }
    }

    /// Mean and variance at each query point.
    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        Ok(match self {
            Answers::Exact(posterior) => posterior.marginals(query)?,
            Answers::Latent(latent) => latent.marginals(query)?,
            Answers::Coupled(posterior) => {
                let told = posterior.latents(query)?;
                let (rows, outputs) = (told.len(), posterior.classes().count());
                Marginals {
                    mean: Matrix::from_fn(rows, outputs, |row, class| told[row].mean[class]),
                    variance: Matrix::from_fn(rows, outputs, |row, class| {
                        told[row].covariance[(class, class)]
                    }),
                }
            }
            Answers::Local(local) => local.marginals(query)?,
            Answers::Landmarks(belief) => belief.marginals(query)?,
            Answers::Supported(supported) => supported.marginals(query)?,
            Answers::Joint(joint) => joint.marginals(query)?,
            Answers::Mixture(mixture) => mixture.marginals(query)?,
        })
    }

    /// Mean and covariance of all query points together, where the method defines them.
    pub fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        match self {
            Answers::Exact(posterior) => Ok(posterior.joint(query)?),
            Answers::Latent(latent) => latent.joint(query),
            Answers::Landmarks(belief) => Ok(belief.joint(query)?),
            Answers::Joint(joint) => joint.joint(query),
            Answers::Coupled(_) => Err(Error::Spec(
                "several classes have no one latent function to draw".into(),
            )),
            Answers::Mixture(_) => Err(Error::Spec(
                "a mixture has no one covariance: draw functions instead".into(),
            )),
            Answers::Local(_) | Answers::Supported(_) => Err(Error::Spec(
                "answers from different neighbourhoods have no joint covariance: fit with `--method exact`, `--mode landmarks` or `--mode joint` to draw functions"
                    .into(),
            )),
        }
    }
}
