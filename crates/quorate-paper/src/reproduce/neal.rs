//! The reference for Laplace's method: latent values and hyperparameters both drawn, nothing approximated but by chance
//! (Neal 1997; the latent values by elliptical slices, Murray, Adams and MacKay 2010, instead of Gibbs sampling).

use quorate::Result;
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, tiles};
use quorate_gp::learn::{BlockEvidence, Evaluation, Objective, Plausible, WithPrior};
use quorate_gp::likelihood::{Latent, Likelihood, Observations};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, dot};
use quorate_gp::watch::Watch;

use crate::draw::{Draw, Stream};

/// Variance added to the prior of every latent value: Neal's jitter of 0.1.
const JITTER: f64 = 0.01;
/// Elliptical slices between two moves of the hyperparameters.
const SLICES: usize = 20;
/// Leapfrog steps of a move, and the length of one.
const LEAPS: usize = 10;
const LEAP: f64 = 0.08;

/// What is drawn from.
pub struct Posterior<'a> {
    pub kernel: &'a BoundKernel,
    pub likelihood: Likelihood,
    pub data: &'a Dataset,
    pub seen: &'a Observations,
    pub priors: &'a [Plausible],
}

impl Posterior<'_> {
    /// Probability of the second class at each question, averaged over the draws after the first quarter.
    pub fn probabilities(
        &self,
        start: &[f64],
        rounds: usize,
        query: Inputs<'_>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>> {
        let mut draw = Draw::new(seed, Stream::Rows);
        let mut here = start.to_vec();
        let mut latent = vec![0.0; self.data.rows()];
        let mut sums = vec![0.0; query.rows()];
        let mut counted = 0.0;
        for round in 0..rounds {
            watch.check()?;
            watch.progress("drawing latent values", round, rounds);
            let mut kernel = self.kernel.clone();
            kernel.set_coordinates(&here)?;
            let factor = self.prior(&kernel)?;
            for _ in 0..SLICES {
                self.slice(&factor, &mut latent, &mut draw);
            }
            self.leap(&mut here, &latent, &mut draw)?;
            if 4 * round >= rounds && round % 2 == 0 {
                for (sum, belief) in sums
                    .iter_mut()
                    .zip(predict(&kernel, self.data, &factor, &latent, query))
                {
                    *sum += self.likelihood.mean(belief);
                }
                counted += 1.0;
            }
        }
        Ok(sums.iter().map(|sum| sum / counted).collect())
    }

    fn prior(&self, kernel: &BoundKernel) -> Result<Factor> {
        let inputs = self.data.inputs();
        Ok(Factor::new(
            inputs.rows(),
            JitterPolicy::default(),
            |mut out| {
                tiles::fill_lower(kernel, inputs, out.as_mut());
                for i in 0..inputs.rows() {
                    out[(i, i)] += JITTER;
                }
            },
        )?)
    }

    fn log_likelihood(&self, latent: &[f64]) -> f64 {
        let terms = self.likelihood.derivatives_of(self.seen, latent);
        terms.iter().map(|term| term.log_density).sum()
    }

    /// One elliptical slice: a point on the ellipse through the latent values and a draw from the prior.
    fn slice(&self, factor: &Factor, latent: &mut Vec<f64>, draw: &mut Draw) {
        let normals = Matrix::from_fn(latent.len(), 1, |_, _| draw.normal());
        let other = factor.colour(normals.as_ref());
        let level = self.log_likelihood(latent) + (1.0 - draw.uniform()).ln();
        let mut angle = draw.between(0.0, std::f64::consts::TAU);
        let (mut low, mut high) = (angle - std::f64::consts::TAU, angle);
        loop {
            let (sine, cosine) = angle.sin_cos();
            let there: Vec<f64> = (0..latent.len())
                .map(|i| cosine * latent[i] + sine * other[(i, 0)])
                .collect();
            // The ellipse shrinks to where it came from, whose likelihood is above the level.
            if self.log_likelihood(&there) > level || high - low < 1e-12 {
                *latent = there;
                return;
            }
            if angle < 0.0 {
                low = angle;
            } else {
                high = angle;
            }
            angle = draw.between(low, high);
        }
    }

    /// One move of the hyperparameters given the latent values, by leapfrog steps and Metropolis' rule.
    fn leap(&self, here: &mut Vec<f64>, latent: &[f64], draw: &mut Draw) -> Result<()> {
        let inputs = self.data.inputs();
        let values = inputs.values().to_vec();
        let drawn = Dataset::new(values, inputs.width(), latent.to_vec(), None, None)?;
        let evidence = BlockEvidence::new(self.kernel, &drawn, JitterPolicy::default());
        // The last coordinate is the noise of the evidence: here the jitter, which stays.
        let mut priors = self.priors.to_vec();
        priors.push(Plausible::new(JITTER.ln(), JITTER.ln(), 1.0));
        let objective = WithPrior {
            objective: &evidence,
            priors: &priors,
        };
        let at = |place: &[f64]| -> Option<Evaluation> {
            let mut whole = place.to_vec();
            whole.push(JITTER.ln());
            let inside = place.iter().zip(self.priors).all(|(value, prior)| {
                let (low, high) = prior.bounds();
                (low..=high).contains(value)
            });
            let found = inside.then(|| objective.evaluate(&whole).ok()).flatten()?;
            found.value.is_finite().then_some(found)
        };
        let Some(mut belief) = at(here) else {
            return Ok(());
        };
        let mut momentum: Vec<f64> = here.iter().map(|_| draw.normal()).collect();
        let energy =
            |belief: &Evaluation, momentum: &[f64]| belief.value - 0.5 * dot(momentum, momentum);
        let before = energy(&belief, &momentum);
        let mut place = here.clone();
        let length = LEAP * draw.between(0.8, 1.2);
        for _ in 0..LEAPS {
            half_step(&mut momentum, &belief, length);
            place
                .iter_mut()
                .zip(&momentum)
                .for_each(|(x, p)| *x += length * p);
            match at(&place) {
                Some(found) => belief = found,
                None => return Ok(()),
            }
            half_step(&mut momentum, &belief, length);
        }
        if (1.0 - draw.uniform()).ln() < energy(&belief, &momentum) - before {
            *here = place;
        }
        Ok(())
    }
}

fn half_step(momentum: &mut [f64], belief: &Evaluation, length: f64) {
    for (p, slope) in momentum.iter_mut().zip(&belief.gradient) {
        *p += 0.5 * length * slope;
    }
}

/// The latent value at each question, given those at the rows.
fn predict(
    kernel: &BoundKernel,
    data: &Dataset,
    factor: &Factor,
    latent: &[f64],
    query: Inputs<'_>,
) -> Vec<Latent> {
    let mut cross = tiles::block(kernel, data.inputs(), query);
    factor.whiten(cross.as_mut());
    let mut own = Matrix::from_fn(latent.len(), 1, |row, _| latent[row]);
    factor.whiten(own.as_mut());
    let prior = kernel.diagonal(query);
    (0..query.rows())
        .map(|q| {
            let column = cross.col_as_slice(q);
            Latent {
                mean: dot(column, own.col_as_slice(0)),
                variance: (prior[q] + JITTER - dot(column, column)).max(0.0),
            }
        })
        .collect()
}
