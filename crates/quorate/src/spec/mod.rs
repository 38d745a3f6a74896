//! Every choice a person can make, with its default. The same JSON text builds the same model from every shell.

mod choices;
mod mixture;

pub use choices::{
    KernelChoice, LandmarkChoice, LearnChoice, MethodChoice, ModeChoice, SpreadChoice,
};

use quorate_gp::data::Roles;
use quorate_gp::learn::Hyperprior;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::landmarks::GivenLandmarks;
use crate::mixture::{ExpertKind, GateKind, Training};
use crate::partition::PartChoice;
use crate::plan::{Memory, Span};
use crate::task::{InferenceChoice, LikelihoodChoice, TaskChoice, check_inference};

/// What to fit and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSpec {
    /// Column to predict.
    pub target: String,
    /// Further columns of numbers to predict from the same inputs, under the same kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_targets: Vec<String>,
    /// Numbers, classes, counts or lifetimes.
    pub task: TaskChoice,
    /// How classes are inferred.
    pub inference: InferenceChoice,
    /// How a target comes from the latent function, where it does.
    pub likelihood: LikelihoodChoice,
    /// Input columns; all others when absent.
    pub inputs: Option<Vec<String>>,
    /// Columns that are not inputs.
    pub ignore: Vec<String>,
    /// Column of row weights: weight k means k copies of the row.
    pub weight: Option<String>,
    /// Column of known noise variances, in squared units of the target.
    pub noise: Option<String>,
    /// Column of exposures: how much of a row was watched; multiplies the mean of a count or an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    /// Column that is 1 where the end of a lifetime was observed, 0 where it is right-censored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The same the other way round: 1 where it is right-censored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// Variance of the noise in squared units of the target, kept as it is; learned when absent. Exact models only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_variance: Option<f64>,
    /// Kernel text, or a search over a few.
    pub kernel: KernelChoice,
    /// One exact process, or a committee.
    pub method: MethodChoice,
    /// How a committee answers.
    pub mode: ModeChoice,
    /// Number of experts of a mixture; by default when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experts: Option<usize>,
    /// What the experts of a mixture are; processes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert: Option<ExpertKind>,
    /// What decides which of them speaks; processes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateKind>,
    /// What they are trained for; the likelihood, for which they compete, when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
    /// Nearest rows a local expert takes for each question; by default when absent.
    pub neighbours: Option<usize>,
    /// Number of landmarks; by the number of rows when absent.
    pub landmarks: Option<usize>,
    /// How landmarks are found; by k-means when absent.
    pub landmark_choice: Option<LandmarkChoice>,
    /// The landmarks themselves, where a person gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landmark_rows: Option<GivenLandmarks>,
    /// By what rows are put into parts; by balanced cells when absent.
    pub parts: Option<PartChoice>,
    /// Rows of one expert in a committee of fixed parts; by default when absent.
    pub part_size: Option<usize>,
    /// Questions asked together in `joint` mode; by default when absent.
    pub questions: Option<usize>,
    /// Rows asked about along with every block in `joint` mode; by default when absent.
    pub companions: Option<usize>,
    /// Replace the parts that a neighbourhood touches, in `local` mode with landmarks.
    pub replace_touched: bool,
    /// Leave the prior out of the sum, in `joint` mode: the committee that is not Bayesian.
    pub negligible_prior: bool,
    /// Name under which a landmarks model remembers these rows; `part-1` when absent.
    pub part_name: Option<String>,
    /// Keep each part's own summary, so that it can be forgotten without its rows.
    pub keep_parts: bool,
    /// How hyperparameters are found.
    pub learn: LearnChoice,
    /// Whether answers of a committee are as wide as rows left out ask for, or as one noise says.
    pub spread: SpreadChoice,
    /// What is believed about hyperparameters before any row; by the way of learning when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyperprior: Option<Hyperprior>,
    /// Markov chains, where hyperparameters are drawn; by default when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chains: Option<usize>,
    /// Draws kept of each chain; by default when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
    /// Draws of each chain before that; by default when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<usize>,
    /// Starts of the search beyond the data-driven one; by the number of rows when absent.
    pub restarts: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
    /// Memory the fit may take; 8 GiB when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Time the fit may take, by the planner's cost table; as long as it needs when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Span>,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            target: String::new(),
            further_targets: Vec::new(),
            task: TaskChoice::Auto,
            inference: InferenceChoice::Auto,
            likelihood: LikelihoodChoice::Auto,
            inputs: None,
            ignore: Vec::new(),
            weight: None,
            noise: None,
            exposure: None,
            event: None,
            censored: None,
            noise_variance: None,
            kernel: KernelChoice::Auto,
            method: MethodChoice::Auto,
            mode: ModeChoice::Auto,
            experts: None,
            expert: None,
            gates: None,
            training: None,
            neighbours: None,
            landmarks: None,
            landmark_choice: None,
            landmark_rows: None,
            parts: None,
            part_size: None,
            questions: None,
            companions: None,
            replace_touched: false,
            negligible_prior: false,
            part_name: None,
            keep_parts: false,
            learn: LearnChoice::Auto,
            spread: SpreadChoice::Auto,
            hyperprior: None,
            chains: None,
            draws: None,
            warmup: None,
            restarts: None,
            seed: 0,
            memory: None,
            time: None,
        }
    }
}

