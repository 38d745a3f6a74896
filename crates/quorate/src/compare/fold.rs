//! One fold: members fitted once, asked once, fused by every rule.

use std::collections::BTreeMap;

use quorate_gp::data::{Dataset, Frame, Roles, Schema};
use quorate_gp::gaussian::Marginals;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::tally::{Key, Outcome};
use super::weights::{named, part_names};
use super::{Entry, Maker};
use crate::ensemble::{Council, makers, out_of_fold};
use crate::error::{Error, Result};
use crate::fusion::{Needs, Record, Rule};
use crate::member::{Kind, Member, Recipe, Setting};

/// Seconds since some moment, told by whoever may look at a clock.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// Rows to learn from and rows to predict.
pub struct Fold<'a> {
    pub train: Frame,
    pub test: Frame,
    pub roles: Roles,
    pub parts: usize,
    pub seed: u64,
    pub clock: Clock<'a>,
    pub watch: &'a dyn Watch,
}

/// A predicted row in the target's own units.
pub struct Scored {
    pub target: f64,
    pub mean: f64,
    pub variance: f64,
    pub weight: f64,
}

/// Rows ready for the mathematics.
struct Ready<'a> {
    fold: &'a Fold<'a>,
    schema: Schema,
    train: Dataset,
    test: Dataset,
}

/// A kind whose members are ready to be fitted.
struct Prepared {
    kind: &'static Kind,
    recipe: Box<dyn Recipe>,
    seconds: f64,
}

pub(super) type Outcomes = BTreeMap<Key, Outcome<Vec<Scored>>>;

impl Fold<'_> {
    /// The outcomes of entries by their keys. What a kind cannot do is an outcome; an interruption is an error.
    pub fn run(
        &self,
        kinds: &[&'static Kind],
        rules: &[&'static Rule],
        entries: &[Entry],
    ) -> Result<Outcomes> {
        let (schema, _) = Schema::learn(&self.train, &self.roles)?;
        let ready = Ready {
            train: schema.training_data(&self.train)?,
            test: schema.training_data(&self.test)?,
            schema,
            fold: self,
        };
        let wanted = |member: &str, maker: Maker| -> Vec<&'static Rule> {
            let has = |rule: &&Rule| {
                entries.iter().any(|entry| {
                    entry.member == member && entry.maker == maker && entry.rule == Some(rule.name)
                })
            };
            rules.iter().copied().filter(|rule| has(rule)).collect()
        };
        let mut outcomes = Outcomes::new();
        let mut failures: BTreeMap<&str, String> = BTreeMap::new();
        let mut singles = Vec::new();
        for kind in kinds {
            self.watch.check()?;
            match ready.kind(kind, &wanted(kind.name, Maker::Parts), &mut outcomes) {
                Ok(single) => singles.push(single),
                Err(error) => {
                    self.watch.check()?;
                    failures.insert(kind.name, error.to_string());
                }
            }
        }
        if let Err(error) = ready.mixed(singles, &wanted("all", Maker::Mixed), &mut outcomes) {
            self.watch.check()?;
            failures.insert("all", error.to_string());
        }
        for entry in entries {
            if let Some(problem) = failures.get(entry.member) {
                let failed = Outcome {
                    told: Err(problem.clone()),
                    ..Outcome::not_fitted()
                };
                outcomes.entry(entry.key()).or_insert(failed);
            }
        }
        Ok(outcomes)
    }
}

