//! Questions answered from the rows nearest to them.

use std::collections::HashSet;

use quorate_gp::data::{Dataset, Inputs, Member};
use quorate_gp::gaussian::Marginals;
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{JitterPolicy, Matrix};
use quorate_gp::posterior::{ExactPosterior, LeaveOneOut, Predict};
use quorate_gp::watch::Watch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::share::{Crowd, Shared};
use crate::error::Result;
use crate::space::{Cell, NeighbourSearch, ScaledSpace, balanced_cells};

/// How wide an expert looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbourhood {
    /// Nearest rows taken for each question.
    pub neighbours: usize,
    /// Questions that may be answered together, from the union of their nearest rows.
    pub together: usize,
}

/// The rows, ready to answer any question locally.
#[derive(Clone, Debug)]
pub struct LocalAnswers {
    kernel: BoundKernel,
    noise: GaussianNoise,
    data: Dataset,
    search: NeighbourSearch,
    neighbourhood: Neighbourhood,
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

    /// The rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The rows that a question, the first of `query`, is answered from when it is asked alone, the nearest first.
    pub fn nearest(&self, query: Inputs<'_>) -> Vec<usize> {
        let points = self.search.space().points(query);
        self.nearest_rows(&points, self.neighbourhood.neighbours)
    }

    /// Some original rows, given by their places among [`Dataset::members`], each predicted from its neighbourhood and
    /// the other rows with its own inputs.
    pub fn leave_one_out(
        &self,
        places: &[usize],
        watch: &dyn Watch,
    ) -> Result<(Vec<Member>, LeaveOneOut)> {
        let picked = || places.iter().map(|&place| self.data.members()[place]);
        let wanted: HashSet<usize> = picked().map(|member| member.row).collect();
        let mut rows: Vec<usize> = picked().map(|member| member.group).collect();
        rows.sort_unstable();
        rows.dedup();
        watch.progress("scoring rows left out", 0, rows.len());
        let space = self.search.space();
        let points = space.points(self.data.inputs());
        let dimension = space.dimension();
        let answers: Vec<Vec<(Member, LeaveOneOut)>> = rows
            .par_iter()
            .map(|&row| {
                watch.check()?;
                self.answer_without(row, &points[row * dimension..(row + 1) * dimension])
            })
            .collect::<Result<_>>()?;
        let mut members = Vec::new();
        let mut all = LeaveOneOut::default();
        for (member, answer) in answers.into_iter().flatten() {
            if wanted.contains(&member.row) {
                members.push(member);
                all.push(&answer, 0);
            }
        }
        watch.progress("scoring rows left out", rows.len(), rows.len());
        Ok((members, all))
    }

    /// The members of one row, each predicted from the row's neighbourhood and its other members.
    fn answer_without(&self, row: usize, point: &[f64]) -> Result<Vec<(Member, LeaveOneOut)>> {
        // What every question has at least: with company it knows more rows, and errs a little less than a row left out.
        let mut near = self.nearest_rows(point, self.neighbourhood.neighbours + 1);
        let own = self.data.select(&[row]);
        if let [member] = own.members()
            && near.len() > 1
        {
            near.retain(|&other| other != row);
            near.sort_unstable();
            // The way questions are answered, not the inverse of a matrix with the row in it: both are the same but for
            // rounding, which is all there is to see where rows have next to no noise.
            let told = self.expert(&near)?.marginals(own.inputs())?;
            let answer = LeaveOneOut {
                target: own.own_targets(0).collect(),
                mean: (0..own.outputs())
                    .map(|output| told.mean[(0, output)])
                    .collect(),
                variance: vec![told.variance[(0, 0)]],
                noise: vec![self.noise.variance + own.known_noise()[0]],
                ..LeaveOneOut::default()
            };
            let member = Member {
                group: row,
                ..*member
            };
            return Ok(vec![(member, answer)]);
        }
        near.push(row);
        near.sort_unstable();
        near.dedup();
        let own = near.iter().position(|&other| other == row);
        let expert = self.expert(&near)?;
        let (members, answers) = expert.leave_one_out_of(own.as_slice());
        Ok(members
            .iter()
            .enumerate()
            .map(|(index, member)| {
                let mut answer = LeaveOneOut::default();
                answer.push(&answers, index);
                let member = Member {
                    group: row,
                    ..*member
                };
                (member, answer)
            })
            .collect())
    }

    fn nearest_rows(&self, point: &[f64], count: usize) -> Vec<usize> {
        let found = self.search.nearest(point, count);
        found
            .iter()
            .map(|neighbour| neighbour.row as usize)
            .collect()
    }

    fn expert(&self, rows: &[usize]) -> Result<ExactPosterior> {
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
        };
        let answers: Vec<Vec<(Vec<u32>, Marginals)>> = cells
            .par_iter()
            .map(|cell| {
                let questions = &order[cell.start..cell.end];
                let nearest: Vec<Vec<usize>> = questions
                    .iter()
                    .map(|&q| {
                        let point = &points[q as usize * dimension..(q as usize + 1) * dimension];
                        self.nearest_rows(point, self.neighbourhood.neighbours)
                    })
                    .collect();
                let mut told = Vec::new();
                for Shared { questions, rows } in crowd.share(questions, &nearest) {
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
