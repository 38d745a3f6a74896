//! The processes of a mixture behind one face, whether they remember their rows or what the rows said to landmarks.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::{Predict, draw, same_for_all};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use super::between::frame;
use super::gate::softmax;
use super::predict::{Voice, normal, pick, shares};
use super::processes::Prior;
use super::sites::Smoothed;
use crate::error::{Error, Result};
use crate::landmarks::{LandmarkBelief, Summary};

/// What all rows of a long table said to the landmarks of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The landmarks, row after row of encoded inputs.
    pub landmarks: Vec<f64>,
    /// What the rows said to each expert, to each gate where there are several experts, and to each noise.
    pub summaries: Vec<Summary>,
}

/// Processes that can be asked; no gates where there is one expert.
#[derive(Clone, Debug)]
pub struct Speakers<P> {
    pub(super) experts: Vec<P>,
    pub(super) gates: Vec<P>,
    pub(super) noises: Vec<P>,
    pub(super) level: f64,
}

impl Speakers<LandmarkBelief> {
    /// What the landmarks believe after all rows have spoken.
    pub(super) fn after(prior: &Prior, heard: &Heard, width: usize) -> Result<Self> {
        let count = prior.count();
        let gates = if count == 1 { 0 } else { count };
        let rows = heard.landmarks.len() / width.max(1);
        let whole = |own: &Summary| own.landmarks() == rows && own.outputs() == 1;
        if count == 0
            || heard.summaries.len() != 2 * count + gates
            || !heard.summaries.iter().all(whole)
        {
            return Err(Error::Spec(
                "the sums of a mixture and its experts and landmarks do not belong together".into(),
            ));
        }
        let believe = |own: &Summary, kernel: &BoundKernel| {
            let landmarks = frame(kernel.clone(), &heard.landmarks, width)?;
            Ok(LandmarkBelief::new(landmarks, own)?)
        };
        let (experts, others) = heard.summaries.split_at(count);
        let (gates, noises) = others.split_at(gates);
        let shared = |own: &[Summary], kernel: &BoundKernel| -> Result<Vec<_>> {
            own.iter().map(|own| believe(own, kernel)).collect()
        };
        let experts = experts.iter().zip(&prior.experts);
        Ok(Self {
            experts: experts
                .map(|(own, kernel)| believe(own, kernel))
                .collect::<Result<_>>()?,
            gates: shared(gates, &prior.gate)?,
            noises: shared(noises, &prior.noise)?,
            level: prior.level,
        })
    }

    /// The kernel of the expert in the middle.
    pub(super) fn kernel(&self) -> &BoundKernel {
        self.experts[self.experts.len() / 2].landmarks().kernel()
    }
}

impl<P: Predict> Speakers<P> {
    /// What each expert says at query points.
    pub(super) fn voices(&self, query: Inputs<'_>) -> Result<Vec<Voice>> {
        let column = |matrix: &Matrix| matrix.col_as_slice(0).to_vec();
        let gates: Vec<Vec<f64>> = (self.gates.iter())
            .map(|gate| Ok(column(&gate.marginals(query)?.mean)))
            .collect::<Result<_>>()?;
        let each = self.experts.iter().zip(&self.noises);
        each.zip(shares(&gates, query.rows()))
            .map(|((expert, noise), share)| {
                let (function, noise) = (expert.marginals(query)?, noise.marginals(query)?);
                Ok(Voice {
                    share,
                    mean: column(&function.mean),
                    variance: column(&function.variance),
                    spread: (column(&noise.mean).iter())
                        .map(|own| own + self.level)
                        .collect(),
                    spread_variance: column(&noise.variance),
                })
            })
            .collect()
    }

    /// Draws functions (or, with `noisy`, observations): all processes jointly, then an expert for each row.
    pub(super) fn sample(
        &self,
        query: Inputs<'_>,
        count: usize,
        seed: u64,
        noisy: bool,
    ) -> Result<Vec<Vec<f64>>> {
        let still = vec![0.0; query.rows()];
        let mut seeds = ChaCha12Rng::seed_from_u64(seed);
        let mut drawn = |processes: &[P]| -> Result<Vec<Matrix>> {
            let each = processes.iter();
            each.map(|own| Ok(draw(&own.joint(query)?, &still, count, seeds.next_u64())?))
                .collect()
        };
        let experts = drawn(&self.experts)?;
        let gates = drawn(&self.gates)?;
        let noises = drawn(&self.noises)?;
        let mut random = ChaCha12Rng::seed_from_u64(seed ^ 1);
        let mut functions = vec![Vec::with_capacity(query.rows()); count];
        for (place, function) in functions.iter_mut().enumerate() {
            for row in 0..query.rows() {
                let heights: Vec<f64> = gates.iter().map(|gate| gate[(row, place)]).collect();
                let expert = pick(&softmax(&heights), &mut random);
                let noise = if noisy {
                    (self.level + noises[expert][(row, place)]).exp() * normal(&mut random)
                } else {
                    0.0
                };
                function.push(experts[expert][(row, place)] + noise);
            }
        }
        Ok(functions)
    }
}

/// A process that remembers its rows, with all that it needs to be asked.
pub(super) struct AtRows<'a> {
    pub own: &'a Smoothed,
    pub kernel: &'a BoundKernel,
    pub rows: Inputs<'a>,
}

impl Predict for AtRows<'_> {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let diagonal = self.kernel.diagonal(query);
        same_for_all(&vec![0.0; query.rows()], &diagonal, 1)
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        let (mean, variance) = self.own.marginals(self.kernel, self.rows, query)?;
        Ok(same_for_all(&mean, &variance, 1))
    }

    fn joint(&self, query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        self.own.joint(self.kernel, self.rows, query)
    }
}
