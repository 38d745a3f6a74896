//! The comparison where the target is a count, an amount or a lifetime: members speak of the latent function, their opinions are
//! fused there, and one likelihood makes targets of it.

use std::collections::BTreeMap;

use quorate_gp::data::{Dataset, Frame, Quantity, QuantityCode, Schema, TargetKind};
use quorate_gp::gaussian::Marginals;
use quorate_gp::likelihood::Likelihood;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::fold::{Clock, Fold};
use super::tally::{Key, Outcome, Tally};
use super::weights::named;
use super::{CompareSpec, Comparison, Cut, Entry, Maker};
use crate::ensemble::{Council, Said, makers};
use crate::error::{Error, Result};
use crate::fusion::{Needs, Record, Rule};
use crate::latent::sighting;
use crate::member::{LatentKind, LatentRecipe, Member, Recipe, Setting, likelihood_of_counts};
use crate::score::QuantitySum;
use crate::task::{LikelihoodChoice, QuantityPrediction, Scorecard, Through};

/// The entries that a choice of kinds and rules gives. Rules that look at errors of rows left out do not apply: nobody has seen
/// the latent function.
pub fn quantity_entries(kinds: &[&'static LatentKind], rules: &[&'static Rule]) -> Vec<Entry> {
    let entry = |member, maker, rule| Entry {
        member,
        maker,
        rule,
    };
    let mut entries = Vec::new();
    for kind in kinds {
        entries.push(entry(kind.name, Maker::Alone, None));
        let own = rules.iter().filter(|rule| of_parts(rule));
        entries.extend(own.map(|rule| entry(kind.name, Maker::Parts, Some(rule.name))));
    }
    if kinds.len() > 1 {
        let mixed = rules.iter().filter(|rule| of_kinds(rule));
        entries.extend(mixed.map(|rule| entry("all", Maker::Mixed, Some(rule.name))));
    }
    entries
}

/// Whether a rule fuses opinions about a latent function of members on parts.
fn of_parts(rule: &Rule) -> bool {
    rule.needs == Needs::Opinions || rule.needs == Needs::Base
}

/// The same of members of different kinds, which can be weighed by their evidence too: it is of the same rows.
fn of_kinds(rule: &Rule) -> bool {
    rule.needs == Needs::Opinions || rule.needs == Needs::Evidence
}

/// What is believed of the rows of a fold, and what makes targets of it.
type Told = (Marginals, Through);
type Outcomes = BTreeMap<Key, Outcome<Told>>;

pub fn compare(
    spec: &CompareSpec,
    table: &Frame,
    mut cut: Cut,
    clock: Clock<'_>,
    watch: &dyn Watch,
) -> Result<Comparison> {
    let (kinds, rules) = (spec.latent_kinds()?, spec.latent_rules()?);
    let entries = quantity_entries(&kinds, &rules);
    let mut tally = Tally::new(entries, QuantitySum::default());
    let (likelihood, remark) = likelihood(spec, &kinds, &cut.schema, table, watch)?;
    cut.notes.extend(remark);
    for number in 0..cut.folds {
        watch.check()?;
        watch.progress("comparing", number, cut.folds);
        let fold = cut.fold(number, spec, table, clock, watch);
        let kind = TargetKind::Quantity(code(&cut.schema)?.quantity);
        let (schema, _) = Schema::learn_as(kind, &fold.train, &fold.roles)?;
        let ready = Ready {
            train: schema.training_data(&fold.train)?,
            test: schema.training_data(&fold.test)?,
            schema,
            likelihood,
            fold: &fold,
        };
        let mut found = ready.run(&kinds, &rules)?;
        tally.add(
            |key| found.remove(&key),
            |(belief, through), sum| ready.score(&belief, through, sum),
        )?;
    }
    watch.progress("comparing", cut.folds, cut.folds);
    let lines = tally.lines(|sum| Ok(Scorecard::Quantity(sum.scores()?)))?;
    Ok(cut.ranked(table, lines))
}

fn code(schema: &Schema) -> Result<&QuantityCode> {
    (schema.target().quantity())
        .ok_or_else(|| Error::Spec("the target reaches the function through no likelihood".into()))
}

