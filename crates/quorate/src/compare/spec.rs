//! Every choice a person can make about a comparison.

use quorate_gp::data::{Roles, nearest_name};
use serde::{Deserialize, Serialize};

use super::everything;
use crate::classifier::{CLASSIFIERS, ClassKind};
use crate::error::{Error, Result};
use crate::fusion::{CLASS_RULES, ClassRule, Needs, RULES, Rule, rule};
use crate::member::{Kind, LATENT_MEMBERS, LatentKind, MEMBERS, kind};
use crate::task::{LikelihoodChoice, TaskChoice};

/// Rows of a part at least, unless the number of parts is given.
const PART_ROWS: usize = 25;

/// What is compared, on which columns, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSpec {
    /// The column to predict.
    pub target: String,
    /// The input columns; all others when not given.
    pub inputs: Option<Vec<String>>,
    /// Columns left out of the inputs.
    pub ignore: Vec<String>,
    /// Column of weights.
    pub weight: Option<String>,
    /// What is predicted: a number, a class, a count or a lifetime.
    pub task: TaskChoice,
    /// How counts, amounts and lifetimes come from the latent function.
    pub likelihood: LikelihoodChoice,
    /// Column of exposures.
    pub exposure: Option<String>,
    /// Column that is 1 where a lifetime was observed, 0 where it is right-censored.
    pub event: Option<String>,
    /// The same the other way round.
    pub censored: Option<String>,
    /// Kinds of member; all when not given.
    pub members: Option<Vec<String>>,
    /// Rules; all when not given.
    pub rules: Option<Vec<String>>,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Members of a committee on parts; by the number of rows when not given.
    pub parts: Option<usize>,
    /// Rows at most; of a longer table, so many at random.
    pub rows: usize,
    /// Seed of folds, parts and whatever members draw.
    pub seed: u64,
}

impl Default for CompareSpec {
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
            members: None,
            rules: None,
            folds: 5,
            parts: None,
            rows: 2000,
            seed: 0,
        }
    }
}

impl CompareSpec {
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

    /// The kinds of member that are compared, in the order of the registry.
    pub fn kinds(&self) -> Result<Vec<&'static Kind>> {
        let Some(names) = &self.members else {
            return Ok(everything().0);
        };
        let all = MEMBERS.iter().map(|kind| kind.name);
        for name in names {
            kind(name).ok_or_else(|| unknown("member", name, all.clone()))?;
        }
        let wanted = |kind: &&Kind| names.iter().any(|name| name == kind.name);
        Ok(MEMBERS.iter().filter(wanted).collect())
    }

    /// The rules that are compared, in the order of the registry.
    pub fn rules(&self) -> Result<Vec<&'static Rule>> {
        let Some(names) = &self.rules else {
            return Ok(everything().1);
        };
        let all = RULES.iter().map(|rule| rule.name);
        for name in names {
            rule(name).ok_or_else(|| unknown("rule", name, all.clone()))?;
        }
        let wanted = |rule: &&Rule| names.iter().any(|name| name == rule.name);
        Ok(RULES.iter().filter(wanted).collect())
    }

    /// The kinds of member that tell classes apart, in the order of their registry.
    pub fn class_kinds(&self) -> Result<Vec<&'static ClassKind>> {
        let all = CLASSIFIERS.iter().map(|kind| kind.name);
        let names = self.members.as_deref();
        check_known("member", names, all)?;
        let kinds = CLASSIFIERS.iter();
        Ok(kinds.filter(|kind| is_chosen(names, kind.name)).collect())
    }

    /// The rules for classes, in the order of their registry.
    pub fn class_rules(&self) -> Result<Vec<&'static ClassRule>> {
        let all = CLASS_RULES.iter().map(|rule| rule.name);
        let names = self.rules.as_deref();
        check_known("rule", names, all)?;
        let rules = CLASS_RULES.iter();
        Ok(rules.filter(|rule| is_chosen(names, rule.name)).collect())
    }

    /// The kinds of member for counts, amounts and lifetimes, in the order of their registry.
    pub fn latent_kinds(&self) -> Result<Vec<&'static LatentKind>> {
        let all = LATENT_MEMBERS.iter().map(|kind| kind.name);
        let names = self.members.as_deref();
        check_known("member", names, all)?;
        let kinds = LATENT_MEMBERS.iter();
        Ok(kinds.filter(|kind| is_chosen(names, kind.name)).collect())
    }

    /// The rules that fuse beliefs about a latent function that nobody has seen, in the order of the registry.
    pub fn latent_rules(&self) -> Result<Vec<&'static Rule>> {
        let applies =
            |rule: &Rule| matches!(rule.needs, Needs::Opinions | Needs::Base | Needs::Evidence);
        let rules = self.rules()?.into_iter().filter(|rule| applies(rule));
        let rules: Vec<&'static Rule> = rules.collect();
        if rules.is_empty() {
            return Err(Error::Spec(
                "none of these rules fuses beliefs about the function behind a count, an amount or a lifetime: those that learn from errors need targets that are its values"
                    .into(),
            ));
        }
        Ok(rules)
    }

    /// An error unless every name is known, to one task or the other.
    pub fn check_names(&self) -> Result<()> {
        let members = MEMBERS.iter().map(|kind| kind.name);
        let members = members.chain(CLASSIFIERS.iter().map(|kind| kind.name));
        check_known("member", self.members.as_deref(), unique(members))?;
        let rules = RULES.iter().map(|rule| rule.name);
        let rules = rules.chain(CLASS_RULES.iter().map(|rule| rule.name));
        check_known("rule", self.rules.as_deref(), unique(rules))
    }

    /// Members of a committee that shares so many training rows.
    pub(super) fn parts_of(&self, rows: usize) -> usize {
        let chosen = self
            .parts
            .unwrap_or_else(|| (rows / PART_ROWS).clamp(2, 10));
        chosen.clamp(1, rows.max(1))
    }
}

/// Each name once, in the order of first appearance.
fn unique(names: impl Iterator<Item = &'static str>) -> impl Iterator<Item = &'static str> + Clone {
    let mut seen: Vec<&'static str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.into_iter()
}

/// An error for names that nobody knows.
fn check_known(
    what: &str,
    names: Option<&[String]>,
    all: impl Iterator<Item = &'static str> + Clone,
) -> Result<()> {
    for name in names.unwrap_or_default() {
        if !all.clone().any(|known| known == name) {
            return Err(unknown(what, name, all));
        }
    }
    Ok(())
}

/// Whether a name was chosen, or nothing was.
fn is_chosen(names: Option<&[String]>, name: &str) -> bool {
    names.is_none_or(|names| names.iter().any(|own| own == name))
}

pub(crate) fn unknown<'n>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = &'n str> + Clone,
) -> Error {
    let listed: Vec<&str> = all.clone().collect();
    let nearest = match nearest_name(name, all) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => ".".to_owned(),
    };
    Error::Spec(format!(
        "unknown {what} `{name}`{nearest} There are: {}",
        listed.join(", ")
    ))
}
