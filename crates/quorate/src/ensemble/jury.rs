//! A committee about classes.

use quorate_gp::data::{Classes, Dataset, Inputs};
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::CommitteeSpec;
use super::out_of_fold::{FOLDS, folds};
use super::seats::{MakerChoice, Seat, Share};
use super::{boost_classes, filter_classes};
use crate::classifier::{ClassRecipe, Classifier, shares};
use crate::error::{Error, Result};
use crate::fusion::{CLASS_RULES, ClassFusion, ClassRecord, ClassRule, class_rule};
use crate::score::{ClassScores, ClassSum};

/// Members whose answers about rows they have not seen are held at the same time.
const TOGETHER: usize = 8;

/// Recipes with their names.
pub type ClassRecipes = [(String, Box<dyn ClassRecipe>)];

/// Members that tell classes apart, and the rule by which they answer together.
pub struct Jury {
    members: Vec<Box<dyn Classifier>>,
    fusion: ClassFusion,
    shares: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Jury {
    /// Members under a rule; `shares` are those of the classes in the training rows, weights those that the rule found.
    pub fn new(
        members: Vec<Box<dyn Classifier>>,
        fusion: ClassFusion,
        shares: Vec<f64>,
        weights: Option<Vec<f64>>,
    ) -> Self {
        Self {
            members,
            fusion,
            shares,
            weights,
        }
    }

    /// Its members.
    pub fn members(&self) -> &[Box<dyn Classifier>] {
        &self.members
    }

    /// How they answer together.
    pub fn fusion(&self) -> ClassFusion {
        self.fusion
    }

    /// Weights that the rule found.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// What each member says.
    pub fn ask(&self, query: Inputs<'_>) -> Result<Vec<Matrix>> {
        let members = self.members.par_iter();
        members.map(|member| member.probabilities(query)).collect()
    }

    /// Probability of each class at each query.
    pub fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let said = self.ask(query)?;
        self.fusion
            .combine(&said, &self.shares, self.weights.as_deref())
    }
}

/// The rule that a specification asks for.
pub fn chosen_rule(spec: &CommitteeSpec) -> Result<&'static ClassRule> {
    let name = spec.rule_name(true);
    let found = class_rule(name).ok_or_else(|| {
        crate::compare::unknown("rule", name, CLASS_RULES.iter().map(|rule| rule.name))
    })?;
    let usual = match spec.maker {
        MakerChoice::Boost => "weighted-vote",
        MakerChoice::Filter => "majority",
        _ => name,
    };
    if name != usual || (spec.members.len() > 1 && spec.maker.is_successive()) {
        return Err(Error::Spec(format!(
            "boosted classes need members of one kind and the rule `{usual}`"
        )));
    }
    Ok(found)
}

/// Fits the members and finds out what the rule asks for; also who sits where.
pub fn fit(
    spec: &CommitteeSpec,
    rule: &ClassRule,
    recipes: &ClassRecipes,
    classes: &Classes,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Jury, Vec<Seat>)> {
    let making = spec.making(data.rows());
    let boosted = match spec.maker {
        MakerChoice::Boost => {
            let recipe = &*recipes[0].1;
            Some(boost_classes(recipe, classes, data, making.count, watch)?)
        }
        MakerChoice::Filter => {
            let recipe = &*recipes[0].1;
            Some(filter_classes(recipe, classes, data, spec.seed, watch)?)
        }
        _ => None,
    };
    if let Some((members, votes)) = boosted {
        let all: Vec<usize> = (0..data.rows()).collect();
        let seats = members.iter().map(|_| Seat {
            recipe: 0,
            share: Share::Rows(all.clone()),
        });
        let seats = seats.collect();
        let shares = classes.shares().to_vec();
        return Ok((Jury::new(members, rule.fusion, shares, Some(votes)), seats));
    }
    let seats = making.seats(recipes.len(), data);
    watch.check()?;
    watch.progress("fitting members", 0, seats.len());
    let members: Vec<Box<dyn Classifier>> = seats
        .par_iter()
        .map(|seat| {
            watch.check()?;
            let rows = seat.share.of(data, Some(classes), |_| true)?;
            recipes[seat.recipe].1.fit(&rows)
        })
        .collect::<Result<_>>()?;
    watch.progress("fitting members", seats.len(), seats.len());
    let weights = match rule.needs_record {
        true => {
            let asked: Vec<(&dyn ClassRecipe, &Share)> = seats
                .iter()
                .map(|seat| (&*recipes[seat.recipe].1, &seat.share))
                .collect();
            let record = record_of(&asked, classes, data, spec.seed, watch)?;
            rule.fusion.learn(&record)?
        }
        false => None,
    };
    let jury = Jury::new(members, rule.fusion, classes.shares().to_vec(), weights);
    Ok((jury, seats))
}