/// The likelihood that was asked for, or the one that suits the rows: of counts by the evidence of the members.
fn likelihood(
    spec: &CompareSpec,
    kinds: &[&'static LatentKind],
    schema: &Schema,
    table: &Frame,
    watch: &dyn Watch,
) -> Result<(Likelihood, Option<String>)> {
    match (spec.likelihood, code(schema)?.quantity) {
        (LikelihoodChoice::Auto, Quantity::Count) => {}
        (LikelihoodChoice::Auto, _) => return Ok(("weibull".parse()?, None)),
        (given, _) => return Ok((given.to_string().parse()?, None)),
    }
    let rows = schema.training_data(table)?;
    let setting = Setting {
        columns: schema.columns(),
        seed: spec.seed,
        watch,
    };
    let (chosen, remark) = likelihood_of_counts(kinds, &setting, schema, &rows)?;
    Ok((chosen, Some(remark)))
}

/// Rows ready for the mathematics.
struct Ready<'a> {
    fold: &'a Fold<'a>,
    schema: Schema,
    train: Dataset,
    test: Dataset,
    likelihood: Likelihood,
}

/// A kind whose recipe is ready, with one member that saw all rows, and the seconds of both.
struct Single {
    name: &'static str,
    recipe: LatentRecipe,
    member: Box<dyn Member>,
    seconds: f64,
}

