//! How members did on rows they had not seen.

use std::f64::consts::PI;

use quorate_gp::linalg::Matrix;

/// Predictions of rows that the members had not seen, a column for each member.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The targets of the rows.
    pub targets: Vec<f64>,
    /// How many copies each row stands for.
    pub weights: Vec<f64>,
    /// Row i, column j: what member j expected.
    pub means: Matrix,
    /// Row i, column j: the variance of its prediction, noise included.
    pub variances: Matrix,
    /// Log evidence of the rows each member saw; absent for members that have none.
    pub log_evidence: Vec<Option<f64>>,
}

impl Record {
    /// Nothing but the evidence of each member's rows.
    pub fn of_evidence(log_evidence: Vec<Option<f64>>) -> Self {
        Self {
            targets: Vec::new(),
            weights: Vec::new(),
            means: Matrix::zeros(0, log_evidence.len()),
            variances: Matrix::zeros(0, log_evidence.len()),
            log_evidence,
        }
    }

    /// Number of members.
    pub fn members(&self) -> usize {
        self.means.ncols()
    }

    /// What was seen minus what was expected.
    pub fn error(&self, row: usize, member: usize) -> f64 {
        self.targets[row] - self.means[(row, member)]
    }

    /// Log density of the target in the member's prediction.
    pub fn log_density(&self, row: usize, member: usize) -> f64 {
        let variance = self.variances[(row, member)].max(f64::MIN_POSITIVE);
        -0.5 * (2.0 * PI * variance).ln() - 0.5 * self.error(row, member).powi(2) / variance
    }

    /// Second moments of the members' errors about zero, `C_ij = E[e_i e_j]` (Perrone and Cooper 1993, eq. 15): a member
    /// that is always wrong by the same amount is wrong.
    pub fn second_moments(&self) -> Matrix {
        let members = self.members();
        let total: f64 = self.weights.iter().sum();
        let mut moments = Matrix::zeros(members, members);
        for i in 0..members {
            for j in 0..=i {
                let products = (0..self.targets.len())
                    .map(|row| self.weights[row] * self.error(row, i) * self.error(row, j));
                let moment = products.sum::<f64>() / total;
                moments[(i, j)] = moment;
                moments[(j, i)] = moment;
            }
        }
        moments
    }
}
