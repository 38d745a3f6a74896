//! Members that are asked the same questions.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::Marginals;
use quorate_gp::kernel::{BoundKernel, tiles};
use quorate_gp::linalg::{Matrix, dot, multiply};
use rayon::prelude::*;

use crate::error::Result;
use crate::fusion::{Between, Fusion, Learned, Opinions};
use crate::member::Member;
use quorate_gp::posterior::ExactPosterior;

/// Members and the noise that is added to whatever they answer together.
pub struct Council {
    members: Vec<Box<dyn Member>>,
    base: Option<Box<dyn Member>>,
    noise: f64,
    /// What each member's noise exceeds the common one by: misfit, which is doubt about the function.
    misfit: Vec<f64>,
}

/// What a council said about some queries: fused as often as one likes.
#[derive(Clone, Debug)]
pub struct Said {
    posteriors: Vec<Marginals>,
    priors: Vec<Marginals>,
    base: Option<Marginals>,
    between: Option<Vec<Between>>,
    noise: f64,
}

impl Council {
    /// Members of one kind: they see the same noise, and the mean of what they found is the best estimate of it.
    pub fn of_one_kind(members: Vec<Box<dyn Member>>) -> Self {
        let count = members.len().max(1) as f64;
        let noise = members.iter().map(|m| m.noise_variance()).sum::<f64>() / count;
        Self {
            misfit: vec![0.0; members.len()],
            members,
            base: None,
            noise,
        }
    }

    /// Members of different kinds that saw the same rows: what one of them calls noise and another explains is misfit, so the
    /// least noise is the common one and what others find beyond it counts as their doubt.
    pub fn of_many_kinds(members: Vec<Box<dyn Member>>) -> Self {
        let noises: Vec<f64> = members.iter().map(|m| m.noise_variance()).collect();
        let noise = noises.iter().copied().fold(f64::INFINITY, f64::min);
        let noise = if noise.is_finite() { noise } else { 0.0 };
        Self {
            misfit: noises.iter().map(|own| own - noise).collect(),
            members,
            base: None,
            noise,
        }
    }

    /// The same with a member that saw only the rows all members share.
    pub fn with_base(mut self, base: Box<dyn Member>) -> Self {
        self.base = Some(base);
        self
    }

    /// The members.
    pub fn members(&self) -> &[Box<dyn Member>] {
        &self.members
    }

    /// The member that saw only the rows all members share, where there is one.
    pub fn base(&self) -> Option<&dyn Member> {
        self.base.as_deref()
    }

    /// The members, for another council.
    pub fn into_members(self) -> Vec<Box<dyn Member>> {
        self.members
    }

    /// Variance of the noise added after fusion.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Asks everybody. With `between` members of one process are also asked how their answers hang together, which costs
    /// a product of the covariance of all rows with the queries.
    pub fn ask(&self, query: Inputs<'_>, between: bool) -> Result<Said> {
        let answers: Vec<(Marginals, Marginals)> = self
            .members
            .par_iter()
            .zip(&self.misfit)
            .map(|(member, misfit)| {
                let doubted = |mut belief: Marginals| {
                    for row in 0..belief.variance.nrows() {
                        for output in 0..belief.variance.ncols() {
                            belief.variance[(row, output)] += misfit;
                        }
                    }
                    belief
                };
                Ok((
                    doubted(member.marginals(query)?),
                    doubted(member.prior(query)),
                ))
            })
            .collect::<Result<_>>()?;
        let (posteriors, priors) = answers.into_iter().unzip();
        let base = self.base.as_ref().map(|base| base.marginals(query));
        let processes: Option<Vec<&ExactPosterior>> =
            self.members.iter().map(|member| member.process()).collect();
        Ok(Said {
            posteriors,
            priors,
            base: base.transpose()?,
            between: processes
                .filter(|_| between)
                .map(|processes| hang_together(&processes, query)),
            noise: self.noise,
        })
    }
}

impl Said {
    /// One belief by a rule.
    pub fn fuse(&self, fusion: &Fusion, learned: Option<&Learned>) -> Result<Marginals> {
        fusion.combine(&Opinions {
            posteriors: &self.posteriors,
            priors: &self.priors,
            base: self.base.as_ref(),
            noise: self.noise,
            learned,
            between: self.between.as_deref(),
        })
    }

    /// The same around a common level: what each member's own exceeds it by is added to what it said and believed before.
    pub fn shifted(mut self, by: &[f64]) -> Self {
        for all in [&mut self.posteriors, &mut self.priors] {
            for (belief, shift) in all.iter_mut().zip(by) {
                for row in 0..belief.mean.nrows() {
                    for output in 0..belief.mean.ncols() {
                        belief.mean[(row, output)] += shift;
                    }
                }
            }
        }
        self
    }

    /// What each member said.
    pub fn posteriors(&self) -> &[Marginals] {
        &self.posteriors
    }

    /// What each member believed before it saw its rows.
    pub fn priors(&self) -> &[Marginals] {
        &self.priors
    }
}

/// Covariances of the means of processes that share kernel and noise: with `u_i = C_i^-1 k_i`, those with the function are
/// `k_i' u_i`, those of two means `u_i' K_ij u_j`.
fn hang_together(processes: &[&ExactPosterior], query: Inputs<'_>) -> Vec<Between> {
    let kernel: Option<&BoundKernel> = processes.first().map(|process| process.kernel());
    let Some(kernel) = kernel else {
        return Vec::new();
    };
    let count = processes.len();
    let told: Vec<(Matrix, Vec<f64>)> = processes
        .par_iter()
        .map(|process| {
            let cross = tiles::block(kernel, process.data().inputs(), query);
            let mut solved = cross.clone();
            process.factor().solve(solved.as_mut());
            let with = |q: usize| dot(cross.col_as_slice(q), solved.col_as_slice(q));
            let with_function = (0..query.rows()).map(with).collect();
            (solved, with_function)
        })
        .collect();
    let pairs: Vec<(usize, usize)> = (0..count)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .collect();
    let covariances: Vec<Vec<f64>> = pairs
        .par_iter()
        .map(|&(i, j)| {
            let (left, right) = (processes[i].data().inputs(), processes[j].data().inputs());
            let block = tiles::block(kernel, left, right);
            let product = multiply(block.as_ref(), told[j].0.as_ref());
            let one = |q: usize| dot(told[i].0.col_as_slice(q), product.col_as_slice(q));
            (0..query.rows()).map(one).collect()
        })
        .collect();
    (0..query.rows())
        .map(|q| {
            let mut covariance = Matrix::zeros(count, count);
            for (i, (_, with_function)) in told.iter().enumerate() {
                covariance[(i, i)] = with_function[q];
            }
            for (&(i, j), values) in pairs.iter().zip(&covariances) {
                covariance[(i, j)] = values[q];
                covariance[(j, i)] = values[q];
            }
            Between {
                with_function: told.iter().map(|(_, with)| with[q]).collect(),
                covariance,
            }
        })
        .collect()
}
