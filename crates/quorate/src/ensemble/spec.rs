//! Every choice a person can make about a committee of members.

use quorate_gp::data::Roles;
use serde::{Deserialize, Serialize};

use super::seats::{MakerChoice, Making};
use crate::task::{LikelihoodChoice, TaskChoice};

/// Rows of a part at least, unless the number of members is given.
const PART_ROWS: usize = 25;
/// Members at most, unless the number is given, and those of bags.
const MOST: usize = 10;
/// Share of the variance that is added, or of the labels that are drawn anew, where it is not given.
const STRENGTH: f64 = 0.1;

/// Who sits in a committee, what each is shown, and how they answer together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommitteeSpec {
    /// The column to predict.
    pub target: String,
    /// The input columns; all others when not given.
    pub inputs: Option<Vec<String>>,
    /// Columns left out of the inputs.
    pub ignore: Vec<String>,
    /// Column of weights.
    pub weight: Option<String>,
    /// What is predicted.
    pub task: TaskChoice,
    /// How counts, amounts and lifetimes come from the latent function.
    #[serde(skip_serializing_if = "is_auto")]
    pub likelihood: LikelihoodChoice,
    /// Column of exposures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    /// Column that is 1 where a lifetime was observed, 0 where it is right-censored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The same the other way round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// Kinds of member, who take turns.
    pub members: Vec<String>,
    /// How members come to their rows.
    pub maker: MakerChoice,
    /// The rule; by the maker when not given.
    pub rule: Option<String>,
    /// Number of members; by the number of rows when not given.
    pub count: Option<usize>,
    /// Share of the target's variance that the maker `noise` adds, or of the labels that `flips` draws anew.
    pub strength: Option<f64>,
    /// Seed of everything random.
    pub seed: u64,
}

fn is_auto(likelihood: &LikelihoodChoice) -> bool {
    *likelihood == LikelihoodChoice::Auto
}

impl Default for CommitteeSpec {
    fn default() -> Self {
        Self {
            target: String::new(),
            inputs: None,
            ignore: Vec::new(),
            weight: None,
            task: TaskChoice::Auto,
            likelihood: LikelihoodChoice::Auto,
            exposure: None,
            event: None,
            censored: None,
            members: vec!["gp".into()],
            maker: MakerChoice::Parts,
            rule: None,
            count: None,
            strength: None,
            seed: 0,
        }
    }
}

impl CommitteeSpec {
    /// Which column plays which part.
    pub fn roles(&self) -> Roles {
        Roles {
            target: self.target.clone(),
            inputs: self.inputs.clone(),
            ignore: self.ignore.clone(),
            weight: self.weight.clone(),
            exposure: self.exposure.clone(),
            event: self.event.clone(),
            censored: self.censored.clone(),
            ..Roles::default()
        }
    }

    /// The rule, chosen or not: parts are evidence that adds, bags are alike, and different kinds have to be weighed.
    pub fn rule_name(&self, classes: bool) -> &str {
        let usual = match (self.maker, classes) {
            (MakerChoice::Parts, false) => "robust-bcm",
            (MakerChoice::Parts, true) => "bcm",
            (MakerChoice::All, _) => "density-stacking",
            (MakerChoice::Boost, false) => "median",
            (MakerChoice::Boost, true) => "weighted-vote",
            (MakerChoice::Filter, _) => "majority",
            _ => "mixture",
        };
        self.rule.as_deref().unwrap_or(usual)
    }

    /// Who is shown what, in a table of so many distinct rows.
    pub(super) fn making(&self, rows: usize) -> Making {
        let usual = match self.maker {
            MakerChoice::Parts => (rows / PART_ROWS).clamp(2, MOST),
            _ => MOST,
        };
        Making {
            maker: self.maker,
            count: self.count.unwrap_or(usual),
            strength: self.strength.unwrap_or(STRENGTH),
            seed: self.seed,
        }
    }
}
