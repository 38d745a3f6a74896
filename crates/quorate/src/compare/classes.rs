//! The comparison where the target is a class.

use std::collections::BTreeMap;

use quorate_gp::data::{Classes, Dataset, Frame, Schema, TargetKind};
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::fold::{Clock, Fold};
use super::tally::{Key, Outcome, Tally};
use super::weights::{named, part_names};
use super::{CompareSpec, Comparison, Cut, Entry, Maker};
use crate::classifier::{ClassKind, ClassRecipe, ClassSetting, Classifier};
use crate::ensemble::{Share, class_record, makers};
use crate::error::{Error, Result};
use crate::fusion::{ClassRecord, ClassRule};
use crate::score::ClassSum;
use crate::task::Scorecard;

/// The entries that a choice of kinds and rules for classes gives: what a comparison covers.
pub fn class_entries(kinds: &[&'static ClassKind], rules: &[&'static ClassRule]) -> Vec<Entry> {
    let entry = |member, maker, rule| Entry {
        member,
        maker,
        rule,
    };
    let mut entries = Vec::new();
    for kind in kinds {
        entries.push(entry(kind.name, Maker::Alone, None));
        let own = rules
            .iter()
            .map(|rule| entry(kind.name, Maker::Parts, Some(rule.name)));
        entries.extend(own);
    }
    if kinds.len() > 1 {
        let mixed = rules
            .iter()
            .map(|rule| entry("all", Maker::Mixed, Some(rule.name)));
        entries.extend(mixed);
    }
    entries
}

/// Probabilities of the rows of a fold.
type Outcomes = BTreeMap<Key, Outcome<Matrix>>;

pub fn compare(
    spec: &CompareSpec,
    table: &Frame,
    cut: Cut,
    clock: Clock<'_>,
    watch: &dyn Watch,
) -> Result<Comparison> {
    let (kinds, rules) = (spec.class_kinds()?, spec.class_rules()?);
    let Some(classes) = cut.schema.target().classes().cloned() else {
        return Err(Error::Spec("the target holds no classes".into()));
    };
    let entries = class_entries(&kinds, &rules);
    let mut tally = Tally::new(entries, ClassSum::new(classes.count()));
    for number in 0..cut.folds {
        watch.check()?;
        watch.progress("comparing", number, cut.folds);
        let fold = cut.fold(number, spec, table, clock, watch);
        let codes = classes.codes(&fold.test, &spec.target)?;
        let tested = cut.schema.training_data(&fold.test)?;
        let weights: Vec<f64> = tested.members().iter().map(|row| row.weight).collect();
        let (own, mut found) = run(&fold, &kinds, &rules)?;
        // A class that no training row of the fold has cannot be foreseen: its probability is 0.
        let places: Vec<Option<usize>> = classes
            .labels()
            .iter()
            .map(|label| own.labels().iter().position(|other| other == label))
            .collect();
        tally.add(
            |key| found.remove(&key),
            |probabilities, sum| {
                for (row, (&code, weight)) in codes.iter().zip(&weights).enumerate() {
                    let at = |place: &Option<usize>| place.map_or(0.0, |p| probabilities[(row, p)]);
                    let all: Vec<f64> = places.iter().map(at).collect();
                    sum.add(code, &all, *weight);
                }
                Ok(())
            },
        )?;
    }
    watch.progress("comparing", cut.folds, cut.folds);
    let lines = tally.lines(|sum| Ok(Scorecard::Classes(sum.scores()?)))?;
    Ok(cut.ranked(table, lines))
}

