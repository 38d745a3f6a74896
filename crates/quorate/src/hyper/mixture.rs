//! Predictions that average over draws of the hyperparameters (Williams and Barber 1998, eq. 7).

use quorate_gp::data::{Inputs, Schema};
use quorate_gp::learn::{at, latent_at};
use quorate_gp::likelihood::GaussianNoise;
use rayon::prelude::*;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::landmarks::State;
use crate::latent::LatentAnswers;
use crate::prediction::Prediction;
use crate::score::Yardstick;
use crate::task::{ClassPrediction, Forecast, QuantityDraw, QuantityPrediction, Reading, Through};

/// The model at one draw of its hyperparameters.
#[derive(Debug)]
pub(crate) struct Component {
    pub answers: Answers,
    pub noise: GaussianNoise,
    /// The likelihood with the dispersions of the draw, where targets have one.
    pub through: Option<Through>,
}

/// Gaussian beliefs about rows, one for each draw or expert, whose shares in a row add up to one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mixture {
    /// What each of them says.
    pub components: Vec<MixturePart>,
}

/// What one draw or expert says of each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixturePart {
    /// How much it counts.
    pub share: Vec<f64>,
    /// Mean.
    pub mean: Vec<f64>,
    /// Variance of the function.
    pub variance: Vec<f64>,
    /// Variance of the noise.
    pub noise: Vec<f64>,
}

/// The model at every draw that is averaged over; none for a model with one set of hyperparameters.
pub(crate) fn components(fitted: &Fitted, state: &State) -> Result<Vec<Component>> {
    let found = &fitted.found;
    let Some(belief) = &found.hyperposterior else {
        return Ok(Vec::new());
    };
    let kernel = found.kernel.bind(fitted.schema.columns())?;
    let own = quorate_gp::kernel::Covariance::parameters(&kernel).len();
    // After the kernel's own: the noise, or the dispersions of a likelihood.
    let size = match found.through {
        Some(through) => own + through.likelihood.parameters().len(),
        None => own + 1,
    };
    let draws: Vec<&Vec<f64>> = belief.averaged_draws().collect();
    if draws.len() != belief.averaged.len() || draws.iter().any(|draw| draw.len() != size) {
        return Err(Error::Spec(
            "the model's draws and its kernel do not belong together".into(),
        ));
    }
    draws
        .par_iter()
        .enumerate()
        .map(|(place, draw)| {
            if let (Method::Latent(how), Some(through), State::Rows(data)) =
                (found.method, found.through, state)
            {
                let (kernel, likelihood) = latent_at(&kernel, through.likelihood, draw)?;
                let through = Through {
                    likelihood,
                    ..through
                };
                let schema = &fitted.schema;
                let latent = LatentAnswers::condition(how, kernel, schema, data, through)?;
                return Ok(Component {
                    answers: Answers::Latent(Box::new(latent)),
                    noise: found.noise,
                    through: Some(through),
                });
            }
            let (kernel, noise) = at(&kernel, draw)?;
            let answers = match state {
                State::Committee(committee) => {
                    let total = committee.drawn.get(place).ok_or_else(|| {
                        Error::Spec("the model has draws without their sums".into())
                    })?;
                    Answers::Landmarks(committee.belief_of(kernel, total)?)
                }
                _ => Answers::new(found.method, kernel, noise, state)?,
            };
            Ok(Component {
                answers,
                noise,
                through: None,
            })
        })
        .collect()
}

/// What all draws together say of two classes, the mean of their probabilities; or of a quantity.
pub(crate) fn probabilities(
    components: &[Component],
    query: Inputs<'_>,
    schema: &Schema,
    through: Through,
    offsets: &[f64],
) -> Result<Forecast> {
    if schema.target().quantity().is_some() {
        return quantities(components, query, schema, offsets);
    }
    let reading = Reading::new(schema, None, Some(through));
    let mut all: Option<ClassPrediction> = None;
    for component in components {
        let belief = component.answers.marginals(query)?;
        let Forecast::Classes(own) = reading.forecast(&belief, 0.0, &[])? else {
            return Err(Error::Spec("draws behind classes tell no classes".into()));
        };
        match &mut all {
            None => all = Some(own),
            Some(sum) => {
                let each = sum.probabilities.iter_mut().zip(own.probabilities);
                each.for_each(|(sum, own)| *sum += own);
            }
        }
    }
    let mut all = all.ok_or_else(|| Error::Spec("there are no draws to average over".into()))?;
    let share = 1.0 / components.len() as f64;
    all.probabilities.iter_mut().for_each(|sum| *sum *= share);
    Ok(Forecast::Classes(all))
}

