//! Scores of training rows that were predicted without having been seen, and what is learned from them.

use quorate_gp::data::{Classes, Dataset, Member, Scale, Schema, TargetCode};
use quorate_gp::gaussian::Marginals;
use quorate_gp::likelihood::{GaussianNoise, Latent};
use quorate_gp::posterior::LeaveOneOut;

use super::inference::Through;
use super::link::{Judgement, Link};
use super::quantity::QuantityPrediction;
use super::reading::class_answer;
use super::scorecard::{Scorecard, TargetScores};
use crate::error::{Error, Result};
use crate::latent::{class_of, sighting, two_classes};
use crate::prediction::Prediction;
use crate::score::{ClassSum, QuantitySum, ScoreSum, Scores, Yardstick, leave_one_out_scores};
use crate::spec::ModelSpec;
use crate::spread::{Lesson, Spread, Unseen, learn, learn_level};

/// What rows say that were not seen.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// How good the answers are.
    pub scores: Scorecard,
    /// What makes probabilities of the answers about classes.
    pub link: Option<Link>,
    /// How wide the answers should be, where one noise does not tell.
    pub spread: Option<Spread>,
    /// A sentence about that, beginning with a space; empty otherwise.
    pub remark: String,
}

impl Judged {
    fn plain(scores: Scorecard) -> Self {
        Self {
            scores,
            link: None,
            spread: None,
            remark: String::new(),
        }
    }

    /// The same where answers are as wide as the rows ask for; each row is scored with what the others ask for.
    pub fn with_spread(self, schema: &Schema, rows: &Unseen<'_>) -> Result<Self> {
        let TargetCode::Number(_) = schema.target() else {
            return Ok(self);
        };
        let Some(lesson) = learn(rows) else {
            return Ok(self);
        };
        let after = scores_with(rows.members, rows.answers, &lesson, schema.into())?;
        let (least, greatest) = lesson.spread.extremes();
        let remark = match &self.scores {
            Scorecard::Number(before) => format!(
                " Deviations are multiplied by {least:.2} to {greatest:.2}, by the answer and the inputs, as rows left out ask for ({}).",
                gained(before, &after)
            ),
            _ => String::new(),
        };
        Ok(Self {
            spread: Some(lesson.spread),
            remark,
            ..Self::plain(Scorecard::Number(after))
        })
    }

    /// The same where few rows were foretold much too surely by processes that were learned without them; the scores are then of these.
    pub fn with_level(
        self,
        schema: &Schema,
        members: &[Member],
        answers: &LeaveOneOut,
    ) -> Result<Self> {
        let TargetCode::Number(_) = schema.target() else {
            return Ok(self);
        };
        let Some(lesson) = learn_level(members, answers) else {
            return Ok(self);
        };
        let before = leave_one_out_scores(members, answers, schema.into())?;
        let after = scores_with(members, answers, &lesson, schema.into())?;
        let remark = format!(
            " Deviations are multiplied by {:.2}, with tails, as quarters of the rows ask for that were foretold by processes learned without them ({}). Scores are of these quarters.",
            lesson.spread.extremes().1,
            gained(&before, &after)
        );
        Ok(Self {
            spread: Some(lesson.spread),
            remark,
            ..Self::plain(Scorecard::Number(after))
        })
    }
}

fn gained(before: &Scores, after: &Scores) -> String {
    format!(
        "NLPD {:.4} before, {:.4} with it; 95 % intervals hold {:.1} % before, {:.1} % with it",
        before.nlpd,
        after.nlpd,
        100.0 * before.coverage_95,
        100.0 * after.coverage_95,
    )
}

/// Scores of rows left out, each with the spread that the others ask for.
fn scores_with(
    members: &[Member],
    answers: &LeaveOneOut,
    lesson: &Lesson,
    yardstick: Yardstick,
) -> Result<Scores> {
    let Yardstick { mean, deviation } = yardstick;
    let mut told = Prediction::of_left_out(answers, yardstick);
    let factors = lesson.factors.iter().copied();
    lesson
        .spread
        .widen_by(&mut told, factors, deviation * deviation);
    let variance = told.variance(false);
    let mut sum = ScoreSum::new(yardstick);
    for (row, (member, target)) in members.iter().zip(&answers.target).enumerate() {
        let target = mean + deviation * target;
        sum.add(target, told.mean[row], variance[row], member.weight);
        if let Some(mixture) = &told.mixture {
            sum.correct(target, mixture, row, member.weight);
        }
    }
    sum.scores()
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
            Ok(Judged::plain(Scorecard::Number(scores)))
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
            Ok(Judged::plain(Scorecard::of_targets(each)))
        }
        TargetCode::Classes(classes) => judge_classes(classes, scales, members, answers),
        TargetCode::Quantity(_) => Err(Error::Spec(
            "a target with a likelihood is judged by it".into(),
        )),
    }
}

/// Judges answers about rows that were held out together, with a spread where the specification wants one.
pub(crate) fn judge_held_out(
    spec: &ModelSpec,
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
    let judged = judge_left_out(schema, held.members(), &each)?;
    if !spec.learns_spread() {
        return Ok(judged);
    }
    let rows = Unseen {
        inputs: held.inputs(),
        columns: schema.columns(),
        members: held.members(),
        answers: &each,
    };
    judged.with_spread(schema, &rows)
}

/// Scores of rows whose latent function was foretold without them.
pub(crate) fn judge_through(
    schema: &Schema,
    held: &Dataset,
    answers: &Marginals,
    through: Through,
) -> Result<Judged> {
    let told: Vec<Latent> = held
        .members()
        .iter()
        .map(|member| Latent {
            mean: answers.mean[(member.group, 0)],
            variance: answers.variance[(member.group, 0)],
        })
        .collect();
    judge_latents(schema, held, through, &told).map(Judged::plain)
}

/// The same with one belief for each member of the data.
pub(crate) fn judge_latents(
    schema: &Schema,
    data: &Dataset,
    through: Through,
    told: &[Latent],
) -> Result<Scorecard> {
    let Some(code) = schema.target().quantity() else {
        let classes = two_classes(schema)?;
        let mut sum = ClassSum::new(2);
        for (index, (member, latent)) in data.members().iter().zip(told).enumerate() {
            let class = class_of(classes, schema, data, index);
            let probabilities = through.probabilities(latent.mean, latent.variance);
            sum.add(class, &probabilities, member.weight);
        }
        return sum.scores().map(Scorecard::Classes);
    };
    let members = 0..data.members().len();
    let seen: Vec<_> = members.map(|index| sighting(code, data, index)).collect();
    let offsets = seen.iter().map(|own| own.exposure.ln() + through.level);
    let prediction = QuantityPrediction {
        code: *code,
        likelihood: through.likelihood,
        latent_mean: told.iter().zip(offsets).map(|(l, o)| l.mean + o).collect(),
        latent_variance: told.iter().map(|latent| latent.variance).collect(),
        draws: Vec::new(),
        notes: Vec::new(),
    };
    let weights: Vec<f64> = data.members().iter().map(|member| member.weight).collect();
    let mut sum = QuantitySum::default();
    sum.add(&seen, &prediction, Some(&weights));
    sum.scores().map(Scorecard::Quantity)
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
        link: Some(Link::fit(&rows)),
        ..Judged::plain(Scorecard::Classes(sum.scores()?))
    })
}
