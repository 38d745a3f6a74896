//! How members do on rows they have not seen: every row is left out once.

use quorate_gp::data::Dataset;
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::makers::shuffled;
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
    let rows = data.rows();
    let mut fold_of = vec![0; rows];
    for (place, row) in shuffled(rows, seed).into_iter().enumerate() {
        fold_of[row] = place % FOLDS;
    }
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
            .map(|(recipe, own)| {
                let kept: Vec<usize> = own
                    .iter()
                    .copied()
                    .filter(|&row| fold_of[row] != fold)
                    .collect();
                // A member of one or two rows keeps them: without any it has nothing to say.
                let kept = if kept.is_empty() { own.to_vec() } else { kept };
                let member = recipe.fit(&data.select(&kept))?;
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

impl Record {
    /// The same with the evidence of members fitted to all their rows.
    pub fn with_evidence(mut self, members: &[Box<dyn Member>]) -> Self {
        self.log_evidence = members.iter().map(|m| m.log_evidence()).collect();
        self
    }
}