/// Fits each member to its rows without one fold and asks about that fold, for each fold.
pub fn record_of(
    seats: &[(&dyn ClassRecipe, &Share)],
    classes: &Classes,
    data: &Dataset,
    seed: u64,
    watch: &dyn Watch,
) -> Result<ClassRecord> {
    let (rows, count) = (data.rows(), classes.count());
    let fold_of = folds(rows, seed);
    let mut said = vec![Matrix::zeros(rows, count); seats.len()];
    for fold in 0..FOLDS {
        watch.check()?;
        let asked: Vec<usize> = (0..rows).filter(|&row| fold_of[row] == fold).collect();
        if asked.is_empty() {
            continue;
        }
        let questions = data.select(&asked);
        let answers: Vec<Matrix> = seats
            .par_iter()
            .map(|(recipe, share)| {
                let rows = share.of(data, Some(classes), |row| fold_of[row] != fold)?;
                recipe.fit(&rows)?.probabilities(questions.inputs())
            })
            .collect::<Result<_>>()?;
        for (own, answer) in said.iter_mut().zip(&answers) {
            for (place, &row) in asked.iter().enumerate() {
                for class in 0..count {
                    own[(row, class)] = answer[(place, class)];
                }
            }
        }
    }
    let told = shares(classes, data);
    Ok(ClassRecord {
        shares: Matrix::from_fn(rows, count, |row, class| told[row * count + class]),
        weights: data.weights().to_vec(),
        said,
    })
}

/// Scores of rows judged by the members that have not seen them, by the mean of their probabilities; none where every row was
/// seen by all.
pub fn out_of_bag(
    jury: &Jury,
    seats: &[Seat],
    classes: &Classes,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Option<ClassScores>> {
    let count = classes.count();
    let mut sums = Matrix::zeros(data.rows(), count);
    let mut judges = vec![0.0; data.rows()];
    let pairs: Vec<(&Box<dyn Classifier>, &Seat)> = jury.members().iter().zip(seats).collect();
    for some in pairs.chunks(TOGETHER) {
        watch.check()?;
        let answers: Vec<(Vec<usize>, Matrix)> = some
            .par_iter()
            .map(|(member, seat)| {
                let unseen = seat.share.unseen(data)?;
                let asked: Vec<usize> = (0..data.rows()).filter(|&row| unseen[row]).collect();
                if asked.is_empty() {
                    return Ok((asked, Matrix::zeros(0, count)));
                }
                let questions = data.select(&asked);
                let found = member.probabilities(questions.inputs())?;
                Ok((asked, found))
            })
            .collect::<Result<_>>()?;
        for (asked, found) in answers {
            for (place, &row) in asked.iter().enumerate() {
                judges[row] += 1.0;
                for class in 0..count {
                    sums[(row, class)] += found[(place, class)];
                }
            }
        }
    }
    let scales = classes.scales();
    let mut score = ClassSum::new(count);
    for (place, member) in data.members().iter().enumerate() {
        let row = member.group;
        if judges[row] > 0.0 {
            let own: Vec<f64> = data.own_targets(place).collect();
            let means: Vec<f64> = (0..count).map(|c| sums[(row, c)] / judges[row]).collect();
            score.add(classes.class_of(&own, &scales), &means, member.weight);
        }
    }
    let is_any = judges.iter().any(|count| *count > 0.0);
    is_any.then(|| score.scores()).transpose()
}
