//! The committee machine for many queries together (thesis 3.3, eq. 3.5): one prior for all nodes, noise inside.

use quorate::Result;
use quorate::fusion::Moments;
use quorate::member::InWeights;
use quorate_gp::data::Inputs;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, multiply};
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::thesis_nodes::eliminated;
use crate::draw::{Draw, Stream};

/// Draws of the weights for a prior over functions by Monte Carlo.
const DRAWS: usize = 2000;
/// The precision of what is fused is positive without any repair, or it is not.
const AS_IT_STANDS: JitterPolicy = JitterPolicy {
    start: 0.0,
    first: 0.0,
    last: 0.0,
};

/// The covariance of the function before rows were seen, one for all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// Nothing is divided away: the product of beliefs.
    None,
    /// The mean of the nodes' priors over functions, by Monte Carlo.
    Drawn,
    /// The prior of the first node linearised, as printed below eq. 3.8.
    OneLinearised,
    /// The mean of the nodes' linearised priors.
    AllLinearised,
}

/// The noise inside that prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The mean of the nodes', as the thesis fuses noise (3.1.1).
    Mean,
    /// That of the first node, as printed.
    First,
}

/// Nodes and what they are asked about, and weights drawn from their priors in turn.
pub struct Asked<'a> {
    agents: &'a [&'a dyn InWeights],
    query: Inputs<'a>,
    draws: Vec<Vec<f64>>,
    /// The share of the noise that is inside what is fused.
    inside: f64,
}

/// What was told, and the share of the blocks whose fused precision is not positive.
pub struct Told {
    pub moments: Vec<Moments>,
    pub broken: f64,
}

impl<'a> Asked<'a> {
    /// Without draws, which only [`Common::Drawn`] needs.
    pub fn new(agents: &'a [&'a dyn InWeights], query: Inputs<'a>) -> Self {
        Self {
            agents,
            query,
            draws: Vec::new(),
            inside: 1.0,
        }
    }

    pub fn drawn(agents: &'a [&'a dyn InWeights], query: Inputs<'a>, seed: u64) -> Self {
        let mut draw = Draw::new(seed, Stream::Function);
        let drawn = (0..DRAWS).map(|place| {
            let agent = agents[place % agents.len()];
            let deviation = agent.prior_precision().sqrt().recip();
            let each = (agent.weights().iter()).map(|_| deviation * draw.normal());
            each.collect::<Vec<f64>>()
        });
        Self {
            agents,
            query,
            draws: drawn.collect(),
            inside: 1.0,
        }
    }

    /// So much of the noise is inside what is fused, and the rest is added to what comes out, once.
    pub fn set_noise_inside(&mut self, inside: f64) {
        self.inside = inside;
    }

    /// Adds the prior's covariance of a block of queries, without noise, to a lower triangle.
    fn add_prior(&self, prior: Common, covariance: &mut Matrix, first: usize) {
        let (rows, agents) = (covariance.nrows(), self.agents);
        let mut linearised = |agent: &dyn InWeights, share: f64| {
            let (_, slopes) = agent.under(agent.weights(), self.query.slice(first, first + rows));
            let scale = share / agent.prior_precision();
            add_gram_lower(covariance.as_mut(), scale, slopes.transpose());
        };
        match prior {
            Common::None => {}
            Common::OneLinearised => linearised(agents[0], 1.0),
            Common::AllLinearised => {
                let share = 1.0 / agents.len() as f64;
                agents.iter().for_each(|agent| linearised(*agent, share));
            }
            Common::Drawn => {
                let query = self.query.slice(first, first + rows);
                let told: Vec<Vec<f64>> = (self.draws.par_iter())
                    .map(|weights| agents[0].values_under(weights, query))
                    .collect();
                let told = Matrix::from_fn(told.len(), rows, |draw, row| told[draw][row]);
                add_gram_lower(covariance.as_mut(), 1.0 / DRAWS as f64, told.as_ref());
            }
        }
    }
}

