//! The reference for Laplace's method: latent values and hyperparameters both drawn, nothing approximated but by chance
//! (Neal 1997; the latent values by elliptical slices, Murray, Adams and MacKay 2010, instead of Gibbs sampling).

use quorate::Result;
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, tiles};
use quorate_gp::learn::{BlockEvidence, Evaluation, Objective, Plausible, WithPrior};
use quorate_gp::likelihood::{Classes, Latent, Likelihood, Observations, softmax};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, dot};
use quorate_gp::posterior::{ClassLatent, SoftmaxAverage};
use quorate_gp::watch::Watch;

use crate::draw::{Draw, Stream};

/// Variance added to the prior of every latent value: Neal's jitter of 0.1.
const JITTER: f64 = 0.01;
/// Elliptical slices between two moves of the hyperparameters.
const SLICES: usize = 20;
/// Leapfrog steps of a move, and the length of one.
const LEAPS: usize = 10;
const LEAP: f64 = 0.08;

/// Latent values of every row, function after function.
type Functions = Vec<Vec<f64>>;

/// What rows say of latent functions.
pub trait Told {
    /// Number of latent functions.
    fn functions(&self) -> usize;
    /// Log probability of what was seen.
    fn log_density(&self, latent: &Functions) -> f64;
    /// Probability of each class at a place, from a belief about each function.
    fn probabilities(&self, beliefs: &[Latent]) -> Result<Vec<f64>>;
}

/// Two classes behind one function.
pub struct TwoClasses<'a> {
    pub likelihood: Likelihood,
    pub seen: &'a Observations,
}

impl Told for TwoClasses<'_> {
    fn functions(&self) -> usize {
        1
    }

    fn log_density(&self, latent: &Functions) -> f64 {
        let terms = self.likelihood.derivatives_of(self.seen, &latent[0]);
        terms.iter().map(|term| term.log_density).sum()
    }

    fn probabilities(&self, beliefs: &[Latent]) -> Result<Vec<f64>> {
        let one = self.likelihood.mean(beliefs[0]);
        Ok(vec![1.0 - one, one])
    }
}

/// A function for each of several classes, behind the softmax.
pub struct ManyClasses<'a> {
    seen: &'a Classes,
    average: SoftmaxAverage,
}

impl<'a> ManyClasses<'a> {
    pub fn new(seen: &'a Classes) -> Self {
        let average = SoftmaxAverage::new(seen.count());
        Self { seen, average }
    }
}

impl Told for ManyClasses<'_> {
    fn functions(&self) -> usize {
        self.seen.count()
    }

    fn log_density(&self, latent: &Functions) -> f64 {
        let mut out = vec![0.0; latent.len()];
        let each = (0..self.seen.rows()).map(|row| {
            let own: Vec<f64> = latent.iter().map(|function| function[row]).collect();
            let normaliser = softmax(&own, &mut out);
            dot(self.seen.row(row), &own) - self.seen.total(row) * normaliser
        });
        each.sum()
    }

    fn probabilities(&self, beliefs: &[Latent]) -> Result<Vec<f64>> {
        let count = beliefs.len();
        let mut covariance = Matrix::zeros(count, count);
        for (class, belief) in beliefs.iter().enumerate() {
            covariance[(class, class)] = belief.variance;
        }
        let mean = beliefs.iter().map(|belief| belief.mean).collect();
        Ok(self.average.of(&ClassLatent { mean, covariance })?)
    }
}

/// What is drawn from.
pub struct Posterior<'a> {
    /// The shape of every kernel.
    pub kernel: &'a BoundKernel,
    pub told: &'a dyn Told,
    pub data: &'a Dataset,
    pub priors: &'a [Plausible],
}

