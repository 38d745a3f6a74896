//! How members do on rows they have not seen: every row is left out once.

use quorate_gp::data::Dataset;
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::makers::shuffled;
use super::seats::Share;
use crate::error::Result;
use crate::fusion::Record;
use crate::member::{Member, Recipe};

/// Folds in which rows are left out: members lose a third of their rows, and are fitted three times more.
pub const FOLDS: usize = 3;

/// Fits each member to its rows without one fold and predicts that fold, for each fold. `seats` has a recipe and the rows of
/// each member. What recipes share was learned from all rows; only what members learn themselves is left out.
pub fn out_of_fold(
    seats: &[(&dyn Recipe, &[usize])],
    data: &Dataset,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Record> {
    let shares: Vec<Share> = seats
        .iter()
        .map(|(_, rows)| Share::Rows(rows.to_vec()))
        .collect();
    let seats: Vec<(&dyn Recipe, &Share)> = seats
        .iter()
        .zip(&shares)
        .map(|((recipe, _), share)| (*recipe, share))
        .collect();
    out_of_fold_of(&seats, data, seed, watch)
}

/// The same for members that are shown anything.
pub fn out_of_fold_of(
    seats: &[(&dyn Recipe, &Share)],
    data: &Dataset,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Record> {
    let rows = data.rows();
    let fold_of = folds(rows, seed);
    let mut means = Matrix::zeros(rows, seats.len());
    let mut variances = Matrix::zeros(rows, seats.len());
    for fold in 0..FOLDS {
        watch.check()?;
        let asked: Vec<usize> = (0..rows).filter(|&row| fold_of[row] == fold).collect();
        if asked.is_empty() {
            continue;
        }
        let questions = data.select(&asked);
        let answers: Vec<(Vec<f64>, Vec<f64>)> = seats
            .par_iter()
            .map(|(recipe, share)| {
                let member = recipe.fit(&share.of(data, None, |row| fold_of[row] != fold)?)?;
                let belief = member.marginals(questions.inputs())?;
                let noise = member.noise_variance();
                let column = |matrix: &Matrix| matrix.col_as_slice(0).to_vec();
                let noisy = column(&belief.variance).iter().map(|v| v + noise).collect();
                Ok((column(&belief.mean), noisy))
            })
            .collect::<Result<_>>()?;
        for (seat, (mean, variance)) in answers.iter().enumerate() {
            for (place, &row) in asked.iter().enumerate() {
                means[(row, seat)] = mean[place];
                variances[(row, seat)] = variance[place];
            }
        }
    }
    Ok(Record {
        targets: data.targets().to_vec(),
        weights: data.weights().to_vec(),
        means,
        variances,
        log_evidence: vec![None; seats.len()],
    })
}

/// The fold of each row.
pub(super) fn folds(rows: usize, seed: u64) -> Vec<usize> {
    let mut fold_of = vec![0; rows];
    for (place, row) in shuffled(rows, seed).into_iter().enumerate() {
        fold_of[row] = place % FOLDS;
    }
    fold_of
}

impl Record {
    /// The same with the evidence of members fitted to all their rows.
    pub fn with_evidence(mut self, members: &[Box<dyn Member>]) -> Self {
        self.log_evidence = members.iter().map(|m| m.log_evidence()).collect();
        self
    }
}
