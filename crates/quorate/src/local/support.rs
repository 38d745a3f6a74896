//! Nearest rows answer, and landmarks carry everything else.
//!
//! The partially independent conditional approximation (Snelson and Ghahramani 2007), with the neighbourhood of the
//! questions in the place of their block: exact between the questions and the neighbourhood, through the landmarks for
//! all other rows.

use std::collections::BTreeSet;

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::Marginals;
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::linalg::{Matrix, add_product, dot, multiply};
use serde::{Deserialize, Serialize};

use super::{LocalAnswers, Neighbourhood};
use crate::error::Result;
use crate::landmarks::{LandmarkBelief, PartFactor, Summary};
use crate::partition::PartedRows;

/// The size of a local committee with landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupportedShape {
    /// The rows that answer.
    pub neighbourhood: Neighbourhood,
    /// Number of landmarks that carry the others.
    pub landmarks: usize,
    /// Rows of one part behind the landmarks, at most.
    pub part_size: usize,
    /// Replace the parts that a neighbourhood touches, instead of counting its rows on both sides.
    pub replace_touched: bool,
}

/// Rows and landmarks, ready to answer.
#[derive(Clone, Debug)]
pub struct SupportedAnswers {
    local: LocalAnswers,
    belief: LandmarkBelief,
    /// Sum and parts, where touched parts are replaced.
    replaced: Option<(Summary, PartedRows)>,
}

impl SupportedAnswers {
    /// Neighbourhoods of `local` in front of what all `parts` said to the landmarks, whose sum is `total`.
    pub fn new(
        local: LocalAnswers,
        belief: LandmarkBelief,
        total: &Summary,
        parts: &PartedRows,
        shape: SupportedShape,
    ) -> Self {
        let replaced = shape
            .replace_touched
            .then(|| (total.clone(), parts.clone()));
        Self {
            local,
            belief,
            replaced,
        }
    }

    /// The neighbourhoods in front of the landmarks.
    pub fn local(&self) -> &LocalAnswers {
        &self.local
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        self.local.kernel()
    }

    /// Mean and variance at each query point.
    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        self.local.by_groups(query, |rows, questions| {
            let landmarks = self.belief.landmarks();
            let near = self.local.data().select(rows);
            let expert = PartFactor::new(landmarks, self.local.noise(), &near)?;
            match &self.replaced {
                None => Ok(answer(&self.belief, &expert, &near, questions)),
                Some((total, parts)) => {
                    let total = self.replace(total, parts, rows, &expert, &near)?;
                    let belief = LandmarkBelief::new(landmarks.clone(), &total)?;
                    Ok(answer(&belief, &expert, &near, questions))
                }
            }
        })
    }

    /// The sum with the neighbourhood as one part, and what is left of each part it touches as a part of its own.
    fn replace(
        &self,
        total: &Summary,
        parts: &PartedRows,
        rows: &[usize],
        expert: &PartFactor,
        near: &Dataset,
    ) -> Result<Summary> {
        let (landmarks, noise) = (self.belief.landmarks(), self.local.noise());
        let touched: BTreeSet<u32> = rows.iter().map(|&row| parts.part_of[row]).collect();
        let mut total = total.clone();
        for part in touched {
            let of_part = |row: &usize| parts.part_of[*row] == part;
            let all: Vec<usize> = (0..parts.part_of.len()).filter(of_part).collect();
            let left: Vec<usize> = all
                .iter()
                .filter(|row| rows.binary_search(row).is_err())
                .copied()
                .collect();
            let whole = Summary::of_part(landmarks, noise, &parts.data.select(&all))?;
            total = total.remove(&whole)?;
            if !left.is_empty() {
                let rest = Summary::of_part(landmarks, noise, &parts.data.select(&left))?;
                total = total.merge(&rest)?;
            }
        }
        Ok(total.merge(&expert.summary(noise, near))?)
    }
}

/// With `C = k(X_s, x) - V_s' v`, `H = Q_s^-1 C` and `w = v - V_s H`: mean `w' B^-1 b + H' y_s`, variance
/// `k(x, x) - v'v - C'H + w' B^-1 w`. Written with `L_Q^-1 C` alone: `V_s H = (L_Q^-1 V_s')' L_Q^-1 C`.
fn answer(
    belief: &LandmarkBelief,
    expert: &PartFactor,
    near: &Dataset,
    questions: Inputs<'_>,
) -> Marginals {
    let landmarks = belief.landmarks();
    let kernel = landmarks.kernel();
    let mut through = landmarks.whitened(questions);
    let mut own = Matrix::zeros(near.rows(), questions.rows());
    kernel.fill(near.inputs(), questions, own.as_mut());
    add_product(
        own.as_mut(),
        -1.0,
        expert.whitened.transpose(),
        through.as_ref(),
    );
    expert.factor.whiten(own.as_mut());
    let squares = |matrix: &Matrix, q: usize| dot(matrix.col_as_slice(q), matrix.col_as_slice(q));
    let prior = kernel.diagonal(questions);
    let left: Vec<f64> = (0..questions.rows())
        .map(|q| (prior[q] - squares(&through, q) - squares(&own, q)).max(0.0))
        .collect();
    add_product(
        through.as_mut(),
        -1.0,
        expert.scaled.transpose(),
        own.as_ref(),
    );
    let mut mean = multiply(through.transpose(), belief.weights().as_ref());
    add_product(mean.as_mut(), 1.0, own.transpose(), expert.target.as_ref());
    belief.factor().whiten(through.as_mut());
    let variance: Vec<f64> = (0..questions.rows())
        .map(|q| left[q] + squares(&through, q))
        .collect();
    let variance = Matrix::from_fn(mean.nrows(), mean.ncols(), |q, _| variance[q]);
    Marginals { mean, variance }
}
