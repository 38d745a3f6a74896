//! Every kind of member and every rule on one table, by cross-validation.
//!
//! Three sorts of entry: one member that saw all rows; a committee of members of one kind on random parts that share no
//! rows, under each rule that applies; and a committee of one member of each kind, all on the same rows. Kinds and rules come
//! from their registries ([`MEMBERS`], [`RULES`]; for classes [`crate::classifier::CLASSIFIERS`] and
//! [`crate::fusion::CLASS_RULES`]; for counts, amounts and lifetimes [`crate::member::LATENT_MEMBERS`]), so that what can be chosen
//! can be compared.

mod classes;
mod fold;
mod quantities;
mod spec;
mod tally;
mod weights;

pub use classes::class_entries;
pub use fold::Clock;
pub use quantities::quantity_entries;
pub use spec::CompareSpec;
pub(crate) use spec::unknown;
pub use weights::Weight;

use quorate_gp::data::{Frame, Schema, TargetKind, random_rows};
use quorate_gp::watch::Watch;
use serde::Serialize;

use crate::ensemble::makers::shuffled;
use crate::error::{Error, Result};
use crate::fusion::{Needs, RULES, Rule};
use crate::member::{Kind, MEMBERS};
use crate::score::{ScoreSum, Yardstick};
use crate::spec::ModelSpec;
use crate::task::{Scorecard, decide};
use fold::Fold;
use tally::Tally;

/// How an entry's members came to their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Maker {
    /// One member saw all rows.
    Alone,
    /// Members of one kind on random parts.
    Parts,
    /// One member of each kind on all rows.
    Mixed,
}

/// What is compared: members, how they came to their rows, and the rule they answer by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Kind of the members; `all` in a mixed committee.
    pub member: &'static str,
    /// How they came to their rows.
    pub maker: Maker,
    /// The rule; none for one member alone.
    pub rule: Option<&'static str>,
}

/// An entry with its scores over all folds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// What was compared.
    #[serde(flatten)]
    pub entry: Entry,
    /// Scores of all rows, each predicted by members that had not seen it; absent where the entry failed.
    pub scores: Option<Scorecard>,
    /// Seconds of preparing, fitting and answering, all folds together.
    pub seconds: f64,
    /// Why there are no scores.
    pub problem: Option<String>,
    /// Weights that the rule found for the members, for rules with weights that are the same everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<Weight>>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Rows that were used.
    pub rows: usize,
    /// Rows of the table.
    pub rows_of_table: usize,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Members of a committee on parts.
    pub parts: usize,
    /// The entries, the best log density or log loss first; those that failed last.
    pub lines: Vec<Line>,
    /// Sentences for people.
    pub notes: Vec<String>,
}

/// The entries that a choice of kinds and rules gives: what [`compare`] covers.
pub fn entries(kinds: &[&'static Kind], rules: &[&'static Rule]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for kind in kinds {
        entries.push(Entry {
            member: kind.name,
            maker: Maker::Alone,
            rule: None,
        });
        let own = rules.iter().filter(|rule| match rule.needs {
            Needs::Opinions | Needs::Record | Needs::Base => true,
            Needs::Process => kind.is_process,
            // Evidences of different rows cannot be compared.
            Needs::Evidence => false,
        });
        entries.extend(own.map(|rule| Entry {
            member: kind.name,
            maker: Maker::Parts,
            rule: Some(rule.name),
        }));
    }
    if kinds.len() > 1 {
        let mixed = rules.iter().filter(|rule| match rule.needs {
            Needs::Opinions | Needs::Record => true,
            Needs::Evidence => kinds.iter().any(|kind| kind.has_evidence),
            Needs::Process | Needs::Base => false,
        });
        entries.extend(mixed.map(|rule| Entry {
            member: "all",
            maker: Maker::Mixed,
            rule: Some(rule.name),
        }));
    }
    entries
}

/// Compares members and rules on a table by cross-validation.
pub fn compare(
    spec: &CompareSpec,
    table: &Frame,
    clock: Clock<'_>,
    watch: &dyn Watch,
) -> Result<Comparison> {
    let reading = ModelSpec {
        task: spec.task,
        likelihood: spec.likelihood,
        exposure: spec.exposure.clone(),
        event: spec.event.clone(),
        censored: spec.censored.clone(),
        ..ModelSpec::new(&spec.target)
    };
    let (task, remark) = decide(&reading, table)?;
    let cut = Cut::new(spec, task, table, remark)?;
    match task {
        TargetKind::Numbers => numbers(spec, table, cut, clock, watch),
        TargetKind::Classes => classes::compare(spec, table, cut, clock, watch),
        TargetKind::Quantity(_) => quantities::compare(spec, table, cut, clock, watch),
    }
}

