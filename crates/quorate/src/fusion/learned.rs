//! Weights found once, from rows the members have not seen or from their evidence.

use quorate_gp::linalg::{Factor, JitterPolicy, Matrix};

use super::shrinkage::correlation;
use super::weights::softmax;
use super::{Fusion, Pool, Record, Weights};
use crate::error::{Error, Result};

/// What was found out about the members.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Weight of each member, the same everywhere; for rules that find none, equal.
    pub weights: Vec<f64>,
    /// Correlation of the members' errors on rows not seen.
    pub correlation: Matrix,
}

/// Rounds of coordinate descent; far more than a few dozen members need.
const ROUNDS: usize = 20_000;
/// Members that say the same share their weight instead of leaving it to rounding; relative to the mean curvature.
const RIDGE: f64 = 1e-10;

impl Fusion {
    /// True where [`Fusion::learn`] finds something that answers depend on.
    pub fn needs_record(&self) -> bool {
        self.weights.is_found_before() || self.pool == Pool::Average
    }

    /// True where it gives each member a weight that is the same everywhere.
    pub fn has_weights(&self) -> bool {
        self.weights.is_found_before() || self.weights == Weights::Boosted
    }

    /// Finds the weights of the members, and the correlation of their errors.
    pub fn learn(&self, record: &Record) -> Result<Learned> {
        let members = record.members();
        let is_blind = record.targets.is_empty();
        if members == 0 || (is_blind && self.weights != Weights::Evidence) {
            return Err(Error::Spec(
                "weights need members and rows they have not seen".into(),
            ));
        }
        let weights = match self.weights {
            Weights::Covariance { shrunk } => covariance_weights(record, shrunk)?,
            Weights::Evidence => evidence_weights(record)?,
            Weights::Stacked => stacked(record),
            Weights::Density => densest(record),
            _ => vec![1.0 / members as f64; members],
        };
        Ok(Learned {
            weights,
            correlation: match is_blind {
                true => Matrix::from_fn(members, members, |_, _| 1.0),
                false => correlation(record, true),
            },
        })
    }
}

/// `C^-1 1 / 1' C^-1 1` (Perrone and Cooper 1993, eq. 16; Latouche 2007, 3.2.2, with errors in the place of predictions).
fn covariance_weights(record: &Record, shrunk: bool) -> Result<Vec<f64>> {
    let members = record.members();
    let moments = record.second_moments();
    let correlation = correlation(record, shrunk);
    let covariance = Matrix::from_fn(members, members, |i, j| {
        correlation[(i, j)] * (moments[(i, i)] * moments[(j, j)]).sqrt()
    });
    let factor = Factor::new(members, JitterPolicy::default(), |mut out| {
        out.copy_from(&covariance);
    })
    .map_err(|_| {
        Error::Spec(
            "the members' errors do not determine their weights: fewer members, more rows, or shrink them".into(),
        )
    })?;
    let mut solved = Matrix::from_fn(members, 1, |_, _| 1.0);
    factor.solve(solved.as_mut());
    let total: f64 = solved.col_as_slice(0).iter().sum();
    Ok(solved
        .col_as_slice(0)
        .iter()
        .map(|own| own / total)
        .collect())
}

/// In proportion to the evidence (Latouche 2007, 3.2.5), which compares members that saw the same rows.
fn evidence_weights(record: &Record) -> Result<Vec<f64>> {
    let evidence: Option<Vec<f64>> = record.log_evidence.iter().copied().collect();
    evidence
        .map(|logarithms| softmax(&logarithms))
        .ok_or_else(|| Error::Spec("not every member has an evidence to be weighed by".into()))
}

/// Non-negative least squares of the targets on the members' means (Breiman 1996, *Stacked regressions*, sec. 3).
///
/// Coordinate descent on a convex quadratic: every round is exact in one weight after the other.
fn stacked(record: &Record) -> Vec<f64> {
    let members = record.members();
    let rows = 0..record.targets.len();
    let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
        rows.clone().map(|row| record.weights[row] * of(row)).sum()
    };
    let mut gram = Matrix::from_fn(members, members, |i, j| {
        sum(&|row| record.means[(row, i)] * record.means[(row, j)])
    });
    let right: Vec<f64> = (0..members)
        .map(|i| sum(&|row| record.means[(row, i)] * record.targets[row]))
        .collect();
    let mean = (0..members).map(|i| gram[(i, i)]).sum::<f64>() / members as f64;
    for i in 0..members {
        gram[(i, i)] += RIDGE * mean + f64::MIN_POSITIVE;
    }
    let mut weights = vec![1.0 / members as f64; members];
    for _ in 0..ROUNDS {
        let mut moved: f64 = 0.0;
        for i in 0..members {
            let slope = (0..members).map(|j| gram[(i, j)] * weights[j]).sum::<f64>() - right[i];
            let next = (weights[i] - slope / gram[(i, i)]).max(0.0);
            moved = moved.max((next - weights[i]).abs());
            weights[i] = next;
        }
        if moved < 1e-13 {
            break;
        }
    }
    weights
}

/// Weights of the mixture under which the rows are likeliest, by expectation and maximisation (Yao, Vehtari, Simpson and
/// Gelman 2018, eq. 5: stacking of predictive distributions).
fn densest(record: &Record) -> Vec<f64> {
    let members = record.members();
    let total: f64 = record.weights.iter().sum();
    let mut weights = vec![1.0 / members as f64; members];
    for _ in 0..1000 {
        let mut sums = vec![0.0; members];
        for row in 0..record.targets.len() {
            let terms: Vec<f64> = (0..members)
                .map(|j| weights[j].ln() + record.log_density(row, j))
                .collect();
            for (sum, share) in sums.iter_mut().zip(softmax(&terms)) {
                *sum += record.weights[row] * share;
            }
        }
        let next: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let moves = next.iter().zip(&weights).map(|(a, b)| (a - b).abs());
        let moved = moves.fold(0.0, f64::max);
        weights = next;
        if moved < 1e-9 {
            break;
        }
    }
    weights
}
