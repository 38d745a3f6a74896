//! Members one after the other, of any kind: each listens to what the last got wrong.

use quorate_gp::data::{Classes, Dataset};
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use super::makers::{Bag, reweighted, shuffled};
use crate::classifier::{ClassRecipe, Classifier};
use crate::error::Result;
use crate::fusion::largest;
use crate::member::{Member, Recipe};

/// Members with the weight of each.
pub type Weighted<M> = (Vec<Box<M>>, Vec<f64>);

/// AdaBoost.R2 (Drucker 1997, *Improving regressors using boosting techniques*) with the linear loss.
///
/// Each member sees a bootstrap sample in which rows that the last were far from are likelier. With losses
/// `L_i = |e_i| / max |e|` and their mean `L` over the rows, `beta = L / (1 - L)`, probabilities are multiplied by
/// `beta^(1 - L_i)` and the member weighs `log 1 / beta` in the median. It ends early when `L` reaches one half.
pub fn boost_numbers(
    recipe: &dyn Recipe,
    data: &Dataset,
    rounds: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Weighted<dyn Member>> {
    let rows = data.members();
    let mut probabilities: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    let (mut members, mut weights) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        watch.check()?;
        watch.progress("boosting", round, rounds);
        let drawn = Bag::draw(data, seed.wrapping_add(round as u64), Some(&probabilities))?;
        // The probabilities hold the rows' weights already: every draw is one row.
        let shown = reweighted(data, |row| f64::from(drawn.counts[row]) / rows[row].weight)?;
        let member = recipe.fit(&shown)?;
        let belief = member.marginals(data.inputs())?;
        let errors: Vec<f64> = rows
            .iter()
            .map(|row| (row.target - belief.mean[(row.group, 0)]).abs())
            .collect();
        let most = errors.iter().copied().fold(0.0, f64::max);
        let total: f64 = probabilities.iter().sum();
        let pairs = errors.iter().zip(&probabilities);
        let loss: f64 = pairs
            .map(|(e, p)| p / total * e / most.max(f64::MIN_POSITIVE))
            .sum();
        if most <= 0.0 {
            members.push(member);
            weights.push(1.0);
            break;
        }
        if loss >= 0.5 {
            // The first member speaks even if it knows nothing.
            if members.is_empty() {
                members.push(member);
                weights.push(1.0);
            }
            break;
        }
        let beta = loss / (1.0 - loss);
        for (probability, error) in probabilities.iter_mut().zip(&errors) {
            *probability *= beta.powf(1.0 - error / most) / total;
        }
        members.push(member);
        weights.push(-beta.ln());
    }
    Ok((members, weights))
}

/// The class of each row of a table.
fn codes(classes: &Classes, data: &Dataset) -> Vec<usize> {
    let scales = classes.scales();
    let rows = 0..data.members().len();
    rows.map(|row| {
        let own: Vec<f64> = data.own_targets(row).collect();
        classes.class_of(&own, &scales)
    })
    .collect()
}

/// Whether a member is wrong about each row of a table.
fn mistakes(member: &dyn Classifier, data: &Dataset, codes: &[usize]) -> Result<Vec<bool>> {
    let found = member.probabilities(data.inputs())?;
    let rows = data.members().iter().zip(codes);
    Ok(rows
        .map(|(row, code)| decision(&found, row.group) != *code)
        .collect())
}

fn decision(found: &Matrix, row: usize) -> usize {
    let own: Vec<f64> = (0..found.ncols())
        .map(|class| found[(row, class)])
        .collect();
    largest(&own).unwrap_or(0)
}

/// AdaBoost by reweighting (Freund and Schapire 1997; for several classes Zhu, Zou, Rosset and Hastie 2009): what a member is
/// wrong about weighs `beta` times more for the next, and the member `log beta` in the vote.
pub fn boost_classes(
    recipe: &dyn ClassRecipe,
    classes: &Classes,
    data: &Dataset,
    rounds: usize,
    watch: &dyn Watch,
) -> Result<Weighted<dyn Classifier>> {
    let codes = codes(classes, data);
    let mut factors = vec![1.0; codes.len()];
    let (mut members, mut votes) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        watch.check()?;
        watch.progress("boosting", round, rounds);
        let member = recipe.fit(&reweighted(data, |row| factors[row])?)?;
        let wrong = mistakes(&*member, data, &codes)?;
        let weight = |row: usize| data.members()[row].weight * factors[row];
        let total: f64 = (0..codes.len()).map(weight).sum();
        let lost: f64 = (0..codes.len()).filter(|&row| wrong[row]).map(weight).sum();
        let error = lost / total;
        let chance = 1.0 - 1.0 / classes.count() as f64;
        if error <= 0.0 || error >= chance {
            // One without an error is right about everything; one no better than chance speaks only if nobody else does.
            if error <= 0.0 || members.is_empty() {
                members.push(member);
                votes.push(1.0);
            }
            break;
        }
        let vote = ((1.0 - error) / error).ln() + (classes.count() as f64 - 1.0).ln();
        for (factor, wrong) in factors.iter_mut().zip(&wrong) {
            if *wrong {
                *factor *= vote.exp();
            }
        }
        let heard = data.members().iter().zip(&factors);
        let heard: f64 = heard.map(|(row, factor)| row.weight * factor).sum();
        let mean = heard / data.total_weight();
        factors.iter_mut().for_each(|factor| *factor /= mean);
        members.push(member);
        votes.push(vote);
    }
    Ok((members, votes))
}

