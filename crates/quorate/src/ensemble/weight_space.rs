//! Fusion in the space of weights: agents share what they believe about weights, never rows (Latouche 2007, 3.1).
//!
//! The noise of a fused model is the mean of the agents' (3.1.1). A new agent has rows of its own, and takes what the others
//! found as its prior.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::Marginals;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, multiply};

use crate::error::{Error, Result};
use crate::member::{InWeights, normals};

/// Steps of a new agent towards its most probable weights, and halvings of a step.
const STEPS: usize = 50;
const HALVINGS: usize = 20;

/// Weights `w = mean + D z` with `z ~ N(0, P^-1)`.
#[derive(Clone, Debug)]
pub struct WeightBelief {
    /// Expected weights.
    pub mean: Vec<f64>,
    /// D: a column for each direction that the agents differ in.
    directions: Matrix,
    /// The factor of P; none where the weights are certain.
    precision: Option<Factor>,
    /// Variance of the noise.
    pub noise: f64,
}

/// Mean of the agents' noise variances.
fn mean_noise(agents: &[&dyn InWeights]) -> Result<f64> {
    match agents.len() {
        0 => Err(Error::Spec("there is no agent to learn from".into())),
        count => Ok(agents
            .iter()
            .map(|agent| agent.noise_variance())
            .sum::<f64>()
            / count as f64),
    }
}

/// Distributed cooperative Bayesian learning (Yamanishi 1999; Latouche 2007, eq. 3.1): the mean of one draw from each agent's
/// belief about the weights.
pub fn cooperative(agents: &[&dyn InWeights], seed: u64) -> Result<WeightBelief> {
    let noise = mean_noise(agents)?;
    let size = agents[0].weights().len();
    let mut mean = vec![0.0; size];
    for (place, agent) in agents.iter().enumerate() {
        let drawn = normals(size, seed.wrapping_add(place as u64));
        let mut drawn = Matrix::from_fn(size, 1, |row, _| drawn[row]);
        // Precision L L': L'^-1 of standard normal numbers has its inverse as covariance.
        agent.precision().unwhiten(drawn.as_mut());
        for (sum, (weight, away)) in mean
            .iter_mut()
            .zip(agent.weights().iter().zip(drawn.col_as_slice(0)))
        {
            *sum += (weight + away) / agents.len() as f64;
        }
    }
    Ok(WeightBelief {
        mean,
        directions: Matrix::zeros(size, 0),
        precision: None,
        noise,
    })
}

/// Parametric hierarchical Bayes (Tresp and Yu 2004; Latouche 2007, 3.1.2): a Gaussian through the agents' weights is the prior of
/// a new agent with rows of its own. Its covariance has no more directions than there are agents, so that the new agent
/// looks for `z` in `w = mu + D z` with `D D' = Sigma`, by Gauss-Newton where the function is not linear.
pub fn parametric(agents: &[&dyn InWeights], rows: &Dataset) -> Result<WeightBelief> {
    let noise = mean_noise(agents)?;
    let (size, count) = (agents[0].weights().len(), agents.len());
    let centre: Vec<f64> = (0..size)
        .map(|place| agents.iter().map(|a| a.weights()[place]).sum::<f64>() / count as f64)
        .collect();
    let scale = 1.0 / (count as f64).sqrt();
    let directions = Matrix::from_fn(size, count, |row, agent| {
        scale * (agents[agent].weights()[row] - centre[row])
    });
    let at = |z: &Matrix| -> Vec<f64> {
        let away = multiply(directions.as_ref(), z.as_ref());
        let both = centre.iter().zip(away.col_as_slice(0));
        both.map(|(centre, away)| centre + away).collect()
    };
    let cost = |outputs: &[f64], z: &Matrix| -> f64 {
        let each = outputs.iter().zip(rows.targets()).zip(rows.weights());
        let misfit: f64 = each.map(|((f, t), w)| w * (t - f).powi(2)).sum();
        misfit / noise + z.col_as_slice(0).iter().map(|z| z * z).sum::<f64>()
    };
    let mut z = Matrix::zeros(count, 1);
    let mut step = 0;
    loop {
        let (outputs, slopes) = agents[0].under(&at(&z), rows.inputs());
        let here = cost(&outputs, &z);
        let mut along = multiply(slopes.as_ref(), directions.as_ref());
        let mut pull = Matrix::zeros(rows.rows(), 1);
        for row in 0..rows.rows() {
            let root = (rows.weights()[row] / noise).sqrt();
            (0..count).for_each(|place| along[(row, place)] *= root);
            pull[(row, 0)] = root * (rows.targets()[row] - outputs[row]);
        }
        let mut gram = Matrix::zeros(count, count);
        add_gram_lower(gram.as_mut(), 1.0, along.as_ref());
        let precision = Factor::new(count, JitterPolicy::default(), |mut out| {
            for column in 0..count {
                for row in column..count {
                    out[(row, column)] = gram[(row, column)];
                }
                out[(column, column)] += 1.0;
            }
        })?;
        let mut change = multiply(along.transpose(), pull.as_ref());
        (0..count).for_each(|place| change[(place, 0)] -= z[(place, 0)]);
        precision.solve(change.as_mut());
        let moved = (0..HALVINGS).find_map(|halving| {
            let length = 0.5f64.powi(halving as i32);
            let there = Matrix::from_fn(count, 1, |row, _| z[(row, 0)] + length * change[(row, 0)]);
            let (outputs, _) = agents[0].under(&at(&there), rows.inputs());
            (cost(&outputs, &there) < here - 1e-9 * here.abs()).then_some(there)
        });
        step += 1;
        match moved {
            Some(there) if step < STEPS => z = there,
            _ => {
                return Ok(WeightBelief {
                    mean: at(&z),
                    directions,
                    precision: Some(precision),
                    noise,
                });
            }
        }
    }
}

impl WeightBelief {
    /// The function and its variance at some queries, by linearisation; `model` knows how weights become values.
    pub fn marginals(&self, model: &dyn InWeights, query: Inputs<'_>) -> Marginals {
        let (outputs, slopes) = model.under(&self.mean, query);
        let mut along = multiply(slopes.as_ref(), self.directions.as_ref())
            .transpose()
            .to_owned();
        if let Some(precision) = &self.precision {
            precision.whiten(along.as_mut());
        }
        let square = |row: usize| along.col_as_slice(row).iter().map(|v| v * v).sum::<f64>();
        Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| outputs[row]),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| square(row)),
        }
    }
}

/// Non-parametric hierarchical Bayes (Tresp and Yu 2004; Latouche 2007, 3.1.2): the agents' weights are all that the new agent
/// believes in, each as likely as its own rows are under it. Gives the shares, `p(T | X, w_j)` normalised.
pub fn non_parametric(agents: &[&dyn InWeights], rows: &Dataset) -> Result<Vec<f64>> {
    let noise = mean_noise(agents)?;
    let logarithms: Vec<f64> = agents
        .iter()
        .map(|agent| {
            let (outputs, _) = agent.under(agent.weights(), rows.inputs());
            let each = outputs.iter().zip(rows.targets()).zip(rows.weights());
            let misfit: f64 = each.map(|((f, t), w)| w * (t - f).powi(2)).sum();
            -0.5 * misfit / noise
        })
        .collect();
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logarithms.iter().map(|own| (own - most).exp()).collect();
    let total: f64 = shares.iter().sum();
    Ok(shares.into_iter().map(|share| share / total).collect())
}