impl Ready<'_> {
    /// One member alone, and committees of the kind on parts; gives the member back for the mixed committee.
    fn kind(
        &self,
        kind: &'static Kind,
        rules: &[&'static Rule],
        outcomes: &mut Outcomes,
    ) -> Result<(Prepared, Box<dyn Member>, f64)> {
        let clock = self.fold.clock;
        let setting = Setting {
            columns: self.schema.columns(),
            seed: self.fold.seed,
            watch: self.fold.watch,
        };
        let start = clock();
        let recipe = (kind.prepare)(&setting, &self.train)?;
        let prepared = Prepared {
            kind,
            recipe,
            seconds: clock() - start,
        };
        let start = clock();
        let member = prepared.recipe.fit(&self.train)?;
        let belief = member.marginals(self.test.inputs())?;
        let own = clock() - start;
        outcomes.insert(
            (kind.name, true, None),
            Outcome {
                told: Ok(self.scored(&belief, member.noise_variance())),
                seconds: prepared.seconds + own,
                weights: None,
            },
        );
        self.parts(&prepared, rules, outcomes)?;
        Ok((prepared, member, own))
    }

    fn parts(
        &self,
        prepared: &Prepared,
        rules: &[&'static Rule],
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        if rules.is_empty() {
            return Ok(());
        }
        let clock = self.fold.clock;
        let name = prepared.kind.name;
        let recipe = &*prepared.recipe;
        let parts = makers::parts(self.train.rows(), self.fold.parts, self.fold.seed);
        let needs = |wanted: Needs| rules.iter().any(|rule| rule.needs == wanted);
        let start = clock();
        let council = Council::of_one_kind(self.fit_all(recipe, &parts)?);
        let fitting = prepared.seconds + clock() - start;
        let start = clock();
        let seats: Vec<(&dyn Recipe, &[usize])> =
            parts.iter().map(|part| (recipe, part.as_slice())).collect();
        let record = needs(Needs::Record)
            .then(|| out_of_fold(&seats, &self.train, self.fold.seed, self.fold.watch))
            .transpose()?;
        let recording = clock() - start;
        let shared: Vec<&'static Rule> = rules
            .iter()
            .copied()
            .filter(|rule| rule.needs != Needs::Base)
            .collect();
        self.fuse_all(
            (name, &council, record.as_ref()),
            &part_names(parts.len()),
            &shared,
            (fitting, recording),
            outcomes,
        )?;
        if needs(Needs::Base) && parts.len() > 1 {
            // The first part is what the members share; the others see it beside their own.
            let start = clock();
            let shared = &parts[0];
            let augmented: Vec<Vec<usize>> = parts[1..]
                .iter()
                .map(|own| shared.iter().chain(own).copied().collect())
                .collect();
            let base = recipe.fit(&self.train.select(shared))?;
            let council = Council::of_one_kind(self.fit_all(recipe, &augmented)?).with_base(base);
            let fitting = prepared.seconds + clock() - start;
            let rules: Vec<&'static Rule> = rules
                .iter()
                .copied()
                .filter(|rule| rule.needs == Needs::Base)
                .collect();
            let names = part_names(augmented.len());
            self.fuse_all(
                (name, &council, None),
                &names,
                &rules,
                (fitting, 0.0),
                outcomes,
            )?;
        }
        Ok(())
    }

    /// One member of each kind, all on the same rows.
    fn mixed(
        &self,
        singles: Vec<(Prepared, Box<dyn Member>, f64)>,
        rules: &[&'static Rule],
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        if rules.is_empty() || singles.len() < 2 {
            return Ok(());
        }
        let clock = self.fold.clock;
        let seconds: f64 = singles.iter().map(|(p, _, own)| p.seconds + own).sum();
        let all: Vec<usize> = (0..self.train.rows()).collect();
        let start = clock();
        let seats: Vec<(&dyn Recipe, &[usize])> = singles
            .iter()
            .map(|(prepared, _, _)| (&*prepared.recipe, all.as_slice()))
            .collect();
        let record = rules
            .iter()
            .any(|rule| rule.needs == Needs::Record)
            .then(|| out_of_fold(&seats, &self.train, self.fold.seed, self.fold.watch))
            .transpose()?;
        let recording = clock() - start;
        let (plain, weighed): (Vec<&'static Rule>, Vec<&'static Rule>) =
            rules.iter().partition(|rule| rule.needs != Needs::Evidence);
        let names = singles.iter().map(|(own, _, _)| own.kind.name.to_owned());
        let names: Vec<String> = names.collect();
        let members = singles.into_iter().map(|(_, member, _)| member).collect();
        let council = Council::of_many_kinds(members);
        self.fuse_all(
            ("all", &council, record.as_ref()),
            &names,
            &plain,
            (seconds, recording),
            outcomes,
        )?;
        if weighed.is_empty() {
            return Ok(());
        }
        // Only members that say how likely the rows are can be weighed by that.
        let members = council.into_members().into_iter().zip(names);
        let (members, names): (Vec<Box<dyn Member>>, Vec<String>) = members
            .filter(|(member, _)| member.log_evidence().is_some())
            .unzip();
        let count = members.len();
        let record = Record::of_evidence(members.iter().map(|m| m.log_evidence()).collect());
        if count == 0 {
            return Err(Error::Spec("no member has an evidence".into()));
        }
        let council = Council::of_many_kinds(members);
        self.fuse_all(
            ("all", &council, Some(&record)),
            &names,
            &weighed,
            (seconds, 0.0),
            outcomes,
        )
    }

    fn fit_all(&self, recipe: &dyn Recipe, parts: &[Vec<usize>]) -> Result<Vec<Box<dyn Member>>> {
        parts
            .par_iter()
            .map(|part| recipe.fit(&self.train.select(part)))
            .collect()
    }

    /// Asks a council once and fuses what it said by every rule.
    fn fuse_all(
        &self,
        (name, council, record): (&'static str, &Council, Option<&Record>),
        members: &[String],
        rules: &[&'static Rule],
        (fitting, recording): (f64, f64),
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        let clock = self.fold.clock;
        let start = clock();
        let said = council.ask(self.test.inputs(), false)?;
        let asking = clock() - start;
        for rule in rules {
            self.fold.watch.check()?;
            let start = clock();
            let fused = self.fused(rule, council, &said, record);
            let mut seconds = fitting + asking + clock() - start;
            if rule.fusion.needs_record() {
                seconds += recording;
            }
            let (told, weights) = match fused {
                Ok((belief, weights)) => (
                    Ok(self.scored(&belief, council.noise())),
                    weights.map(|own| named(members, &own)),
                ),
                Err(error) => (Err(error.to_string()), None),
            };
            outcomes.insert(
                (name, false, Some(rule.name)),
                Outcome {
                    told,
                    seconds,
                    weights,
                },
            );
        }
        Ok(())
    }

    /// What a council says under a rule, and the weights that the rule found for its members.
    fn fused(
        &self,
        rule: &Rule,
        council: &Council,
        said: &crate::ensemble::Said,
        record: Option<&Record>,
    ) -> Result<(Marginals, Option<Vec<f64>>)> {
        let learned = match (rule.fusion.needs_record(), record) {
            (true, Some(record)) => Some(rule.fusion.learn(record)?),
            _ => None,
        };
        let belief = if rule.needs == Needs::Process {
            let said = council.ask(self.test.inputs(), true)?;
            said.fuse(&rule.fusion, learned.as_ref())?
        } else {
            said.fuse(&rule.fusion, learned.as_ref())?
        };
        let weights = learned.filter(|_| rule.fusion.has_weights());
        Ok((belief, weights.map(|learned| learned.weights)))
    }

    /// The rows of the test table with what was believed about them, scaling undone and noise added.
    fn scored(&self, belief: &Marginals, noise: f64) -> Vec<Scored> {
        let scale = self.schema.target_scale();
        self.test
            .members()
            .iter()
            .map(|row| Scored {
                target: scale.undo(row.target),
                mean: scale.undo(belief.mean[(row.group, 0)]),
                variance: (belief.variance[(row.group, 0)] + noise) * scale.deviation.powi(2),
                weight: row.weight,
            })
            .collect()
    }
}
