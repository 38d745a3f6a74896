//! A committee about numbers: from seats and a rule to members that answer together.

use quorate_gp::data::{Dataset, Schema};
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::makers::parts;
use super::seats::{MakerChoice, Seat, Share};
use super::{Committee, CommitteeSpec, Council, boost_numbers, out_of_fold_of};
use crate::error::{Error, Result};
use crate::fusion::{Learned, Needs, RULES, Record, Rule, rule};
use crate::member::{Member, Recipe};
use crate::score::{ScoreSum, Scores, Yardstick};

/// Members whose answers about rows they have not seen are held at the same time.
const TOGETHER: usize = 8;

/// Recipes with their names.
pub type Recipes = [(String, Box<dyn Recipe>)];

/// The rule that a specification asks for.
pub fn chosen_rule(spec: &CommitteeSpec) -> Result<&'static Rule> {
    let name = spec.rule_name(false);
    let found = rule(name)
        .ok_or_else(|| crate::compare::unknown("rule", name, RULES.iter().map(|rule| rule.name)))?;
    let is_boosted = spec.maker == MakerChoice::Boost;
    if is_boosted && (name != "median" || spec.members.len() > 1) {
        return Err(Error::Spec(
            "boosted numbers need members of one kind and the rule `median`".into(),
        ));
    }
    let needs_parts = found.needs == Needs::Base && spec.maker != MakerChoice::Parts;
    let needs_all = found.needs == Needs::Evidence && spec.maker != MakerChoice::All;
    if needs_parts || needs_all {
        let maker = if needs_parts { "parts" } else { "all" };
        return Err(Error::Spec(format!(
            "the rule `{name}` needs the maker `{maker}`"
        )));
    }
    if found.needs == Needs::Process && spec.members.iter().any(|member| member != "gp") {
        return Err(Error::Spec(format!(
            "the rule `{name}` needs members of one Gaussian process: members `gp` alone"
        )));
    }
    Ok(found)
}

/// Fits the members and finds out what the rule asks for; also the position of each member's recipe.
pub fn fit(
    spec: &CommitteeSpec,
    rule: &Rule,
    recipes: &Recipes,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Committee, Vec<Seat>)> {
    let mut seats = spec.making(data.rows()).seats(recipes.len(), data);
    let mut base = None;
    if rule.needs == Needs::Base {
        // The first part is what the members share; the others see it beside their own.
        let own = parts(data.rows(), seats.len().max(2), spec.seed);
        let shared = own.first().cloned().unwrap_or_default();
        if own.len() < 2 {
            return Err(Error::Spec(
                "this rule needs two parts at least, one of them for all members".into(),
            ));
        }
        base = Some(recipes[0].1.fit(&data.select(&shared))?);
        let further = own[1..].iter().enumerate();
        seats = further
            .map(|(place, own)| Seat {
                recipe: place % recipes.len(),
                share: Share::Rows(shared.iter().chain(own).copied().collect()),
            })
            .collect();
    }
    if spec.maker == MakerChoice::Filter {
        return Err(Error::Spec(
            "boosting by filtering needs right and wrong: the maker `filter` is for classes".into(),
        ));
    }
    if spec.maker == MakerChoice::Boost {
        let rounds = spec.making(data.rows()).count;
        let (recipe, all) = (&*recipes[0].1, (0..data.rows()).collect::<Vec<usize>>());
        let (members, weights) = boost_numbers(recipe, data, rounds, spec.seed, watch)?;
        let count = members.len();
        let learned = Learned {
            weights,
            correlation: Matrix::from_fn(count, count, |_, _| 1.0),
        };
        let seats = (0..count).map(|_| Seat {
            recipe: 0,
            share: Share::Rows(all.clone()),
        });
        let council = council_of(members, false);
        let seats = seats.collect();
        return Ok((Committee::new(council, rule.fusion, Some(learned)), seats));
    }
    watch.check()?;
    watch.progress("fitting members", 0, seats.len());
    let members: Vec<Box<dyn Member>> = seats
        .par_iter()
        .map(|seat| {
            watch.check()?;
            recipes[seat.recipe]
                .1
                .fit(&seat.share.of(data, None, |_| true)?)
        })
        .collect::<Result<_>>()?;
    watch.progress("fitting members", seats.len(), seats.len());
    let learned = match rule.fusion.needs_record() {
        false => None,
        true if rule.needs == Needs::Evidence => {
            let each = members.iter().map(|member| member.log_evidence()).collect();
            Some(rule.fusion.learn(&Record::of_evidence(each))?)
        }
        true => {
            let asked: Vec<(&dyn Recipe, &Share)> = seats
                .iter()
                .map(|seat| (&*recipes[seat.recipe].1, &seat.share))
                .collect();
            let record = out_of_fold_of(&asked, data, spec.seed, watch)?;
            Some(rule.fusion.learn(&record)?)
        }
    };
    let council = council_of(members, recipes.len() > 1);
    let council = match base {
        Some(base) => council.with_base(base),
        None => council,
    };
    Ok((Committee::new(council, rule.fusion, learned), seats))
}

/// A council of members of one kind or of several.
pub fn council_of(members: Vec<Box<dyn Member>>, of_many_kinds: bool) -> Council {
    match of_many_kinds {
        true => Council::of_many_kinds(members),
        false => Council::of_one_kind(members),
    }
}

/// Scores of rows predicted by the members that have not seen them (Breiman 1996, *Out-of-bag estimation*), as a mixture of
/// those; none where every row was seen by all.
pub fn out_of_bag(
    committee: &Committee,
    seats: &[Seat],
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Option<Scores>> {
    let mut sums = vec![(0.0, 0.0, 0.0); data.rows()];
    let members = committee.council().members();
    let pairs: Vec<(&Box<dyn Member>, &Seat)> = members.iter().zip(seats).collect();
    for some in pairs.chunks(TOGETHER) {
        watch.check()?;
        let answers: Vec<Vec<(usize, f64, f64)>> = some
            .par_iter()
            .map(|(member, seat)| {
                let unseen = seat.share.unseen(data)?;
                let asked: Vec<usize> = (0..data.rows()).filter(|&row| unseen[row]).collect();
                if asked.is_empty() {
                    return Ok(Vec::new());
                }
                let questions = data.select(&asked);
                let belief = member.marginals(questions.inputs())?;
                let each = asked.iter().enumerate();
                let each = each.map(|(place, &row)| {
                    (row, belief.mean[(place, 0)], belief.variance[(place, 0)])
                });
                Ok(each.collect())
            })
            .collect::<Result<_>>()?;
        for (row, mean, variance) in answers.into_iter().flatten() {
            sums[row].0 += 1.0;
            sums[row].1 += mean;
            sums[row].2 += variance + mean * mean;
        }
    }
    let scale = schema.target_scale();
    let noise = committee.council().noise();
    let mut score = ScoreSum::new(Yardstick::from(schema));
    for member in data.members() {
        let (count, mean, square) = sums[member.group];
        if count > 0.0 {
            let mean = mean / count;
            let variance = (square / count - mean * mean).max(0.0) + noise;
            score.add(
                scale.undo(member.target),
                scale.undo(mean),
                variance * scale.deviation.powi(2),
                member.weight,
            );
        }
    }
    let is_any = sums.iter().any(|sum| sum.0 > 0.0);
    is_any.then(|| score.scores()).transpose()
}