/// Fuses what nodes believe about blocks of so many queries: `cov^-1 = sum_j C_j^-1 - (m - 1) S^-1` with `C_j = J H^-1 J' + s_j I`
/// and one prior `S` about zero for all (eq. 3.5 and 3.8), with each of some priors.
pub fn together(
    asked: &Asked<'_>,
    count: usize,
    priors: &[(Common, Noise)],
    watch: &dyn Watch,
) -> Result<Vec<Told>> {
    let (agents, rows) = (asked.agents, asked.query.rows());
    let noises: Vec<f64> = (agents.iter())
        .map(|agent| asked.inside * agent.noise_variance())
        .collect();
    let mean = noises.iter().sum::<f64>() / noises.len() as f64;
    let outside = mean / asked.inside - mean;
    let blocks = rows.div_ceil(count);
    let mut told: Vec<Told> = (priors.iter())
        .map(|_| Told {
            moments: Vec::with_capacity(rows),
            broken: 0.0,
        })
        .collect();
    for first in (0..rows).step_by(count) {
        watch.check()?;
        let size = count.min(rows - first);
        let (heard, pull) = heard(asked, asked.query.slice(first, first + size))?;
        for ((prior, noise), told) in priors.iter().zip(&mut told) {
            let mut precision = heard.clone();
            if *prior != Common::None {
                let mut covariance = Matrix::zeros(size, size);
                asked.add_prior(*prior, &mut covariance, first);
                let noise = match noise {
                    Noise::Mean => mean,
                    Noise::First => noises[0],
                };
                (0..size).for_each(|row| covariance[(row, row)] += noise);
                let whitener = factor(&covariance)?.inverse_lower();
                let less = 1.0 - agents.len() as f64;
                add_gram_lower(precision.as_mut(), less, whitener.as_ref());
            }
            let (mean, variance) = match factor(&precision) {
                Ok(factor) => {
                    let mut mean = pull.clone();
                    factor.solve(mean.as_mut());
                    let all: Vec<usize> = (0..size).collect();
                    (mean, factor.inverse_diagonal(&all))
                }
                Err(_) => {
                    told.broken += 1.0 / blocks as f64;
                    (
                        eliminated(full(&precision), pull.clone()),
                        vec![f64::NAN; size],
                    )
                }
            };
            let each = variance.into_iter().enumerate();
            told.moments.extend(each.map(|(row, variance)| Moments {
                mean: mean[(row, 0)],
                variance: variance + outside,
            }));
        }
    }
    Ok(told)
}

/// `sum_j C_j^-1`, its lower triangle, and `sum_j C_j^-1 F_j`. With `U = L^-1 J'` and `K K' = s I + U U'` the inverse is
/// `(I - V'V) / s`, `V = K^-1 U`: as wide as there are weights, however many queries there are.
fn heard(asked: &Asked<'_>, query: Inputs<'_>) -> Result<(Matrix, Matrix)> {
    let size = query.rows();
    let (mut precision, mut pull) = (Matrix::zeros(size, size), Matrix::zeros(size, 1));
    for agent in asked.agents {
        let (outputs, slopes) = agent.under(agent.weights(), query);
        let noise = asked.inside * agent.noise_variance();
        let mut known = slopes.transpose().to_owned();
        agent.precision().whiten(known.as_mut());
        let mut inner = Matrix::zeros(known.nrows(), known.nrows());
        add_gram_lower(inner.as_mut(), 1.0, known.transpose());
        (0..inner.nrows()).for_each(|place| inner[(place, place)] += noise);
        factor(&inner)?.whiten(known.as_mut());
        add_gram_lower(precision.as_mut(), -1.0 / noise, known.as_ref());
        let mean = Matrix::from_fn(size, 1, |row, _| outputs[row]);
        let inside = multiply(known.as_ref(), mean.as_ref());
        let taken = multiply(known.transpose(), inside.as_ref());
        for row in 0..size {
            precision[(row, row)] += 1.0 / noise;
            pull[(row, 0)] += (mean[(row, 0)] - taken[(row, 0)]) / noise;
        }
    }
    Ok((precision, pull))
}