impl Posterior<'_> {
    /// Probabilities of the classes at each question, averaged over the draws after the first quarter.
    ///
    /// One start is one set of hyperparameters for all functions; several are one for each.
    pub fn probabilities(
        &self,
        starts: &[Vec<f64>],
        rounds: usize,
        query: Inputs<'_>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<f64>>> {
        let mut draw = Draw::new(seed, Stream::Rows);
        let mut sets = starts.to_vec();
        let functions = self.told.functions();
        let mut latent: Functions = vec![vec![0.0; self.data.rows()]; functions];
        let mut sums: Vec<Vec<f64>> = Vec::new();
        let mut counted = 0.0;
        for round in 0..rounds {
            watch.check()?;
            watch.progress("drawing latent values", round, rounds);
            let priors = sets
                .iter()
                .map(|set| Prior::at(self.kernel, set, self.data));
            let priors = priors.collect::<Result<Vec<Prior>>>()?;
            // Functions beyond the sets share the last, which is the only one.
            let of = |function: usize| function.min(priors.len() - 1);
            for _ in 0..SLICES {
                for function in 0..functions {
                    self.slice(&priors[of(function)], &mut latent, function, &mut draw);
                }
            }
            for (set, here) in sets.iter_mut().enumerate() {
                let own = (0..functions).filter(|function| of(*function) == set);
                let own: Vec<&Vec<f64>> = own.map(|function| &latent[function]).collect();
                self.leap(here, &own, &mut draw)?;
            }
            if 4 * round >= rounds && round % 2 == 0 {
                let beliefs: Vec<Vec<Latent>> = (0..functions)
                    .map(|function| priors[of(function)].told(self.data, &latent[function], query))
                    .collect();
                for row in 0..query.rows() {
                    let own: Vec<Latent> = beliefs.iter().map(|each| each[row]).collect();
                    let shares = self.told.probabilities(&own)?;
                    if sums.len() == row {
                        sums.push(vec![0.0; shares.len()]);
                    }
                    sums[row]
                        .iter_mut()
                        .zip(shares)
                        .for_each(|(sum, p)| *sum += p);
                }
                counted += 1.0;
            }
        }
        let means = sums
            .into_iter()
            .map(|row| row.into_iter().map(|sum| sum / counted).collect());
        Ok(means.collect())
    }

    /// One elliptical slice of one function: a point on the ellipse through its values and a draw from the prior.
    fn slice(&self, prior: &Prior, latent: &mut Functions, function: usize, draw: &mut Draw) {
        let normals = Matrix::from_fn(self.data.rows(), 1, |_, _| draw.normal());
        let other = prior.factor.colour(normals.as_ref());
        let level = self.told.log_density(latent) + (1.0 - draw.uniform()).ln();
        let mut angle = draw.between(0.0, std::f64::consts::TAU);
        let (mut low, mut high) = (angle - std::f64::consts::TAU, angle);
        let here = latent[function].clone();
        loop {
            let (sine, cosine) = angle.sin_cos();
            for (i, value) in latent[function].iter_mut().enumerate() {
                *value = cosine * here[i] + sine * other[(i, 0)];
            }
            // The ellipse shrinks to where it came from, whose likelihood is above the level.
            if self.told.log_density(latent) > level || high - low < 1e-12 {
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

    /// One move of a set of hyperparameters given the functions that have them, by leapfrog steps and Metropolis' rule.
    fn leap(&self, here: &mut Vec<f64>, functions: &[&Vec<f64>], draw: &mut Draw) -> Result<()> {
        let inputs = self.data.inputs();
        let rows = 0..inputs.rows();
        let drawn = Dataset::with_outputs(
            inputs.values().to_vec(),
            inputs.width(),
            rows.flat_map(|row| functions.iter().map(move |own| own[row]))
                .collect(),
            functions.len(),
            None,
            None,
        )?;
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

/// Functions before anything was seen.
struct Prior {
    kernel: BoundKernel,
    factor: Factor,
}

impl Prior {
    fn at(shape: &BoundKernel, coordinates: &[f64], data: &Dataset) -> Result<Self> {
        let mut kernel = shape.clone();
        kernel.set_coordinates(coordinates)?;
        let inputs = data.inputs();
        let factor = Factor::new(inputs.rows(), JitterPolicy::default(), |mut out| {
            tiles::fill_lower(&kernel, inputs, out.as_mut());
            for i in 0..inputs.rows() {
                out[(i, i)] += JITTER;
            }
        })?;
        Ok(Self { kernel, factor })
    }

    /// A function at each question, given its values at the rows.
    fn told(&self, data: &Dataset, latent: &[f64], query: Inputs<'_>) -> Vec<Latent> {
        let mut cross = tiles::block(&self.kernel, data.inputs(), query);
        self.factor.whiten(cross.as_mut());
        let mut own = Matrix::from_fn(latent.len(), 1, |row, _| latent[row]);
        self.factor.whiten(own.as_mut());
        let prior = self.kernel.diagonal(query);
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
}
