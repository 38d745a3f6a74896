//! Choices of a mixture: whether there is one, of how many experts, and what does not go with it.

use super::{LearnChoice, MethodChoice, ModeChoice, ModelSpec};
use crate::error::Error;
use crate::mixture::{Asked, ExpertKind, GateKind};
use crate::task::{InferenceChoice, LikelihoodChoice};

/// Experts of a mixture unless told otherwise.
const EXPERTS: usize = 5;
/// Starts of experts with weights, unless told otherwise.
const STARTS: usize = 5;
/// Experts of a mixture at most.
const MOST_EXPERTS: usize = 100;

impl ModelSpec {
    /// Number of experts, where a mixture is asked for: one where only the noise depends on the inputs.
    pub fn mixture(&self) -> Option<usize> {
        match (self.method, self.likelihood) {
            (MethodChoice::Mixture, _) => Some(self.experts.unwrap_or(EXPERTS)),
            (_, LikelihoodChoice::Heteroscedastic) => Some(1),
            _ => None,
        }
    }
}

impl ModelSpec {
    /// Experts with weights, where they are asked for instead of processes.
    pub(crate) fn parametric(&self, experts: usize) -> Result<Option<Asked>, Error> {
        let expert = self.expert.unwrap_or(match self.gates {
            None | Some(GateKind::Process) => ExpertKind::Process,
            Some(_) => ExpertKind::Linear,
        });
        let gates = self.gates.unwrap_or(match expert {
            ExpertKind::Process => GateKind::Process,
            _ => GateKind::Linear,
        });
        match (expert, gates) {
            (ExpertKind::Process, GateKind::Process) if self.training.is_none() => Ok(None),
            (ExpertKind::Process, GateKind::Process) => Err(Error::Spec(
                "`--training` is for experts with weights: add `--expert linear` or `network`"
                    .into(),
            )),
            _ => Ok(Some(Asked {
                experts,
                expert,
                gates,
                training: self.training.unwrap_or_default(),
                starts: self.restarts.map_or(STARTS, |more| more + 1),
                seed: self.seed,
            })),
        }
    }
}

/// Refuses what does not go with a mixture, and flags of a mixture without one.
pub fn check(spec: &ModelSpec) -> Result<(), Error> {
    let Some(experts) = spec.mixture() else {
        let flags = [
            ("--experts", spec.experts.is_some()),
            ("--expert", spec.expert.is_some()),
            ("--gates", spec.gates.is_some()),
            ("--training", spec.training.is_some()),
        ];
        return match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Error::Spec(format!("`{flag}` needs `--method mixture`"))),
            None => Ok(()),
        };
    };
    if spec.method != MethodChoice::Mixture && spec.experts.is_some() {
        return Err(Error::Spec(
            "`--likelihood heteroscedastic` has one expert: use `--method mixture` for several"
                .into(),
        ));
    }
    if !(1..=MOST_EXPERTS).contains(&experts) {
        return Err(Error::Spec(format!(
            "`--experts` is a number between 1 and {MOST_EXPERTS}, not {experts}"
        )));
    }
    let landmarks = spec.landmark_count().is_some() || spec.landmark_choice.is_some();
    if landmarks && spec.parametric(experts)?.is_some() {
        return Err(Error::Spec(
            "experts with weights hear no landmarks: leave `--landmarks` and `--landmark-choice` out".into(),
        ));
    }
    let asked = match spec.method {
        MethodChoice::Mixture => "`--method mixture`",
        _ => "`--likelihood heteroscedastic`",
    };
    let own = matches!(
        spec.likelihood,
        LikelihoodChoice::Auto | LikelihoodChoice::Heteroscedastic
    );
    let foreign = [
        ("`--mode`", spec.mode != ModeChoice::Auto),
        (
            "`--method committee`",
            spec.method == MethodChoice::Committee,
        ),
        ("`--inference`", spec.inference != InferenceChoice::Auto),
        ("another `--likelihood`", !own),
        ("`--noise`", spec.noise.is_some()),
        ("`--noise-variance`", spec.noise_variance.is_some()),
        ("several targets", !spec.further_targets.is_empty()),
        (
            "another way of learning than `--learn auto` or `none`",
            !matches!(spec.learn, LearnChoice::Auto | LearnChoice::None),
        ),
    ];
    match foreign.iter().find(|(_, given)| *given) {
        Some((what, _)) => Err(Error::Spec(format!("{asked} does not go with {what}"))),
        None => Ok(()),
    }
}