impl Ready<'_> {
    /// One fold: members fitted once, asked once, fused by every rule.
    fn run(&self, kinds: &[&'static LatentKind], rules: &[&'static Rule]) -> Result<Outcomes> {
        let mut outcomes = Outcomes::new();
        let mut singles = Vec::new();
        for kind in kinds {
            self.fold.watch.check()?;
            match self.kind(kind, rules, &mut outcomes) {
                Ok(single) => singles.push(single),
                Err(error) => {
                    self.fold.watch.check()?;
                    let problem = || Outcome {
                        told: Err(error.to_string()),
                        seconds: 0.0,
                        weights: None,
                    };
                    outcomes.insert((kind.name, true, None), problem());
                    for rule in rules {
                        outcomes.insert((kind.name, false, Some(rule.name)), problem());
                    }
                }
            }
        }
        if singles.len() > 1 {
            self.mixed(singles, rules, &mut outcomes)?;
        }
        Ok(outcomes)
    }

    /// One member alone, and committees of the kind on parts.
    fn kind(
        &self,
        kind: &'static LatentKind,
        rules: &[&'static Rule],
        outcomes: &mut Outcomes,
    ) -> Result<Single> {
        let clock = self.fold.clock;
        let setting = Setting {
            columns: self.schema.columns(),
            seed: self.fold.seed,
            watch: self.fold.watch,
        };
        let start = clock();
        let recipe = kind.prepare(&setting, &self.schema, self.likelihood, &self.train)?;
        let preparing = clock() - start;
        let start = clock();
        let member = recipe.fit(&self.train)?;
        let belief = member.marginals(self.test.inputs())?;
        let seconds = preparing + clock() - start;
        let alone = Outcome {
            told: Ok((belief, recipe.through())),
            seconds,
            weights: None,
        };
        outcomes.insert((kind.name, true, None), alone);
        let parts = makers::parts(self.train.rows(), self.fold.parts, self.fold.seed);
        let start = clock();
        let council = Council::of_one_kind(self.fit_all(&recipe, &parts)?);
        let said = council.ask(self.test.inputs(), false)?;
        let fitting = preparing + clock() - start;
        let own = |needs: Needs| {
            rules
                .iter()
                .copied()
                .filter(move |rule| rule.needs == needs)
        };
        for rule in own(Needs::Opinions) {
            let key = (kind.name, false, Some(rule.name));
            outcomes.insert(key, self.fused(rule, &said, None, &recipe, fitting));
        }
        if own(Needs::Base).next().is_some() && parts.len() > 1 {
            // The first part is what the members share; the others see it beside their own.
            let start = clock();
            let augmented: Vec<Vec<usize>> = parts[1..]
                .iter()
                .map(|own| parts[0].iter().chain(own).copied().collect())
                .collect();
            let base = recipe.fit(&self.train.select(&parts[0]))?;
            let council = Council::of_one_kind(self.fit_all(&recipe, &augmented)?).with_base(base);
            let said = council.ask(self.test.inputs(), false)?;
            let fitting = preparing + clock() - start;
            for rule in own(Needs::Base) {
                let key = (kind.name, false, Some(rule.name));
                outcomes.insert(key, self.fused(rule, &said, None, &recipe, fitting));
            }
        }
        Ok(Single {
            name: kind.name,
            recipe,
            member,
            seconds,
        })
    }

    /// One member of each kind, all on the same rows: every one of them around the level of the likeliest, whose dispersions make
    /// targets of what they say together.
    fn mixed(
        &self,
        singles: Vec<Single>,
        rules: &[&'static Rule],
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        let seconds = singles.iter().map(|single| single.seconds).sum();
        let names: Vec<String> = singles.iter().map(|own| own.name.to_owned()).collect();
        let likeliest = singles
            .iter()
            .max_by(|a, b| a.recipe.log_evidence().total_cmp(&b.recipe.log_evidence()))
            .ok_or_else(|| Error::Spec("no member could be fitted".into()))?;
        let recipe = likeliest.recipe.clone();
        let level = recipe.through().level;
        let shifts = singles.iter().map(|own| own.recipe.through().level - level);
        let shifts: Vec<f64> = shifts.collect();
        let members: Vec<Box<dyn Member>> = singles.into_iter().map(|own| own.member).collect();
        let record = Record::of_evidence(members.iter().map(|m| m.log_evidence()).collect());
        let council = Council::of_many_kinds(members);
        let said = council.ask(self.test.inputs(), false)?.shifted(&shifts);
        for rule in rules.iter().filter(|rule| of_kinds(rule)) {
            let record = (rule.needs == Needs::Evidence).then_some((&record, names.as_slice()));
            let key = ("all", false, Some(rule.name));
            outcomes.insert(key, self.fused(rule, &said, record, &recipe, seconds));
        }
        Ok(())
    }

    fn fit_all(&self, recipe: &LatentRecipe, parts: &[Vec<usize>]) -> Result<Vec<Box<dyn Member>>> {
        parts
            .par_iter()
            .map(|part| recipe.fit(&self.train.select(part)))
            .collect()
    }

    fn fused(
        &self,
        rule: &Rule,
        said: &Said,
        record: Option<(&Record, &[String])>,
        recipe: &LatentRecipe,
        fitting: f64,
    ) -> Outcome<Told> {
        let clock = self.fold.clock;
        let start = clock();
        let learned = record
            .map(|(record, _)| rule.fusion.learn(record))
            .transpose();
        let told = learned.and_then(|learned| {
            let belief = said.fuse(&rule.fusion, learned.as_ref())?;
            Ok((belief, learned))
        });
        let seconds = fitting + clock() - start;
        match told {
            Ok((belief, learned)) => Outcome {
                told: Ok((belief, recipe.through())),
                seconds,
                weights: learned
                    .zip(record)
                    .map(|(learned, (_, names))| named(names, &learned.weights)),
            },
            Err(error) => Outcome {
                told: Err(error.to_string()),
                seconds,
                weights: None,
            },
        }
    }

    /// Scores the rows of the fold.
    fn score(&self, belief: &Marginals, through: Through, sum: &mut QuantitySum) -> Result<()> {
        let code = code(&self.schema)?;
        let members = self.test.members();
        let seen: Vec<_> = (0..members.len())
            .map(|index| sighting(code, &self.test, index))
            .collect();
        let means = members.iter().zip(&seen).map(|(member, own)| {
            belief.mean[(member.group, 0)] + own.exposure.ln() + through.level
        });
        let prediction = QuantityPrediction {
            code: *code,
            likelihood: through.likelihood,
            latent_mean: means.collect(),
            latent_variance: (members.iter())
                .map(|member| belief.variance[(member.group, 0)])
                .collect(),
            notes: Vec::new(),
            draws: Vec::new(),
        };
        let weights: Vec<f64> = members.iter().map(|member| member.weight).collect();
        sum.add(&seen, &prediction, Some(&weights));
        Ok(())
    }
}
