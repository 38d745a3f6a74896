//! Rows left out, asked as new questions are.
//!
//! A question in company is answered by an expert who knows the nearest rows of all, and errs less than one that is asked
//! alone: with 10,000 rows of kin40k by a fifth. How wide answers are is learned from rows left out, which must err as
//! new questions do. So they are asked together too, so few at a time that the other rows lie about as close to them as to
//! new questions, and by experts who know about as many rows as those of questions that stand as close together as the rows
//! do. Kernels are compared by experts who know more: that is where they differ.

use std::collections::HashSet;

use quorate_gp::data::{Inputs, Member};
use quorate_gp::gaussian::Marginals;
use quorate_gp::posterior::{LeaveOneOut, Predict};
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::LocalAnswers;
use super::ask::RowsKnown;
use crate::error::Result;

/// One in so many rows is left out at a time.
const AT_ONCE: usize = 20;
/// Rows an expert of several may know at most; more would make a fit take much longer and intervals little better.
pub const MOST_ROWS_LEFT_OUT: usize = 800;
/// Rows the expert of a single question may know at most: with 800 it errs by 4 % less, and fits take up to a third longer.
const MOST_ROWS_ALONE: usize = 500;
/// Places at which it is seen how many rows an expert knows.
const LOOKS: usize = 20;

impl LocalAnswers {
    /// Some original rows, given by their places among the members of the data, each predicted from its neighbourhood and
    /// the other rows with its own inputs, by experts who know so many rows where they answer about several.
    pub fn leave_one_out(
        &self,
        places: &[usize],
        most_rows: usize,
        watch: &dyn Watch,
    ) -> Result<(Vec<Member>, LeaveOneOut)> {
        let picked = || places.iter().map(|&place| self.data().members()[place]);
        let wanted: HashSet<usize> = picked().map(|member| member.row).collect();
        let mut rows: Vec<usize> = picked().map(|member| member.group).collect();
        rows.sort_unstable();
        rows.dedup();
        watch.progress("scoring rows left out", 0, rows.len());
        let (alone, shared): (Vec<usize>, Vec<usize>) = (rows.iter()).partition(|&&row| {
            self.data().rows() > 1 && self.data().select(&[row]).members().len() == 1
        });
        let mut answers = self.answer_in_folds(&alone, most_rows, watch)?;
        let space = self.search.space();
        let points = space.points(self.data().inputs());
        let dimension = space.dimension();
        let others: Vec<Vec<(Member, LeaveOneOut)>> = shared
            .par_iter()
            .map(|&row| {
                watch.check()?;
                self.answer_without(row, &points[row * dimension..(row + 1) * dimension])
            })
            .collect::<Result<_>>()?;
        answers.extend(others.into_iter().flatten());
        answers.sort_by_key(|(member, _)| (member.group, member.row));
        let mut members = Vec::new();
        let mut all = LeaveOneOut::default();
        for (member, answer) in answers {
            if wanted.contains(&member.row) {
                members.push(member);
                all.push(&answer, 0);
            }
        }
        watch.progress("scoring rows left out", rows.len(), rows.len());
        Ok((members, all))
    }