/// What all draws together say of counts, amounts or lifetimes.
fn quantities(
    components: &[Component],
    query: Inputs<'_>,
    schema: &Schema,
    offsets: &[f64],
) -> Result<Forecast> {
    let mut all: Option<QuantityPrediction> = None;
    for component in components {
        let belief = component.answers.marginals(query)?;
        let reading = Reading::new(schema, None, component.through);
        let Forecast::Quantity(own) = reading.forecast(&belief, 0.0, offsets)? else {
            return Err(Error::Spec("draws behind quantities tell none".into()));
        };
        let draw = QuantityDraw {
            likelihood: own.likelihood,
            latent_mean: own.latent_mean.clone(),
            latent_variance: own.latent_variance.clone(),
        };
        all.get_or_insert(own).draws.push(draw);
    }
    let mut all = all.ok_or_else(|| Error::Spec("there are no draws to average over".into()))?;
    let share = 1.0 / components.len() as f64;
    for row in 0..all.rows() {
        let mean: f64 = all
            .draws
            .iter()
            .map(|draw| share * draw.latent_mean[row])
            .sum();
        let around = |draw: &QuantityDraw| {
            share * (draw.latent_variance[row] + (draw.latent_mean[row] - mean).powi(2))
        };
        all.latent_variance[row] = all.draws.iter().map(around).sum();
        all.latent_mean[row] = mean;
    }
    Ok(Forecast::Quantity(all))
}

/// Expected size of a normal with this mean and deviation.
fn absolute(mean: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return mean.abs();
    }
    let (normal, z) = (Normal::standard(), mean / deviation);
    2.0 * deviation * normal.pdf(z) + mean * (2.0 * normal.cdf(z) - 1.0)
}

/// What all draws together say: the mean of their means; the mean of their variances and the variance of their means.
pub(crate) fn predict(
    components: &[Component],
    query: Inputs<'_>,
    yardstick: Yardstick,
) -> Result<Prediction> {
    let Yardstick { mean, deviation } = yardstick;
    let unit = deviation * deviation;
    let rows = query.rows();
    let mut parts = Vec::with_capacity(components.len());
    for component in components {
        let belief = component.answers.marginals(query)?;
        let means = (0..rows).map(|row| mean + deviation * belief.mean[(row, 0)]);
        let variances = (0..rows).map(|row| unit * belief.variance[(row, 0)]);
        parts.push(MixturePart {
            share: vec![1.0 / components.len() as f64; rows],
            mean: means.collect(),
            variance: variances.collect(),
            noise: vec![unit * component.noise.variance; rows],
        });
    }
    Ok(Mixture { components: parts }.prediction(rows))
}

impl Mixture {
    /// As a prediction: moments of the mixture, with the mixture itself for quantiles.
    pub(crate) fn prediction(self, rows: usize) -> Prediction {
        let mut prediction = Prediction::default();
        for row in 0..rows {
            let parts = self.components.iter();
            let mean = parts.clone().map(|part| part.share[row] * part.mean[row]);
            let mean = mean.sum::<f64>();
            let within = parts
                .clone()
                .map(|part| part.share[row] * part.variance[row]);
            let noise = parts.clone().map(|part| part.share[row] * part.noise[row]);
            let between = parts.map(|part| part.share[row] * (part.mean[row] - mean).powi(2));
            prediction.mean.push(mean);
            let latent = within.sum::<f64>() + between.sum::<f64>();
            prediction.latent_variance.push(latent);
            prediction.noise_variance.push(noise.sum());
        }
        prediction.mixture = Some(self);
        prediction
    }

    /// Adds the rows of another mixture of the same draws or experts.
    pub(crate) fn extend(&mut self, other: Mixture) {
        if self.components.is_empty() {
            *self = other;
            return;
        }
        for (mine, theirs) in self.components.iter_mut().zip(other.components) {
            mine.share.extend(theirs.share);
            mine.mean.extend(theirs.mean);
            mine.variance.extend(theirs.variance);
            mine.noise.extend(theirs.noise);
        }
    }

