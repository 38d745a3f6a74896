//! How a model's answers about standardised outputs are read in the target's own units.

use quorate_gp::data::{Classes, Scale, Schema, TargetCode};
use quorate_gp::gaussian::Marginals;

use super::forecast::{ClassPrediction, Forecast};
use super::inference::Through;
use super::link::{Answer, Link};
use super::quantity::QuantityPrediction;
use crate::error::{Error, Result};
use crate::prediction::Prediction;

/// The task of a model, with what undoes the encoding of its target.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    schema: &'a Schema,
    link: Link,
    through: Option<Through>,
}

impl<'a> Reading<'a> {
    /// The reading of a model; for classes `link` matters, or `through` where they have a likelihood.
    pub fn new(schema: &'a Schema, link: Option<Link>, through: Option<Through>) -> Self {
        Self {
            schema,
            link: link.unwrap_or(Link::PLAIN),
            through,
        }
    }

    /// What answers mean for new rows, whose observations add noise of this variance and whose latent values are higher
    /// by the offsets, where there are any.
    pub fn forecast(
        &self,
        answers: &Marginals,
        noise_variance: f64,
        offsets: &[f64],
    ) -> Result<Forecast> {
        let scales = self.schema.target_scales();
        let number = |output| prediction(answers, noise_variance, output, scales[output]);
        Ok(match self.schema.target() {
            TargetCode::Number(_) => Forecast::Number(number(0)),
            TargetCode::Numbers(_) => {
                let names = self.schema.roles().targets().enumerate();
                let each = names.map(|(output, name)| (name.to_owned(), number(output)));
                Forecast::Numbers(each.collect())
            }
            TargetCode::Classes(classes) => {
                let mut probabilities = Vec::with_capacity(answers.mean.nrows() * classes.count());
                let mut means = Vec::new();
                for row in 0..answers.mean.nrows() {
                    if let Some(through) = self.through {
                        let (mean, variance) = (answers.mean[(row, 0)], answers.variance[(row, 0)]);
                        probabilities.extend(through.probabilities(mean, variance));
                        continue;
                    }
                    let own = (0..scales.len()).map(|output| answers.mean[(row, output)]);
                    let variance = answers.variance[(row, 0)] + noise_variance;
                    let answer = class_answer(classes, scales, own, variance, &mut means);
                    self.link.probabilities(answer, &mut probabilities);
                }
                Forecast::Classes(ClassPrediction {
                    classes: classes.clone(),
                    probabilities,
                    notes: Vec::new(),
                })
            }
            TargetCode::Quantity(code) => {
                let through = self.through.ok_or_else(|| {
                    Error::Spec("the model has lost the likelihood of its target".into())
                })?;
                let rows = 0..answers.mean.nrows();
                let offset = |row: usize| offsets.get(row).copied().unwrap_or(0.0);
                let mean = |row| answers.mean[(row, 0)] + through.level + offset(row);
                Forecast::Quantity(QuantityPrediction {
                    code: *code,
                    likelihood: through.likelihood,
                    latent_mean: rows.clone().map(mean).collect(),
                    latent_variance: rows.map(|row| answers.variance[(row, 0)]).collect(),
                    draws: Vec::new(),
                    notes: Vec::new(),
                })
            }
        })
    }
}

/// Answers about classes in units of the targets +1 and -1: one mean for each class, in `means`, and the variance.
pub(crate) fn class_answer<'m>(
    classes: &Classes,
    scales: &[Scale],
    answers: impl Iterator<Item = f64>,
    variance: f64,
    means: &'m mut Vec<f64>,
) -> Answer<'m> {
    means.clear();
    let own = answers.zip(scales);
    means.extend(own.map(|(answer, scale)| scale.mean + scale.deviation * answer));
    if classes.outputs() < classes.count() {
        // One output serves two classes: the target of one is that of the other with its sign changed.
        means.insert(0, -means[0]);
    }
    Answer {
        means,
        variance: scales[0].deviation * scales[0].deviation * variance,
    }
}

/// One output in its own units.
fn prediction(answers: &Marginals, noise_variance: f64, output: usize, scale: Scale) -> Prediction {
    let Scale { mean, deviation } = scale;
    let variance = deviation * deviation;
    let rows = answers.mean.nrows();
    Prediction {
        mean: (0..rows)
            .map(|row| mean + deviation * answers.mean[(row, output)])
            .collect(),
        latent_variance: (0..rows)
            .map(|row| variance * answers.variance[(row, output)])
            .collect(),
        noise_variance: vec![variance * noise_variance; rows],
        ..Prediction::default()
    }
}
