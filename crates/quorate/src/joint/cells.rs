//! Many questions sorted into cells of neighbours, and each cell answered through a few of its questions.
//!
//! Parts are independent of each other given the function at the questions. Questions that stand together determine the
//! function around them, which is where it matters, and a few of them determine it at all others: those are asked jointly as
//! published, and the rest follows from them without another word of the parts (Tresp 2000, sec. 6.4).

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::Marginals;
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::Predict;
use quorate_gp::watch::{Unwatched, Watch};
use rayon::prelude::*;

use super::JointAnswers;
use crate::error::Result;
use crate::landmarks::{LandmarkBelief, Landmarks, pivots};
use crate::partition::cells;

/// Cells answered at the same time: bounds the memory. No answer depends on it.
const WAVE: usize = 8;

/// How questions are sorted and asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// Questions of a cell, at most.
    pub questions: usize,
    /// Questions of a cell that are put to the parts, at most.
    pub asked: usize,
    /// Variance of any other question that may be left unknown when the function is known at those.
    pub unknown: f64,
}

impl JointAnswers {
    /// Mean and variance at each query point, wherever it stands among the others.
    pub fn marginals_in_cells(
        &self,
        query: Inputs<'_>,
        how: Cells,
        watch: &dyn Watch,
    ) -> Result<Marginals> {
        let outputs = self.outputs();
        let all: Vec<usize> = (0..query.rows()).collect();
        let lists = cells(self.kernel(), query, &all, how.questions.max(1));
        let mut belief = Marginals {
            mean: Matrix::zeros(query.rows(), outputs),
            variance: Matrix::zeros(query.rows(), outputs),
        };
        let mut done = 0;
        for some in lists.chunks(WAVE) {
            watch.check()?;
            watch.progress("asking the committee", done, query.rows());
            let answers: Vec<Marginals> = some
                .par_iter()
                .map(|rows| self.cell(query, rows, how))
                .collect::<Result<_>>()?;
            for (rows, answer) in some.iter().zip(&answers) {
                for (place, &row) in rows.iter().enumerate() {
                    for output in 0..outputs {
                        belief.mean[(row, output)] = answer.mean[(place, output)];
                        belief.variance[(row, output)] = answer.variance[(place, output)];
                    }
                }
                done += rows.len();
            }
        }
        watch.progress("asking the committee", done, query.rows());
        Ok(belief)
    }

    /// One cell: the questions of which the others know least are asked.
    fn cell(&self, query: Inputs<'_>, rows: &[usize], how: Cells) -> Result<Marginals> {
        let width = query.width();
        let values: Vec<f64> = rows
            .iter()
            .flat_map(|&row| query.row(row))
            .copied()
            .collect();
        let cell = Inputs::new(&values, rows.len(), width)?;
        let most = how.asked.clamp(1, rows.len());
        let asked = pivots(self.kernel(), cell, most, how.unknown, &Unwatched)?;
        let asked = Inputs::new(&asked, asked.len() / width.max(1), width)?;
        let questions = Landmarks::with_jitter(self.kernel().clone(), asked, Self::JITTER)?;
        let total = self.committee(&questions)?;
        Ok(LandmarkBelief::new(questions, &total)?.marginals(cell)?)
    }
}