    /// Share, mean and deviation of each part in a row: of the function (`latent`), or of a new observation. Parts that
    /// do not count are left out.
    fn parts(&self, row: usize, latent: bool) -> impl Iterator<Item = (f64, f64, f64)> + Clone {
        let counting = self
            .components
            .iter()
            .filter(move |part| part.share[row] > 0.0);
        counting.map(move |part| {
            let noise = if latent { 0.0 } else { part.noise[row] };
            let deviation = (part.variance[row] + noise).sqrt();
            (part.share[row], part.mean[row], deviation)
        })
    }

    /// Mean and variance of a new observation of a row.
    pub fn moments(&self, row: usize) -> (f64, f64) {
        let parts = self.parts(row, false);
        let mean: f64 = parts.clone().map(|(share, mean, _)| share * mean).sum();
        let square = |(share, own, deviation): (f64, f64, f64)| {
            share * (deviation * deviation + (own - mean).powi(2))
        };
        (mean, parts.map(square).sum::<f64>())
    }

    /// Probability that the function (`latent`) or a new observation of a row lies below a value.
    pub fn below(&self, row: usize, value: f64, latent: bool) -> f64 {
        let normal = Normal::standard();
        let each = self.parts(row, latent).map(|(share, mean, deviation)| {
            share
                * if deviation > 0.0 {
                    normal.cdf((value - mean) / deviation)
                } else {
                    f64::from(u8::from(value >= mean))
                }
        });
        each.sum::<f64>()
    }

    /// The value of a row below which the function (`latent`) or a new observation lies with probability `p`.
    pub fn quantile(&self, row: usize, p: f64, latent: bool) -> f64 {
        // It lies between the quantiles of the components.
        let z = Normal::standard().inverse_cdf(p);
        let ends = self.parts(row, latent).map(|(_, mean, deviation)| {
            if deviation > 0.0 {
                mean + z * deviation
            } else {
                mean
            }
        });
        let (mut low, mut high) = ends
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
                (low.min(end), high.max(end))
            });
        if !(low.is_finite() && high.is_finite()) {
            return if z < 0.0 { low } else { high };
        }
        // Newton's steps, held between ends that close in on it: each end is on its side of the quantile.
        let mut here = 0.5 * (low + high);
        for _ in 0..100 {
            let off = self.below(row, here, latent) - p;
            if off < 0.0 {
                low = here;
            } else {
                high = here;
            }
            let step = here - off / self.density(row, here, latent);
            let next = if step > low && step < high {
                step
            } else {
                0.5 * (low + high)
            };
            let close = 1e-15 * (low.abs() + high.abs());
            if (next - here).abs() <= close || high - low <= close {
                return next;
            }
            here = next;
        }
        here
    }

    /// Density of the function (`latent`) or of a new observation of a row; none where a part is sure.
    fn density(&self, row: usize, value: f64, latent: bool) -> f64 {
        let normal = Normal::standard();
        let each = self.parts(row, latent);
        each.map(|(share, mean, deviation)| {
            share * normal.pdf((value - mean) / deviation) / deviation
        })
        .filter(|own| own.is_finite())
        .sum()
    }

    /// Continuous ranked probability score of a new observation of a row: with `A(m, s) = E|m + s z|` for a standard normal
    /// `z`, the mean of `A(y - m_i, s_i)` less half the mean of `A(m_i - m_j, (s_i^2 + s_j^2)^1/2)` (Grimit and others 2006).
    pub fn crps(&self, row: usize, target: f64) -> f64 {
        let parts: Vec<(f64, f64, f64)> = self.parts(row, false).collect();
        let near = parts
            .iter()
            .map(|(share, mean, s)| share * absolute(target - mean, *s));
        let mut apart = 0.0;
        for (share, mean, s) in &parts {
            let pairs = parts.iter();
            apart += share
                * pairs
                    .map(|(other, m, t)| other * absolute(mean - m, s.hypot(*t)))
                    .sum::<f64>();
        }
        near.sum::<f64>() - 0.5 * apart
    }

    /// Log density of a new observation of a row.
    pub fn log_density(&self, row: usize, target: f64) -> f64 {
        let logs: Vec<f64> = self
            .parts(row, false)
            .map(|(share, mean, deviation)| {
                let variance = deviation * deviation;
                let error = target - mean;
                share.ln()
                    - 0.5
                        * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
            })
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
        most + sum.ln()
    }
}
