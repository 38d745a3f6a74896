//! Scores of training rows that were predicted without having been seen, and what is learned from them.

use quorate_gp::data::{Classes, Dataset, Member, Scale, Schema, TargetCode};
use quorate_gp::gaussian::Marginals;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::posterior::LeaveOneOut;

use super::link::{Judgement, Link};
use super::reading::class_answer;
use super::scorecard::{Scorecard, TargetScores};
use crate::error::Result;
use crate::score::{ClassSum, Yardstick, leave_one_out_scores};

/// What rows say that were not seen.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// How good the answers are.
    pub scores: Scorecard,
    /// What makes probabilities of the answers about classes.
    pub link: Option<Link>,
}

/// Judges answers about rows that were left out one at a time.
pub(crate) fn judge_left_out(
    schema: &Schema,
    members: &[Member],
    answers: &LeaveOneOut,
) -> Result<Judged> {
    let scales = schema.target_scales();
    match schema.target() {
        TargetCode::Number(_) => {
            let scores = leave_one_out_scores(members, answers, schema.into())?;
            Ok(Judged {
                scores: Scorecard::Number(scores),
                link: None,
            })
        }
        TargetCode::Numbers(_) => {
            let mut each = Vec::new();
            for (output, target) in schema.roles().targets().enumerate() {
                let own = answers.of_output(output, scales.len());
                let yardstick = Yardstick::from(&scales[output]);
                each.push(TargetScores {
                    target: target.to_owned(),
                    scores: leave_one_out_scores(members, &own, yardstick)?,
                });
            }
            Ok(Judged {
                scores: Scorecard::of_targets(each),
                link: None,
            })
        }
        TargetCode::Classes(classes) => judge_classes(classes, scales, members, answers),
    }
}

/// Judges answers about rows that were held out together.
pub(crate) fn judge_held_out(
    schema: &Schema,
    held: &Dataset,
    answers: &Marginals,
    noise: GaussianNoise,
) -> Result<Judged> {
    let mut each = LeaveOneOut::default();
    for (index, member) in held.members().iter().enumerate() {
        let group = member.group;
        for (output, target) in held.own_targets(index).enumerate() {
            each.target.push(target);
            each.mean.push(answers.mean[(group, output)]);
        }
        each.variance.push(answers.variance[(group, 0)]);
        each.noise.push(noise.variance + held.known_noise()[group]);
    }
    judge_left_out(schema, held.members(), &each)
}

/// The temperature comes from all rows; each half of them is scored with that of the other half.
fn judge_classes(
    classes: &Classes,
    scales: &[Scale],
    members: &[Member],
    answers: &LeaveOneOut,
) -> Result<Judged> {
    let outputs = scales.len();
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); members.len()];
    let mut rows: Vec<Judgement<'_>> = Vec::with_capacity(members.len());
    for (row, (own, member)) in means.iter_mut().zip(members).enumerate() {
        let range = row * outputs..(row + 1) * outputs;
        let class = classes.class_of(&answers.target[range.clone()], scales);
        let told = answers.mean[range].iter().copied();
        let variance = answers.variance[row] + answers.noise[row];
        let answer = class_answer(classes, scales, told, variance, own);
        rows.push((answer, class, member.weight));
    }
    let half = |first: usize| -> Vec<_> { rows.iter().skip(first).step_by(2).copied().collect() };
    let halves = [half(0), half(1)];
    let mut sum = ClassSum::new(classes.count());
    for (own, other) in [(0, 1), (1, 0)] {
        let link = Link::fit(&halves[other]);
        for (answer, class, weight) in &halves[own] {
            let mut probabilities = Vec::with_capacity(classes.count());
            link.probabilities(*answer, &mut probabilities);
            sum.add(*class, &probabilities, *weight);
        }
    }
    Ok(Judged {
        scores: Scorecard::Classes(sum.scores()?),
        link: Some(Link::fit(&rows)),
    })
}
