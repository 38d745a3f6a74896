//! Choices by name: parsed from the words of a command line, a file or Python, and printed as those words.

use std::fmt;
use std::str::FromStr;

use quorate_gp::kernel::Kernel;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::mixture::{ExpertKind, GateKind, Training};
use crate::task::{InferenceChoice, LikelihoodChoice, TaskChoice};

/// A kernel, or the wish that one be found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KernelChoice {
    /// Try a few kernels and keep the one with the most evidence.
    #[default]
    Auto,
    /// This kernel.
    Given(Kernel),
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelChoice::Auto => f.write_str("auto"),
            KernelChoice::Given(kernel) => kernel.fmt(f),
        }
    }
}

impl FromStr for KernelChoice {
    type Err = quorate_gp::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "auto" {
            Ok(KernelChoice::Auto)
        } else {
            text.parse().map(KernelChoice::Given)
        }
    }
}

impl TryFrom<String> for KernelChoice {
    type Error = quorate_gp::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<KernelChoice> for String {
    fn from(choice: KernelChoice) -> String {
        choice.to_string()
    }
}

/// How hyperparameters are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnChoice {
    /// The best objective for the method at hand.
    #[default]
    Auto,
    /// Evidence of the rows as a block, or of parts of them: hyperparameters that all parts share.
    Block,
    /// How well groups of rows are predicted from the rows nearest to them.
    Conditional,
    /// Evidence of parts that speak through landmarks.
    Committee,
    /// Local Laplace approximations: each part's own hyperposterior as a Gaussian, added.
    Lla,
    /// Laplace propagation: the same until all parts agree.
    LaplacePropagation,
    /// Draws from the hyperposterior by the No-U-Turn sampler; predictions average over them.
    Nuts,
    /// The same by Hamiltonian Monte Carlo with trajectories of fixed length.
    Hmc,
    /// Density of rows that are left out one at a time.
    Loo,
    /// One common width and the noise, by a validation set of 100 rows.
    Validation,
    /// Keep the values the kernel's text gives, and defaults for the rest.
    None,
}

/// How wide answers of a committee are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadChoice {
    /// As rows left out ask for, by the answer and the inputs, where that makes them likelier.
    #[default]
    Auto,
    /// As one noise says.
    Constant,
}

/// Which method answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodChoice {
    /// Exact while the table is small, a committee beyond.
    #[default]
    Auto,
    /// One exact process over all rows.
    Exact,
    /// Many experts, each for its own neighbourhood.
    Committee,
    /// Experts of different length scales, with gates and noises that are processes too.
    Mixture,
}

/// How a committee answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModeChoice {
    /// Local, because the rows are stored.
    #[default]
    Auto,
    /// An expert formed from the nearest rows for each question; the model keeps the rows.
    Local,
    /// All parts speak through landmarks; the model keeps their sum and no row.
    Landmarks,
    /// All parts are asked about blocks of questions together; the model keeps the rows.
    Joint,
}

/// How landmarks are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LandmarkChoice {
    /// Centres of clusters in the kernel's metric.
    #[default]
    Kmeans,
    /// Random rows.
    Random,
    /// Rows of which the earlier ones know least: greedy conditional variance.
    Greedy,
}

/// Gives a choice its names: parsing with suggestions, printing, and the list for help texts.
macro_rules! named_choice {
    ($choice:ty, $what:literal, [$(($name:literal, $variant:expr)),+ $(,)?]) => {
        impl $choice {
            /// Every choice with its name.
            pub const NAMES: &'static [(&'static str, $choice)] = &[$(($name, $variant)),+];
        }

        impl FromStr for $choice {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::NAMES.iter().find(|(name, _)| *name == text);
                found.map(|(_, choice)| *choice).ok_or_else(|| {
                    let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
                    Error::Spec(format!("unknown {} `{text}`: choose {}", $what, names.join(", ")))
                })
            }
        }

        impl fmt::Display for $choice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = Self::NAMES.iter().find(|(_, choice)| choice == self);
                f.write_str(name.map_or("auto", |(name, _)| name))
            }
        }
    };
}

