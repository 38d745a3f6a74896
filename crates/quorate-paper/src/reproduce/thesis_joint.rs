//! Why a linearised prior is poor for networks (thesis, table 3.10): the committee machine for many queries together.

use quorate::Result;
use quorate::member::InWeights;
use quorate_gp::data::Inputs;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, multiply};
use quorate_gp::watch::Watch;

use super::thesis_nodes::{Model, Problem, agents, eliminated, error};
use crate::draw::{Draw, Stream};

/// Draws of the weights of a prior over functions by Monte Carlo.
const DRAWS: usize = 2000;
/// Queries that are asked together.
const TOGETHER: usize = 50;
/// The precision of what is fused is positive without any repair, or it is not.
const AS_IT_STANDS: JitterPolicy = JitterPolicy {
    start: 0.0,
    first: 0.0,
    last: 0.0,
};

/// Errors with the prior by linearisation and by Monte Carlo, and for each whether the fused precision is positive.
pub struct Together {
    pub errors: [f64; 2],
    pub positive: [bool; 2],
}

/// Fuses the nodes' beliefs about some test rows together, noise inside: `P = sum_j C_j^-1 - (m - 1) S^-1` with the prior `S` of the
/// first node, about zero, as printed below eq. 3.8.
pub fn together(
    problem: &Problem,
    model: &Model,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Together> {
    let agents = agents(&problem.nodes, model, seed, watch)?;
    let test = problem.test.inputs();
    let query = test.slice(0, TOGETHER.min(test.rows()));
    let targets = &problem.test.targets()[..query.rows()];
    let first = agents[0].as_ref();
    let priors = [linearised(first, query), monte_carlo(first, query, seed)];
    let mut found = Together {
        errors: [0.0; 2],
        positive: [false; 2],
    };
    for (place, prior) in priors.into_iter().enumerate() {
        watch.check()?;
        let less = agents.len() as f64 - 1.0;
        let mut precision = inverse(prior);
        precision = Matrix::from_fn(query.rows(), query.rows(), |i, j| -less * precision[(i, j)]);
        let mut told = Matrix::zeros(query.rows(), 1);
        for agent in &agents {
            let (outputs, covariance) = believed(agent.as_ref(), query);
            let own = inverse(noisy(covariance, agent.noise_variance()));
            let mean = Matrix::from_fn(query.rows(), 1, |row, _| outputs[row]);
            let heard = multiply(own.as_ref(), mean.as_ref());
            told = Matrix::from_fn(query.rows(), 1, |i, _| told[(i, 0)] + heard[(i, 0)]);
            precision = Matrix::from_fn(query.rows(), query.rows(), |i, j| {
                precision[(i, j)] + own[(i, j)]
            });
        }
        let factored = Factor::new(query.rows(), AS_IT_STANDS, |mut out| {
            out.copy_from(&precision);
        });
        found.positive[place] = factored.is_ok();
        let mean = eliminated(precision, told);
        let mean: Vec<f64> = (0..query.rows()).map(|row| mean[(row, 0)]).collect();
        found.errors[place] = error(targets, &mean);
    }
    Ok(found)
}

/// `F(w)` and `J H^-1 J'` at the most probable weights (eq. 3.8, whose mean is `F(w)`).
fn believed(agent: &dyn InWeights, query: Inputs<'_>) -> (Vec<f64>, Matrix) {
    let (outputs, slopes) = agent.under(agent.weights(), query);
    let mut whitened = slopes.transpose().to_owned();
    agent.precision().whiten(whitened.as_mut());
    let covariance = multiply(whitened.transpose(), whitened.as_ref());
    (outputs, covariance)
}

fn noisy(mut covariance: Matrix, noise: f64) -> Matrix {
    for row in 0..covariance.nrows() {
        covariance[(row, row)] += noise;
    }
    covariance
}

fn inverse(matrix: Matrix) -> Matrix {
    let size = matrix.nrows();
    let one = Matrix::from_fn(size, size, |i, j| f64::from(u8::from(i == j)));
    eliminated(matrix, one)
}

/// `J J' / alpha + I / beta` at the most probable weights.
fn linearised(agent: &dyn InWeights, query: Inputs<'_>) -> Matrix {
    let (_, slopes) = agent.under(agent.weights(), query);
    let product = multiply(slopes.as_ref(), slopes.transpose());
    let alpha = agent.prior_precision();
    let size = query.rows();
    let covariance = Matrix::from_fn(size, size, |i, j| product[(i, j)] / alpha);
    noisy(covariance, agent.noise_variance())
}

/// Second moments of the function under weights from `N(0, I / alpha)`, and noise.
fn monte_carlo(agent: &dyn InWeights, query: Inputs<'_>, seed: u64) -> Matrix {
    let mut draw = Draw::new(seed, Stream::Function);
    let deviation = agent.prior_precision().sqrt().recip();
    let size = query.rows();
    let mut draws = Matrix::zeros(size, DRAWS);
    for column in 0..DRAWS {
        let weights: Vec<f64> = (agent.weights().iter())
            .map(|_| deviation * draw.normal())
            .collect();
        let (outputs, _) = agent.under(&weights, query);
        draws.col_as_slice_mut(column).copy_from_slice(&outputs);
    }
    let product = multiply(draws.as_ref(), draws.transpose());
    let covariance = Matrix::from_fn(size, size, |i, j| product[(i, j)] / DRAWS as f64);
    noisy(covariance, agent.noise_variance())
}