/// Which rows are used, and in which fold each is predicted.
struct Cut {
    schema: Schema,
    notes: Vec<String>,
    used: Vec<usize>,
    order: Vec<usize>,
    folds: usize,
    parts: usize,
}

impl Cut {
    fn new(
        spec: &CompareSpec,
        task: TargetKind,
        table: &Frame,
        remark: Option<String>,
    ) -> Result<Self> {
        let (schema, mut notes) = Schema::learn_as(task, table, &spec.roles())?;
        notes.extend(remark);
        // Rows of weight 0 are absent here too.
        let checked = schema.training_data(table)?;
        let present: Vec<usize> = checked.members().iter().map(|row| row.row).collect();
        let used: Vec<usize> = random_rows(present.len(), spec.rows, spec.seed)
            .into_iter()
            .map(|place| present[place])
            .collect();
        if used.len() < present.len() {
            notes.push(format!(
                "compared on {} random rows of {}; --rows takes more",
                used.len(),
                present.len()
            ));
        }
        let folds = spec.folds;
        if folds < 2 || used.len() < 2 * folds {
            return Err(Error::Spec(format!(
                "{} rows cannot be cut into {folds} folds of at least two rows, with at least two folds; choose fewer --folds or give more rows",
                used.len()
            )));
        }
        Ok(Self {
            schema,
            notes,
            order: shuffled(used.len(), spec.seed),
            parts: spec.parts_of(used.len() - used.len().div_ceil(folds)),
            used,
            folds,
        })
    }

    /// One fold: the rows to learn from and those to predict.
    fn fold<'a>(
        &self,
        number: usize,
        spec: &CompareSpec,
        table: &Frame,
        clock: Clock<'a>,
        watch: &'a dyn Watch,
    ) -> Fold<'a> {
        let mut train = Vec::new();
        let mut test = Vec::new();
        for (place, &row) in self.order.iter().enumerate() {
            let list = if place % self.folds == number {
                &mut test
            } else {
                &mut train
            };
            list.push(self.used[row]);
        }
        train.sort_unstable();
        test.sort_unstable();
        Fold {
            train: table.select_rows(&train),
            test: table.select_rows(&test),
            roles: spec.roles(),
            parts: self.parts,
            seed: spec.seed,
            clock,
            watch,
        }
    }

    /// The entries, best first.
    fn ranked(self, table: &Frame, mut lines: Vec<Line>) -> Comparison {
        let rank = |line: &Line| line.scores.as_ref().map_or(f64::INFINITY, Scorecard::loss);
        lines.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        Comparison {
            rows: self.used.len(),
            rows_of_table: table.rows(),
            folds: self.folds,
            parts: self.parts,
            lines,
            notes: self.notes,
        }
    }
}

fn numbers(
    spec: &CompareSpec,
    table: &Frame,
    cut: Cut,
    clock: Clock<'_>,
    watch: &dyn Watch,
) -> Result<Comparison> {
    let (kinds, rules) = (spec.kinds()?, spec.rules()?);
    let entries = entries(&kinds, &rules);
    let mut tally = Tally::new(entries.clone(), ScoreSum::new(Yardstick::from(&cut.schema)));
    for number in 0..cut.folds {
        watch.check()?;
        watch.progress("comparing", number, cut.folds);
        let fold = cut.fold(number, spec, table, clock, watch);
        let mut found = fold.run(&kinds, &rules, &entries)?;
        tally.add(
            |key| found.remove(&key),
            |rows, sum| {
                for row in rows {
                    sum.add(row.target, row.mean, row.variance, row.weight);
                }
                Ok(())
            },
        )?;
    }
    watch.progress("comparing", cut.folds, cut.folds);
    let lines = tally.lines(|sum| Ok(Scorecard::Number(sum.scores()?)))?;
    Ok(cut.ranked(table, lines))
}

/// All kinds and all rules, for those who choose none.
pub(crate) fn everything() -> (Vec<&'static Kind>, Vec<&'static Rule>) {
    (MEMBERS.iter().collect(), RULES.iter().collect())
}