named_choice!(
    TaskChoice,
    "task",
    [
        ("auto", TaskChoice::Auto),
        ("regression", TaskChoice::Regression),
        ("binary", TaskChoice::Binary),
        ("multiclass", TaskChoice::Multiclass),
        ("count", TaskChoice::Count),
        ("lifetime", TaskChoice::Lifetime),
    ]
);
named_choice!(
    InferenceChoice,
    "way of inference",
    [
        ("auto", InferenceChoice::Auto),
        ("fast", InferenceChoice::Fast),
        ("laplace", InferenceChoice::Laplace),
        ("ep", InferenceChoice::Ep),
    ]
);
named_choice!(
    LikelihoodChoice,
    "likelihood",
    [
        ("auto", LikelihoodChoice::Auto),
        ("gaussian", LikelihoodChoice::Gaussian),
        ("student-t", LikelihoodChoice::StudentT),
        ("bernoulli", LikelihoodChoice::Bernoulli),
        ("probit", LikelihoodChoice::Probit),
        ("poisson", LikelihoodChoice::Poisson),
        ("negative-binomial", LikelihoodChoice::NegativeBinomial),
        ("gamma", LikelihoodChoice::Gamma),
        ("inverse-gaussian", LikelihoodChoice::InverseGaussian),
        ("weibull", LikelihoodChoice::Weibull),
        ("exponential", LikelihoodChoice::Exponential),
        ("heteroscedastic", LikelihoodChoice::Heteroscedastic),
    ]
);
named_choice!(
    LearnChoice,
    "way of learning",
    [
        ("auto", LearnChoice::Auto),
        ("block", LearnChoice::Block),
        ("conditional", LearnChoice::Conditional),
        ("committee", LearnChoice::Committee),
        ("lla", LearnChoice::Lla),
        ("laplace-propagation", LearnChoice::LaplacePropagation),
        ("loo", LearnChoice::Loo),
        ("nuts", LearnChoice::Nuts),
        ("hmc", LearnChoice::Hmc),
        ("validation", LearnChoice::Validation),
        ("none", LearnChoice::None)
    ]
);
named_choice!(
    SpreadChoice,
    "spread",
    [
        ("auto", SpreadChoice::Auto),
        ("constant", SpreadChoice::Constant),
    ]
);
named_choice!(
    MethodChoice,
    "method",
    [
        ("auto", MethodChoice::Auto),
        ("exact", MethodChoice::Exact),
        ("committee", MethodChoice::Committee),
        ("mixture", MethodChoice::Mixture),
    ]
);
named_choice!(
    ModeChoice,
    "mode",
    [
        ("auto", ModeChoice::Auto),
        ("local", ModeChoice::Local),
        ("landmarks", ModeChoice::Landmarks),
        ("joint", ModeChoice::Joint),
    ]
);
named_choice!(
    LandmarkChoice,
    "choice of landmarks",
    [
        ("kmeans", LandmarkChoice::Kmeans),
        ("random", LandmarkChoice::Random),
        ("greedy", LandmarkChoice::Greedy),
    ]
);
named_choice!(
    ExpertKind,
    "kind of expert",
    [
        ("process", ExpertKind::Process),
        ("linear", ExpertKind::Linear),
        ("network", ExpertKind::Network),
    ]
);
named_choice!(
    GateKind,
    "kind of gate",
    [
        ("process", GateKind::Process),
        ("linear", GateKind::Linear),
        ("network", GateKind::Network),
        ("density", GateKind::Density),
        ("tree", GateKind::Tree),
    ]
);
named_choice!(
    Training,
    "training",
    [
        ("competing", Training::Competing),
        ("cooperating", Training::Cooperating),
    ]
);