impl ModelSpec {
    /// The defaults for predicting one column.
    pub fn new(target: impl Into<String>) -> Self {
        Self {
            target: target.into(),
            ..Self::default()
        }
    }

    /// Refuses choices that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_inference(self)?;
        mixture::check(self)?;
        if self.method == MethodChoice::Exact && self.mode != ModeChoice::Auto {
            return Err(Error::Spec(format!(
                "`--mode {}` belongs to a committee: use `--method committee`, or leave the mode out",
                self.mode
            )));
        }
        if let Some(variance) = self.noise_variance {
            if !(variance.is_finite() && variance > 0.0) {
                return Err(Error::Spec(format!(
                    "`--noise-variance` is a positive number, not {variance}"
                )));
            }
            if self.mode != ModeChoice::Auto || self.method == MethodChoice::Committee {
                return Err(Error::Spec(
                    "`--noise-variance` needs `--method exact`: a committee learns its noise"
                        .into(),
                ));
            }
        }
        if self.landmark_rows.is_some()
            && (self.landmarks.is_some() || self.landmark_choice.is_some())
        {
            return Err(Error::Spec(
                "landmarks that are given are neither counted nor chosen: leave their number and `--landmark-choice` out"
                    .into(),
            ));
        }
        let fuses = matches!(
            self.learn,
            LearnChoice::Lla | LearnChoice::LaplacePropagation
        );
        let samples = matches!(self.learn, LearnChoice::Nuts | LearnChoice::Hmc);
        if self.hyperprior.is_some() && !fuses && !samples {
            return Err(Error::Spec(
                "`--hyperprior` needs a way of learning that has one: `--learn nuts`, `hmc`, `lla` or `laplace-propagation`"
                    .into(),
            ));
        }
        let counts = [
            ("--chains", self.chains, 1..=64),
            ("--draws", self.draws, 4..=100_000),
            ("--warmup", self.warmup, 0..=100_000),
        ];
        for (flag, count, range) in counts {
            let Some(count) = count else { continue };
            if !samples {
                return Err(Error::Spec(format!(
                    "`{flag}` needs `--learn nuts` or `--learn hmc`"
                )));
            }
            if !range.contains(&count) {
                return Err(Error::Spec(format!(
                    "`{flag}` is a number between {} and {}, not {count}",
                    range.start(),
                    range.end()
                )));
            }
        }
        if fuses
            && matches!(
                self.hyperprior,
                Some(Hyperprior::Weak | Hyperprior::Doubtful)
            )
        {
            return Err(Error::Spec(
                "expansions of parts are fused with a normal hyperprior: use `--hyperprior broad` or `normal:MEAN,DEVIATION`"
                    .into(),
            ));
        }
        use ModeChoice::{Joint, Landmarks, Local};
        let flags: [(&str, bool, &[ModeChoice]); 10] = [
            (
                "--landmarks",
                self.landmark_count().is_some(),
                &[Landmarks, Local],
            ),
            (
                "--landmark-choice",
                self.landmark_choice.is_some(),
                &[Landmarks, Local],
            ),
            (
                "--part-size",
                self.part_size.is_some(),
                &[Landmarks, Joint, Local],
            ),
            ("--parts", self.parts.is_some(), &[Landmarks, Joint, Local]),
            ("--part-name", self.part_name.is_some(), &[Landmarks]),
            ("--keep-parts", self.keep_parts, &[Landmarks]),
            ("--replace-touched", self.replace_touched, &[Local]),
            ("--companions", self.companions.is_some(), &[Joint]),
            ("--questions", self.questions.is_some(), &[Joint]),
            ("--negligible-prior", self.negligible_prior, &[Joint]),
        ];
        // A mixture hears long tables through landmarks too.
        let heard = |flag: &str| self.mixture().is_some() && flag.starts_with("--landmark");
        let foreign = (flags.iter())
            .find(|(flag, given, modes)| *given && !modes.contains(&self.mode) && !heard(flag));
        match foreign {
            Some((flag, _, modes)) => {
                let modes: Vec<String> = modes
                    .iter()
                    .map(|mode| format!("`--mode {mode}`"))
                    .collect();
                Err(Error::Spec(format!(
                    "`{flag}` needs `--method committee` with {}",
                    modes.join(" or ")
                )))
            }
            None => self.check_local(),
        }
    }

    /// Without landmarks, local answers need no parts.
    fn check_local(&self) -> Result<(), Error> {
        let of_landmarks = [
            ("--landmark-choice", self.landmark_choice.is_some()),
            ("--part-size", self.part_size.is_some()),
            ("--parts", self.parts.is_some()),
            ("--replace-touched", self.replace_touched),
        ];
        match of_landmarks.iter().find(|(_, given)| *given) {
            Some((flag, _))
                if self.mode == ModeChoice::Local && self.landmark_count().is_none() =>
            {
                Err(Error::Spec(format!(
                    "`{flag}` with `--mode local` needs `--landmarks N`"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Whether a spread is learned: not where hyperparameters are found in a way of its own, nor where a person knows the noise.
    pub(crate) fn learns_spread(&self) -> bool {
        self.spread == SpreadChoice::Auto && self.learn == LearnChoice::Auto && self.noise.is_none()
    }

    /// How many landmarks were asked for, by number or by giving them.
    pub(crate) fn landmark_count(&self) -> Option<usize> {
        let given = self.landmark_rows.as_ref().map(GivenLandmarks::rows);
        given.or(self.landmarks)
    }

    /// Which rows form a part when all that is kept of them goes through landmarks.
    ///
    /// At random unless told otherwise: an answer through landmarks has no row of its own nearby, and what the rows of
    /// a narrow cell explain among themselves is lost to the landmarks.
    pub(crate) fn parts_through_landmarks(&self) -> PartChoice {
        self.parts.clone().unwrap_or(PartChoice::Random)
    }

    /// Which column plays which part.
    pub fn roles(&self) -> Roles {
        Roles {
            target: self.target.clone(),
            further_targets: self.further_targets.clone(),
            inputs: self.inputs.clone(),
            ignore: self.ignore.clone(),
            weight: self.weight.clone(),
            noise: self.noise.clone(),
            exposure: self.exposure.clone(),
            event: self.event.clone(),
            censored: self.censored.clone(),
        }
    }
}