/// One fold: members fitted once, asked once, fused by every rule.
fn run(
    fold: &Fold<'_>,
    kinds: &[&'static ClassKind],
    rules: &[&'static ClassRule],
) -> Result<(Classes, Outcomes)> {
    let (schema, _) = Schema::learn_as(TargetKind::Classes, &fold.train, &fold.roles)?;
    let Some(classes) = schema.target().classes().cloned() else {
        return Err(Error::Spec("the target holds no classes".into()));
    };
    let train = schema.training_data(&fold.train)?;
    let asked = schema.encode(&fold.test)?;
    let ready = Ready {
        fold,
        schema: &schema,
        classes: &classes,
        train: &train,
        query: asked.inputs(),
    };
    let mut outcomes = Outcomes::new();
    let mut singles = Vec::new();
    for kind in kinds {
        fold.watch.check()?;
        match ready.kind(kind, rules, &mut outcomes) {
            Ok(single) => singles.push(single),
            Err(error) => {
                fold.watch.check()?;
                let problem = || Outcome {
                    told: Err(error.to_string()),
                    ..Outcome::not_fitted()
                };
                outcomes.insert((kind.name, true, None), problem());
                for rule in rules {
                    outcomes.insert((kind.name, false, Some(rule.name)), problem());
                }
            }
        }
    }
    if singles.len() > 1 {
        ready.mixed(&singles, rules, &mut outcomes)?;
    }
    Ok((classes, outcomes))
}

/// Rows ready for the mathematics.
struct Ready<'a> {
    fold: &'a Fold<'a>,
    schema: &'a Schema,
    classes: &'a Classes,
    train: &'a Dataset,
    query: quorate_gp::data::Inputs<'a>,
}

/// A kind whose recipe is ready, with what one member that saw all rows says, and the seconds of both.
struct Single {
    name: &'static str,
    recipe: Box<dyn ClassRecipe>,
    said: Matrix,
    seconds: f64,
}

impl Ready<'_> {
    /// One member alone, and committees of the kind on parts.
    fn kind(
        &self,
        kind: &'static ClassKind,
        rules: &[&'static ClassRule],
        outcomes: &mut Outcomes,
    ) -> Result<Single> {
        let clock = self.fold.clock;
        let setting = ClassSetting {
            columns: self.schema.columns(),
            classes: self.classes,
            seed: self.fold.seed,
            watch: self.fold.watch,
        };
        let start = clock();
        let recipe = (kind.prepare)(&setting, self.train)?;
        let preparing = clock() - start;
        let start = clock();
        let said = recipe.fit(self.train)?.probabilities(self.query)?;
        let seconds = preparing + clock() - start;
        let alone = Outcome {
            told: Ok(said.clone()),
            seconds,
            weights: None,
        };
        outcomes.insert((kind.name, true, None), alone);
        if !rules.is_empty() {
            let parts = makers::parts(self.train.rows(), self.fold.parts, self.fold.seed);
            let shares: Vec<Share> = parts.into_iter().map(Share::Rows).collect();
            let start = clock();
            let answers: Vec<Matrix> = shares
                .par_iter()
                .map(|share| {
                    let rows = share.of(self.train, Some(self.classes), |_| true)?;
                    let member: Box<dyn Classifier> = recipe.fit(&rows)?;
                    member.probabilities(self.query)
                })
                .collect::<Result<_>>()?;
            let fitting = preparing + clock() - start;
            let seats: Vec<(&dyn ClassRecipe, &Share)> =
                shares.iter().map(|share| (&*recipe, share)).collect();
            let names = part_names(shares.len());
            self.fuse_all(
                (kind.name, &names),
                &answers,
                &seats,
                rules,
                fitting,
                outcomes,
            )?;
        }
        Ok(Single {
            name: kind.name,
            recipe,
            said,
            seconds,
        })
    }

    /// One member of each kind, all on the same rows.
    fn mixed(
        &self,
        singles: &[Single],
        rules: &[&'static ClassRule],
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        let all = Share::Rows((0..self.train.rows()).collect());
        let answers: Vec<Matrix> = singles.iter().map(|single| single.said.clone()).collect();
        let seats: Vec<(&dyn ClassRecipe, &Share)> = singles
            .iter()
            .map(|single| (&*single.recipe, &all))
            .collect();
        let seconds = singles.iter().map(|single| single.seconds).sum();
        let names: Vec<String> = singles.iter().map(|own| own.name.to_owned()).collect();
        self.fuse_all(("all", &names), &answers, &seats, rules, seconds, outcomes)
    }

    /// Fuses what members said by every rule.
    fn fuse_all(
        &self,
        (name, members): (&'static str, &[String]),
        answers: &[Matrix],
        seats: &[(&dyn ClassRecipe, &Share)],
        rules: &[&'static ClassRule],
        fitting: f64,
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        let clock = self.fold.clock;
        let start = clock();
        let record: Option<ClassRecord> = match rules.iter().any(|rule| rule.needs_record) {
            true => Some(class_record(
                seats,
                self.classes,
                self.train,
                self.fold.seed,
                self.fold.watch,
            )?),
            false => None,
        };
        let recording = clock() - start;
        for rule in rules {
            let start = clock();
            let weights = match (&record, rule.needs_record) {
                (Some(record), true) => rule.fusion.learn(record)?,
                _ => None,
            };
            let told = rule
                .fusion
                .combine(answers, self.classes.shares(), weights.as_deref())
                .map_err(|error| error.to_string());
            let mut seconds = fitting + clock() - start;
            if rule.needs_record {
                seconds += recording;
            }
            let weights = weights.filter(|_| told.is_ok());
            let fused = Outcome {
                told,
                seconds,
                weights: weights.map(|own| named(members, &own)),
            };
            outcomes.insert((name, false, Some(rule.name)), fused);
        }
        Ok(())
    }
}
