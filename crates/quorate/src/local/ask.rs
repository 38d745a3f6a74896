//! Questions answered from the rows nearest to them.

use std::collections::HashSet;

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::Marginals;
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{JitterPolicy, Matrix};
use quorate_gp::posterior::{ExactPosterior, Predict};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::share::{Crowd, Shared, union};
use crate::error::Result;
use crate::space::{Cell, NeighbourSearch, ScaledSpace, balanced_cells};

/// Rows an expert may know before its questions are shared out between two.
const MOST_ROWS: usize = 2000;

/// How wide an expert looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbourhood {
    /// Nearest rows taken for each question.
    pub neighbours: usize,
    /// Questions that may be answered together, from the union of their nearest rows.
    pub together: usize,
    /// Rows an expert knows at least, so that a question asked alone is answered as well as one in company; none in
    /// models of earlier builds.
    #[serde(default)]
    pub least_rows: usize,
}

/// Which rows experts may know.
#[derive(Clone, Copy)]
pub(super) struct RowsKnown<'a> {
    /// Rows that nobody knows.
    pub without: &'a HashSet<usize>,
    /// An expert who would know fewer looks further.
    pub least: usize,
    /// The questions of an expert who would know more are shared out between two.
    pub most: usize,
}

/// The rows, ready to answer any question locally.
#[derive(Clone, Debug)]
pub struct LocalAnswers {
    kernel: BoundKernel,
    noise: GaussianNoise,
    data: Dataset,
    pub(super) search: NeighbourSearch,
    pub(super) neighbourhood: Neighbourhood,
}

impl LocalAnswers {
    /// Prepares the rows.
    pub fn new(
        kernel: BoundKernel,
        noise: GaussianNoise,
        data: Dataset,
        neighbourhood: Neighbourhood,
    ) -> Self {
        let space = ScaledSpace::of_kernel(&kernel);
        let search = NeighbourSearch::new(space, data.inputs());
        Self {
            kernel,
            noise,
            data,
            search,
            neighbourhood,
        }
    }

    /// The kernel with its hyperparameters.
    pub fn kernel(&self) -> &BoundKernel {
        &self.kernel
    }

    /// How wide experts look.
    pub fn neighbourhood(&self) -> Neighbourhood {
        self.neighbourhood
    }

    /// The rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The rows that a question, the first of `query`, is answered from when it is asked alone, the nearest first.
    pub fn nearest(&self, query: Inputs<'_>) -> Vec<usize> {
        let points = self.search.space().points(query);
        let shape = self.neighbourhood;
        self.nearest_rows(&points, shape.neighbours.max(shape.least_rows))
    }

    /// The rows nearest to a point that are not left out.
    fn nearest_but(&self, point: &[f64], count: usize, without: &HashSet<usize>) -> Vec<usize> {
        if without.is_empty() {
            return self.nearest_rows(point, count);
        }
        // Those left out are few and lie everywhere.
        let mut near = self.nearest_rows(point, count + count / 4 + 10);
        near.retain(|row| !without.contains(row));
        near.truncate(count);
        near
    }

    pub(super) fn nearest_rows(&self, point: &[f64], count: usize) -> Vec<usize> {
        let found = self.search.nearest(point, count);
        found
            .iter()
            .map(|neighbour| neighbour.row as usize)
            .collect()
    }

    pub(super) fn expert(&self, rows: &[usize]) -> Result<ExactPosterior> {
        let policy = JitterPolicy::default();
        let data = self.data.select(rows);
        Ok(ExactPosterior::condition(
            self.kernel.clone(),
            self.noise,
            data,
            policy,
        )?)
    }

    /// Mean and variance at each query point.
    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        self.by_groups(query, |rows, questions| {
            Ok(self.expert(rows)?.marginals(questions)?)
        })
    }

    /// Questions that stand together share experts, who know the union of their nearest rows.
    pub(super) fn by_groups(
        &self,
        query: Inputs<'_>,
        answer: impl Fn(&[usize], Inputs<'_>) -> Result<Marginals> + Sync,
    ) -> Result<Marginals> {
        let rows = RowsKnown {
            without: &HashSet::new(),
            least: self.neighbourhood.least_rows,
            most: MOST_ROWS,
        };
        self.by_groups_of(rows, query, answer)
    }

    /// The same where it is told which rows experts may know, and how many.
    pub(super) fn by_groups_of(
        &self,
        known: RowsKnown<'_>,
        query: Inputs<'_>,
        answer: impl Fn(&[usize], Inputs<'_>) -> Result<Marginals> + Sync,
    ) -> Result<Marginals> {
        let space = self.search.space();
        let points = space.points(query);
        let dimension = space.dimension();
        let (order, cells) = if dimension == 0 {
            let all = Cell {
                start: 0,
                end: query.rows(),
            };
            ((0..query.rows() as u32).collect(), vec![all])
        } else {
            let directions = space.number_dimension().max(1);
            balanced_cells(&points, dimension, directions, self.neighbourhood.together)
        };
        let crowd = Crowd {
            points: &points,
            dimension,
            directions: space.number_dimension().max(1),
            most_rows: known.most,
        };
        let point = |question: u32| {
            let first = question as usize * dimension;
            &points[first..first + dimension]
        };
        let near =
            |question: u32, count: usize| self.nearest_but(point(question), count, known.without);
        let neighbours = self.neighbourhood.neighbours;
        let answers: Vec<Vec<(Vec<u32>, Marginals)>> = cells
            .par_iter()
            .map(|cell| {
                let questions = &order[cell.start..cell.end];
                let nearest = questions.iter().map(|&q| near(q, neighbours));
                let nearest: Vec<Vec<usize>> = nearest.collect();
                let mut told = Vec::new();
                for Shared {
                    questions,
                    mut rows,
                } in crowd.share(questions, &nearest)
                {
                    if rows.len() < known.least {
                        let wider = neighbours.saturating_mul(known.least);
                        let count = wider.div_ceil(rows.len().max(1)).min(self.data.rows());
                        rows = union(questions.iter().map(|&q| near(q, count)));
                    }
                    let values = questions.iter().flat_map(|&q| query.row(q as usize));
                    let values: Vec<f64> = values.copied().collect();
                    let asked = Inputs::new(&values, questions.len(), query.width())?;
                    let belief = answer(&rows, asked)?;
                    told.push((questions, belief));
                }
                Ok(told)
            })
            .collect::<Result<_>>()?;
        let outputs = self.data.outputs();
        let mut mean = Matrix::zeros(query.rows(), outputs);
        let mut variance = Matrix::zeros(query.rows(), outputs);
        for (questions, own) in answers.into_iter().flatten() {
            for (place, row) in questions.into_iter().enumerate() {
                for output in 0..outputs {
                    mean[(row as usize, output)] = own.mean[(place, output)];
                    variance[(row as usize, output)] = own.variance[(place, output)];
                }
            }
        }
        Ok(Marginals { mean, variance })
    }

    /// The noise of the rows.
    pub(super) fn noise(&self) -> GaussianNoise {
        self.noise
    }
}