/// Boosting by filtering (Schapire 1990; Tresp 2001, *Committee Machines*, 2.4): three members, each on a third of the rows or
/// what is left of it. The second sees rows of which the first got half wrong, the third those about which the two
/// disagree; one vote each. Rows play the oracle, so that there may be too few: then a member sees those there are.
pub fn filter_classes(
    recipe: &dyn ClassRecipe,
    classes: &Classes,
    data: &Dataset,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Weighted<dyn Classifier>> {
    let codes = codes(classes, data);
    let order = shuffled(codes.len(), seed);
    let size = (codes.len() / 3).max(1);
    let only = |rows: &[usize]| {
        let mut shown = vec![false; codes.len()];
        rows.iter().for_each(|&row| shown[row] = true);
        reweighted(data, |row| f64::from(u8::from(shown[row])))
    };
    watch.check()?;
    let first = recipe.fit(&only(&order[..size])?)?;
    let wrong = mistakes(&*first, data, &codes)?;
    // A fair coin says whether the next row shall be a right or a wrong one.
    let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x636f_696e);
    let mut left = order[size..].iter().copied();
    let mut half = Vec::new();
    while half.len() < size {
        let wanted = random.next_u64() & 1 == 1;
        match left.by_ref().find(|&row| wrong[row] == wanted) {
            Some(row) => half.push(row),
            None => break,
        }
    }
    watch.check()?;
    let shown = if half.is_empty() {
        &order[size..]
    } else {
        &half
    };
    let shown = if shown.is_empty() { &order[..] } else { shown };
    let second = recipe.fit(&only(shown)?)?;
    let (one, two) = (
        first.probabilities(data.inputs())?,
        second.probabilities(data.inputs())?,
    );
    let members = data.members();
    let disputed: Vec<usize> = order
        .iter()
        .copied()
        .filter(|&row| {
            let group = members[row].group;
            decision(&one, group) != decision(&two, group)
        })
        .take(size)
        .collect();
    watch.check()?;
    let mut all = vec![first, second];
    if !disputed.is_empty() {
        all.push(recipe.fit(&only(&disputed)?)?);
    }
    let votes = vec![1.0; all.len()];
    Ok((all, votes))
}

/// Gentle AdaBoost (Friedman, Hastie and Tibshirani 2000) of regressions on +1 and -1 for two classes, as the generalised
/// committee machine has it (Tresp 2000, sec. 6.9): rows weigh `w = exp(-y F)`, which for a Gaussian process is the noise
/// `sigma^2 / w`, with w normalised to the mean 1; the outputs of the members add up to F, whose sign decides.
///
/// `signs` is +1 or -1 for each row of the table. Returns the members.
pub fn gentle_boost(
    recipe: &dyn Recipe,
    data: &Dataset,
    signs: &[f64],
    rounds: usize,
    watch: &dyn Watch,
) -> Result<Vec<Box<dyn Member>>> {
    let rows = data.members();
    let mut sums = vec![0.0; rows.len()];
    let mut members = Vec::new();
    for round in 0..rounds {
        watch.check()?;
        watch.progress("boosting", round, rounds);
        let pairs = sums.iter().zip(signs);
        let raw: Vec<f64> = pairs.map(|(sum, sign)| (-sign * sum).exp()).collect();
        let mean = raw.iter().sum::<f64>() / raw.len().max(1) as f64;
        let shown = super::makers::changed(
            data,
            |row| raw[row] / mean,
            |row, target| {
                target[0] = signs[row];
            },
        )?;
        let member = recipe.fit(&shown)?;
        let belief = member.marginals(data.inputs())?;
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum += belief.mean[(row.group, 0)];
        }
        members.push(member);
    }
    Ok(members)
}
