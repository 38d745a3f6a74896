//! What came of every entry, fold after fold.

use super::weights::{Gathered, Weight};
use super::{Entry, Line, Maker};
use crate::error::Result;
use crate::task::Scorecard;

/// Members, whether one of them saw all rows, and the rule: what an entry is found by.
pub(super) type Key = (&'static str, bool, Option<&'static str>);

/// What an entry told about the rows of a fold, or why it told nothing.
pub(super) struct Outcome<T> {
    pub told: std::result::Result<T, String>,
    pub seconds: f64,
    /// Weights that its rule found.
    pub weights: Option<Vec<Weight>>,
}

impl Entry {
    pub(super) fn key(&self) -> Key {
        (self.member, self.maker == Maker::Alone, self.rule)
    }
}

impl<T> Outcome<T> {
    pub fn not_fitted() -> Self {
        Self {
            told: Err("could not be fitted".to_owned()),
            seconds: 0.0,
            weights: None,
        }
    }
}

/// An entry with its sums so far; none as soon as it has failed in a fold.
struct Standing<S> {
    entry: Entry,
    sum: Option<S>,
    seconds: f64,
    problem: Option<String>,
    weights: Gathered,
}

/// All entries with their sums.
pub(super) struct Tally<S> {
    all: Vec<Standing<S>>,
}

impl<S: Clone> Tally<S> {
    pub fn new(entries: Vec<Entry>, empty: S) -> Self {
        let standing = |entry| Standing {
            entry,
            sum: Some(empty.clone()),
            seconds: 0.0,
            problem: None,
            weights: Gathered::default(),
        };
        Self {
            all: entries.into_iter().map(standing).collect(),
        }
    }

    /// Adds a fold: what each entry did, found by its key, and how that adds to a sum.
    pub fn add<T>(
        &mut self,
        mut outcome: impl FnMut(Key) -> Option<Outcome<T>>,
        mut score: impl FnMut(T, &mut S) -> Result<()>,
    ) -> Result<()> {
        for own in &mut self.all {
            let found = outcome(own.entry.key()).unwrap_or_else(Outcome::not_fitted);
            own.seconds += found.seconds;
            own.weights.add(found.weights);
            match (found.told, &mut own.sum) {
                (Ok(told), Some(sum)) => score(told, sum)?,
                (Ok(_), None) => {}
                (Err(problem), sum) => {
                    *sum = None;
                    own.problem.get_or_insert(problem);
                }
            }
        }
        Ok(())
    }

    /// The entries with their scores.
    pub fn lines(self, scores: impl Fn(&S) -> Result<Scorecard>) -> Result<Vec<Line>> {
        let line = |own: Standing<S>| {
            Ok(Line {
                entry: own.entry,
                scores: own.sum.as_ref().map(&scores).transpose()?,
                seconds: own.seconds,
                problem: own.problem,
                weights: own.weights.mean(),
            })
        };
        self.all.into_iter().map(line).collect()
    }
}