fn factor(lower: &Matrix) -> Result<Factor> {
    Ok(Factor::new(lower.nrows(), AS_IT_STANDS, |mut out| {
        out.copy_from(lower);
    })?)
}

fn full(lower: &Matrix) -> Matrix {
    Matrix::from_fn(lower.nrows(), lower.nrows(), |i, j| {
        lower[(i.max(j), i.min(j))]
    })
}

#[cfg(test)]
mod tests {
    use super::super::thesis_nodes::agents;
    use super::super::thesis_weights::{models, problem, rows};
    use super::*;
    use quorate_gp::watch::Unwatched;

    fn dense(covariance: Matrix, noise: f64) -> Matrix {
        let size = covariance.nrows();
        let one = Matrix::from_fn(size, size, |i, j| f64::from(u8::from(i == j)));
        eliminated(covariance + noise * one.clone(), one)
    }

    /// Eq. 3.5 and 3.8 as printed, with dense inverses, beside what is computed in the space of weights; of one node nothing is
    /// divided away, whatever the prior.
    #[test]
    fn blocks_are_fused_as_printed() -> Result<()> {
        let mut draw = Draw::new(3, Stream::Rows);
        let (train, test) = (rows(&mut draw, 90)?, rows(&mut draw, 7)?);
        for model in models() {
            let problem = problem(&train, &test, &[30; 3]);
            let nodes = agents(&problem.nodes, &model, 5, &Unwatched)?;
            let nodes: Vec<&dyn InWeights> = nodes.iter().map(AsRef::as_ref).collect();
            for (nodes, inside) in [(&nodes[..], 1.0), (&nodes[..], 0.1), (&nodes[..1], 1.0)] {
                let (query, count) = (test.inputs(), nodes.len() as f64);
                let priors = [
                    (Common::AllLinearised, Noise::Mean),
                    (Common::None, Noise::Mean),
                ];
                let mut asked = Asked::new(nodes, query);
                asked.set_noise_inside(inside);
                let told = together(&asked, 7, &priors, &Unwatched)?;
                let mut precision = Matrix::zeros(7, 7);
                let (mut pull, mut prior) = (Matrix::zeros(7, 1), Matrix::zeros(7, 7));
                let mut noise = 0.0;
                for node in nodes {
                    let (outputs, slopes) = node.under(node.weights(), query);
                    let one = Matrix::from_fn(slopes.ncols(), slopes.ncols(), |i, j| {
                        f64::from(u8::from(i == j))
                    });
                    let mut inverse = one;
                    node.precision().solve(inverse.as_mut());
                    let own = dense(
                        &slopes * &inverse * slopes.transpose(),
                        inside * node.noise_variance(),
                    );
                    for (value, output) in
                        (node.values_under(node.weights(), query).iter()).zip(&outputs)
                    {
                        assert!((value - output).abs() < 1e-12, "{value} {output}");
                    }
                    pull += &own * Matrix::from_fn(7, 1, |row, _| outputs[row]);
                    precision += own;
                    prior += &slopes * slopes.transpose() / (node.prior_precision() * count);
                    noise += node.noise_variance() / count;
                }
                let divided = &precision - (count - 1.0) * dense(prior, inside * noise);
                for (told, precision) in told.iter().zip([divided, precision]) {
                    let covariance = dense(precision.clone(), 0.0);
                    let mean = &covariance * &pull;
                    for (row, own) in told.moments.iter().enumerate() {
                        let outside = (1.0 - inside) * noise;
                        let (expected, variance) =
                            (mean[(row, 0)], covariance[(row, row)] + outside);
                        assert!((own.mean - expected).abs() < 1e-7, "{expected} {own:?}");
                        assert!(
                            (own.variance / variance - 1.0).abs() < 1e-7,
                            "{variance} {own:?}"
                        );
                    }
                    assert_eq!(told.broken, 0.0);
                }
            }
        }
        Ok(())
    }
}
