//! Blocks of questions put to all parts together.

use quorate_gp::data::{Inputs, random_rows};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, dot, multiply};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Member;
use crate::error::{Error, Result};
use crate::landmarks::{LandmarkBelief, Landmarks, Summary, SummaryTree};
use crate::partition::PartedRows;

/// Members heard at the same time: bounds the memory. The sum does not depend on it.
const WAVE: usize = 4;

/// Seed of the companions: the same for every model, so that a file need not hold them.
const COMPANIONS: u64 = 0x6173_6b65;

/// The size of a committee that is asked jointly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointShape {
    /// Rows of one expert, at most.
    pub part_size: usize,
    /// Questions asked together, in the order in which they come.
    pub questions: usize,
    /// Random rows whose inputs are asked about along with every block, so that few questions are answered well too.
    #[serde(default)]
    pub companions: usize,
    /// False for the committee that is not Bayesian, in which no prior is divided out (Committee Machines, sec. 4.4).
    #[serde(default = "yes")]
    pub prior: bool,
}

fn yes() -> bool {
    true
}

/// All parts, factored and ready to be asked.
#[derive(Clone, Debug)]
pub struct JointAnswers {
    kernel: BoundKernel,
    members: Vec<Member>,
    /// Inputs asked about along with every block, row after row.
    companions: Vec<f64>,
    shape: JointShape,
}

impl JointAnswers {
    /// How far the prior over a block of questions may be repaired: not at all where it can be factored as it is.
    pub(super) const JITTER: JitterPolicy = JitterPolicy {
        start: 0.0,
        first: 1e-12,
        last: 1e-6,
    };

    /// Factors every part.
    pub fn new(
        kernel: BoundKernel,
        noise: GaussianNoise,
        rows: &PartedRows,
        shape: JointShape,
    ) -> Result<Self> {
        let members = rows
            .parts()
            .into_par_iter()
            .map(|part| Member::new(&kernel, noise, part))
            .collect::<quorate_gp::Result<_>>()?;
        let inputs = rows.data.inputs();
        let companions = random_rows(inputs.rows(), shape.companions, COMPANIONS);
        let companions = companions.iter().flat_map(|&row| inputs.row(row));
        Ok(Self {
            kernel,
            companions: companions.copied().collect(),
            members,
            shape,
        })
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        &self.kernel
    }

    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    pub(super) fn outputs(&self) -> usize {
        let first = self.members.first();
        first.map_or(1, |member| member.part().outputs())
    }

    /// Its size.
    pub fn shape(&self) -> JointShape {
        self.shape
    }

    /// Mean and variance at each query point: blocks of `questions` rows, in the order in which they come.
    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        let outputs = self.outputs();
        let mut mean = Matrix::zeros(query.rows(), outputs);
        let mut variance = Matrix::zeros(query.rows(), outputs);
        let size = self.shape.questions.max(1);
        for first in (0..query.rows()).step_by(size) {
            let block = query.slice(first, (first + size).min(query.rows()));
            let answer = self.answer(block)?;
            for row in 0..block.rows() {
                let root = answer.root.col_as_slice(row);
                let squares = dot(root, root);
                for output in 0..outputs {
                    mean[(first + row, output)] = answer.mean[(row, output)];
                    variance[(first + row, output)] = squares;
                }
            }
        }
        Ok(Marginals { mean, variance })
    }

    /// Mean and covariance of one block of questions.
    pub fn joint(&self, query: Inputs<'_>) -> Result<Joint> {
        if query.rows() > self.shape.questions {
            return Err(Error::Spec(format!(
                "this model answers {} rows together and has no covariance beyond: ask for fewer than these {}, or fit with a larger `--questions`",
                self.shape.questions,
                query.rows()
            )));
        }
        if query.rows() == 0 {
            let (mean, covariance) = (Matrix::zeros(0, self.outputs()), Matrix::zeros(0, 0));
            return Ok(Joint { mean, covariance });
        }
        let Answer { mean, root } = self.answer(query)?;
        let covariance = multiply(root.transpose(), root.as_ref());
        Ok(Joint { mean, covariance })
    }

    /// One block: with `f(Z) = L v`, the mean is `L B^-1 b` and the covariance `L B^-1 L'`.
    fn answer(&self, query: Inputs<'_>) -> Result<Answer> {
        let width = query.width();
        let asked: Vec<f64> = self
            .companions
            .iter()
            .chain(query.values())
            .copied()
            .collect();
        let count = asked.len() / width.max(1);
        let asked = Inputs::new(&asked, count, width)?;
        let questions = Landmarks::with_jitter(self.kernel.clone(), asked, Self::JITTER)?;
        let total = self.committee(&questions)?;
        // The rows of L that belong to the questions, which stand behind their companions.
        let mut chosen = Matrix::zeros(count, query.rows());
        (0..query.rows()).for_each(|row| chosen[(count - query.rows() + row, row)] = 1.0);
        let mut root = multiply(lower(questions.factor()).transpose(), chosen.as_ref());
        let belief = LandmarkBelief::new(questions, &total)?;
        let mean = multiply(root.transpose(), belief.weights().as_ref());
        belief.factor().whiten(root.as_mut());
        Ok(Answer { mean, root })
    }

    /// The sum of what all members say.
    pub(super) fn committee(&self, questions: &Landmarks) -> Result<Summary> {
        let mut tree = SummaryTree::of_outputs(self.outputs());
        for some in self.members.chunks(WAVE) {
            let opinions: Vec<Summary> = some
                .par_iter()
                .map(|member| member.opinion(questions))
                .collect::<quorate_gp::Result<_>>()?;
            for opinion in opinions {
                tree.push(opinion)?;
            }
        }
        let mut total = tree.total(questions.count())?;
        if !self.shape.prior {
            // Each member's precision is its information and the prior's, which nobody takes out again.
            let extra = self.members.len().saturating_sub(1) as f64;
            (0..questions.count()).for_each(|i| total.information[(i, i)] += extra);
        }
        Ok(total)
    }
}

struct Answer {
    mean: Matrix,
    /// `R` with covariance `R'R`.
    root: Matrix,
}

/// A factor as a lower triangular matrix, zeros above.
fn lower(factor: &Factor) -> Matrix {
    factor.colour(Matrix::identity(factor.size(), factor.size()).as_ref())
}