    /// Rows that nobody shares the inputs of.
    fn answer_in_folds(
        &self,
        rows: &[usize],
        most_rows: usize,
        watch: &dyn Watch,
    ) -> Result<Vec<(Member, LeaveOneOut)>> {
        let at_once = (self.data().rows() / AT_ONCE).max(1);
        let folds = rows.len().div_ceil(at_once).max(1);
        let mut answers = Vec::with_capacity(rows.len());
        let answer = |rows: &[usize], questions: Inputs<'_>| -> Result<Marginals> {
            Ok(self.expert(rows)?.marginals(questions)?)
        };
        for fold in 0..folds {
            watch.check()?;
            watch.progress("scoring rows left out", answers.len(), rows.len());
            let own: Vec<usize> = rows.iter().skip(fold).step_by(folds).copied().collect();
            let without: HashSet<usize> = own.iter().copied().collect();
            let held = self.data().select(&own);
            let known = RowsKnown {
                without: &without,
                least: self.neighbourhood.least_rows,
                most: most_rows,
            };
            let told = self.by_groups_of(known, held.inputs(), answer)?;
            for (place, member) in held.members().iter().enumerate() {
                let means = (0..held.outputs()).map(|output| told.mean[(place, output)]);
                let answer = LeaveOneOut {
                    target: held.own_targets(place).collect(),
                    mean: means.collect(),
                    variance: vec![told.variance[(place, 0)]],
                    noise: vec![self.noise().variance + held.known_noise()[place]],
                    ..LeaveOneOut::default()
                };
                let group = own[place];
                answers.push((Member { group, ..*member }, answer));
            }
        }
        Ok(answers)
    }

    /// The same, with experts who know about as many rows as that of a question in company, also where a question is asked alone.
    pub fn as_in_company(mut self) -> Self {
        self.neighbourhood.least_rows = self.rows_in_company().min(MOST_ROWS_ALONE);
        self
    }

    /// How many rows the expert of a question knows on average, where it is asked with those that lie next to it; no more than
    /// a fit can afford.
    pub fn rows_in_company(&self) -> usize {
        let space = self.search.space();
        let rows = self.data().rows();
        let looks = LOOKS.min(rows);
        let known = |look: usize| {
            let point = |row: usize| space.points(self.data().select(&[row]).inputs());
            let company =
                self.nearest_rows(&point(look * rows / looks), self.neighbourhood.together);
            let near = |row: usize| self.nearest_rows(&point(row), self.neighbourhood.neighbours);
            let known: HashSet<usize> = company.into_iter().flat_map(near).collect();
            known.len()
        };
        let mean = (0..looks).map(known).sum::<usize>() / looks.max(1);
        mean.min(MOST_ROWS_LEFT_OUT)
    }

    /// The members of one row, each predicted from the row's neighbourhood and its other members.
    fn answer_without(&self, row: usize, point: &[f64]) -> Result<Vec<(Member, LeaveOneOut)>> {
        let mut near = self.nearest_rows(point, self.neighbourhood.neighbours + 1);
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
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use quorate_gp::data::{ColumnKind, Dataset, InputColumn};
    use quorate_gp::kernel::Kernel;
    use quorate_gp::likelihood::GaussianNoise;
    use quorate_gp::watch::Unwatched;

    use super::*;
    use crate::local::Neighbourhood;

    fn answers(rows: Dataset, together: usize) -> LocalAnswers {
        let column = |name: &str| InputColumn {
            name: name.into(),
            kind: ColumnKind::Number,
            deviation: 1.0,
        };
        let kernel: Kernel = "matern32(length_scale=0.7)".parse().unwrap();
        let shape = Neighbourhood {
            neighbours: 12,
            together,
            least_rows: 0,
        };
        let kernel = kernel.bind(&[column("a"), column("b")]).unwrap();
        LocalAnswers::new(kernel, GaussianNoise { variance: 0.01 }, rows, shape)
    }

    fn table() -> Dataset {
        let golden = |i: usize, step: f64| (i as f64 * step).fract() * 4.0;
        let values: Vec<f64> = (0..400)
            .flat_map(|i| [golden(i, 0.754_877_666), golden(i, 0.569_840_291)])
            .collect();
        let targets = values.chunks(2).map(|x| (x[0] + 2.0 * x[1]).sin());
        let targets = targets.collect();
        Dataset::new(values, 2, targets, None, None).unwrap()
    }

    #[test]
    fn rows_left_out_alone_are_told_what_new_questions_are() {
        let data = table();
        // No more than are left out at a time.
        let places: Vec<usize> = (0..400).step_by(21).collect();
        assert_eq!(places.len(), 400 / AT_ONCE);
        let (members, told) = answers(data.clone(), 1)
            .leave_one_out(&places, 12, &Unwatched)
            .unwrap();
        let rows: Vec<usize> = members.iter().map(|member| member.group).collect();
        assert_eq!(rows, places);

        let others: Vec<usize> = (0..400).filter(|row| !places.contains(row)).collect();
        let asked = data.select(&places);
        let new = answers(data.select(&others), 1)
            .marginals(asked.inputs())
            .unwrap();
        for row in 0..places.len() {
            assert!((told.mean[row] - new.mean[(row, 0)]).abs() < 1e-12);
            assert!((told.variance[row] - new.variance[(row, 0)]).abs() < 1e-12);
            assert_eq!(told.target[row], asked.targets()[row]);
        }
    }

    #[test]
    fn many_rows_are_left_out_a_few_at_a_time() {
        let data = table();
        let all: Vec<usize> = (0..400).collect();
        let (members, told) = answers(data.clone(), 4)
            .leave_one_out(&all, 30, &Unwatched)
            .unwrap();
        assert_eq!(members.len(), 400);
        // Their own targets would be told to within the noise; in their absence neighbours tell most of them.
        let errors = told
            .mean
            .iter()
            .zip(&told.target)
            .map(|(m, t)| (m - t).abs());
        let mean = errors.sum::<f64>() / 400.0;
        assert!((0.005..0.1).contains(&mean), "{mean}");
    }

    #[test]
    fn close_company_shares_most_of_its_rows() {
        let alone = answers(table(), 1).rows_in_company();
        let company = answers(table(), 8).rows_in_company();
        assert_eq!(alone, 12);
        assert!((16..40).contains(&company), "{company}");
    }

    #[test]
    fn a_question_asked_alone_knows_as_many_rows_as_one_in_company() {
        let company = answers(table(), 8);
        let rows = company.rows_in_company();
        let company = company.as_in_company();
        assert_eq!(company.neighbourhood().least_rows, rows);
        let one = [1.3, 2.7];
        let one = Inputs::new(&one, 1, 2).unwrap();
        assert_eq!(company.nearest(one).len(), rows);

        let mut wide = answers(table(), 1);
        wide.neighbourhood.neighbours = rows;
        let (told, expected) = (
            company.marginals(one).unwrap(),
            wide.marginals(one).unwrap(),
        );
        assert_eq!(told.mean[(0, 0)], expected.mean[(0, 0)]);
        assert_eq!(told.variance[(0, 0)], expected.variance[(0, 0)]);
        // Two that stand apart share no rows: each looks as far as it would alone.
        let two = Inputs::new(&[1.3, 2.7, 3.9, 0.1], 2, 2).unwrap();
        let (both, apart) = (
            company.marginals(two).unwrap(),
            wide.marginals(two).unwrap(),
        );
        assert_eq!(both.mean[(1, 0)], apart.mean[(1, 0)]);
        let few = answers(table(), 8).marginals(one).unwrap();
        assert!(told.variance[(0, 0)] < few.variance[(0, 0)]);
    }
}
