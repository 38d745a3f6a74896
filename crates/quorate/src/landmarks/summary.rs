//! What a part knows, as seen from the landmarks: a state that adds.

use std::f64::consts::PI;

use quorate_gp::data::Dataset;
use quorate_gp::kernel::tiles;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, multiply};
use quorate_gp::posterior::{target_matrix, within_groups};
use quorate_gp::{Error, Result};

use super::Landmarks;

/// `(B - I, b)` with the evidence scalars and the row count of everything absorbed so far.
///
/// With `V = L^-1 k(Z, X_i)` and `Q_i = k(X_i, X_i) + Psi_i - V'V` (Tresp 2000, eq. 13), a part adds
/// `V Q_i^-1 V'` to the information (eq. 15, whitened) and `V Q_i^-1 y_i` to the vector (eq. 14).
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// `B - I`; only the lower triangle is meaningful.
    pub information: Matrix,
    /// `b`, one column per output.
    pub vector: Matrix,
    /// `sum_i -1/2 log|2 pi Q_i| - 1/2 y_i' Q_i^-1 y_i`, with what lies within groups of equal inputs.
    pub log_evidence: f64,
    /// Rows absorbed, counting weights.
    pub rows: f64,
}

impl Summary {
    /// Nothing absorbed yet.
    pub fn empty(landmarks: usize, outputs: usize) -> Self {
        Self {
            information: Matrix::zeros(landmarks, landmarks),
            vector: Matrix::zeros(landmarks, outputs),
            log_evidence: 0.0,
            rows: 0.0,
        }
    }

    /// The summary of one part.
    pub fn of_part(landmarks: &Landmarks, noise: GaussianNoise, part: &Dataset) -> Result<Self> {
        Ok(PartFactor::new(landmarks, noise, part)?.summary(noise, part))
    }

    /// Number of landmarks it speaks of.
    pub fn landmarks(&self) -> usize {
        self.vector.nrows()
    }

    /// Number of outputs it speaks of.
    pub fn outputs(&self) -> usize {
        self.vector.ncols()
    }

    /// The sum of two summaries under the same landmarks.
    pub fn merge(mut self, other: &Summary) -> Result<Self> {
        self.add(other, 1.0)?;
        Ok(self)
    }

    /// What is left when a part is taken out again.
    pub fn remove(mut self, part: &Summary) -> Result<Self> {
        self.add(part, -1.0)?;
        Ok(self)
    }

    fn add(&mut self, other: &Summary, sign: f64) -> Result<()> {
        if self.landmarks() != other.landmarks() {
            return Err(Error::Shape {
                what: "landmarks of the summaries",
                expected: self.landmarks(),
                found: other.landmarks(),
            });
        }
        if self.outputs() != other.outputs() {
            return Err(Error::Shape {
                what: "outputs of the summaries",
                expected: self.outputs(),
                found: other.outputs(),
            });
        }
        for column in 0..self.landmarks() {
            let theirs = &other.information.col_as_slice(column)[column..];
            let ours = &mut self.information.col_as_slice_mut(column)[column..];
            for (mine, their) in ours.iter_mut().zip(theirs) {
                *mine += sign * their;
            }
        }
        for output in 0..self.outputs() {
            let theirs = other.vector.col_as_slice(output);
            let ours = self.vector.col_as_slice_mut(output).iter_mut();
            ours.zip(theirs)
                .for_each(|(mine, their)| *mine += sign * their);
        }
        self.log_evidence += sign * other.log_evidence;
        self.rows += sign * other.rows;
        Ok(())
    }
}

/// One part factored against the landmarks: what both its summary and its gradient need.
pub(crate) struct PartFactor {
    /// `V = L^-1 k(Z, X)`, landmarks x rows.
    pub whitened: Matrix,
    /// Factor of `Q`.
    pub factor: Factor,
    /// `L_Q^-1 V'`, rows x landmarks.
    pub scaled: Matrix,
    /// `L_Q^-1 y`, one column per output.
    pub target: Matrix,
}

impl PartFactor {
    pub fn new(landmarks: &Landmarks, noise: GaussianNoise, part: &Dataset) -> Result<Self> {
        let whitened = landmarks.whitened(part.inputs());
        let psi = noise.group_variances(part);
        // Q is a conditional covariance plus noise: rounding may leave it a hair from positive.
        let factor = Factor::new(part.rows(), JitterPolicy::default(), |mut out| {
            tiles::fill_lower(landmarks.kernel(), part.inputs(), out.as_mut());
            add_gram_lower(out.as_mut(), -1.0, whitened.as_ref());
            for (i, variance) in psi.iter().enumerate() {
                out[(i, i)] += variance;
            }
        })?;
        let mut scaled = whitened.transpose().to_owned();
        factor.whiten(scaled.as_mut());
        let mut target = target_matrix(part);
        factor.whiten_block(target.as_mut());
        Ok(Self {
            whitened,
            factor,
            scaled,
            target,
        })
    }

    pub fn summary(&self, noise: GaussianNoise, part: &Dataset) -> Summary {
        let landmarks = self.scaled.ncols();
        let mut information = Matrix::zeros(landmarks, landmarks);
        add_gram_lower(information.as_mut(), 1.0, self.scaled.as_ref());
        let outputs = 0..self.target.ncols();
        let entries = outputs.flat_map(|output| self.target.col_as_slice(output));
        let misfit: f64 = entries.map(|z| z * z).sum();
        let times = self.target.ncols() as f64;
        let (within, _) = within_groups(noise, part);
        Summary {
            information,
            vector: multiply(self.scaled.transpose(), self.target.as_ref()),
            log_evidence: -0.5 * misfit
                - 0.5 * times * self.factor.log_determinant()
                - 0.5 * times * part.rows() as f64 * (2.0 * PI).ln()
                + within,
            rows: part.total_weight(),
        }
    }
}

/// Adds summaries in a fixed tree: the sum depends on the order of the parts alone, not on who finished first, and
/// rounding grows with the logarithm of their number. At most one summary per level is held.
#[derive(Clone, Debug)]
pub struct SummaryTree {
    /// Level k holds the sum of 2^k consecutive parts, like the digits of a binary counter.
    levels: Vec<Option<Summary>>,
    outputs: usize,
}

impl Default for SummaryTree {
    fn default() -> Self {
        Self::of_outputs(1)
    }
}

impl SummaryTree {
    /// Nothing added yet, for parts with so many outputs.
    pub fn of_outputs(outputs: usize) -> Self {
        Self {
            levels: Vec::new(),
            outputs,
        }
    }

    /// Outputs that its parts speak of.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Adds the next part.
    pub fn push(&mut self, mut summary: Summary) -> Result<()> {
        for level in &mut self.levels {
            match level.take() {
                Some(earlier) => summary = earlier.merge(&summary)?,
                None => {
                    *level = Some(summary);
                    return Ok(());
                }
            }
        }
        self.levels.push(Some(summary));
        Ok(())
    }

    /// The sum of all parts.
    pub fn total(self, landmarks: usize) -> Result<Summary> {
        let mut total: Option<Summary> = None;
        for level in self.levels.into_iter().flatten() {
            total = Some(match total {
                Some(later) => level.merge(&later)?,
                None => level,
            });
        }
        Ok(total.unwrap_or_else(|| Summary::empty(landmarks, self.outputs)))
    }

    /// The tree as plain numbers, for a checkpoint: a count of levels, then each with its sum or without.
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.levels.len() as f64];
        for level in &self.levels {
            let Some(sum) = level else {
                numbers.push(0.0);
                continue;
            };
            numbers.extend([1.0, sum.log_evidence, sum.rows]);
            for column in 0..sum.landmarks() {
                numbers.extend_from_slice(&sum.information.col_as_slice(column)[column..]);
            }
            for output in 0..sum.outputs() {
                numbers.extend_from_slice(sum.vector.col_as_slice(output));
            }
        }
        numbers
    }

    /// The tree that numbers were made from.
    pub fn from_numbers(landmarks: usize, outputs: usize, numbers: &[f64]) -> Result<Self> {
        let foreign =
            || Error::Invalid("the sum in the checkpoint does not go with this fit".into());
        let mut left = numbers;
        let mut take = |count: usize| -> Result<&[f64]> {
            let (taken, rest) = left.split_at_checked(count).ok_or_else(foreign)?;
            left = rest;
            Ok(taken)
        };
        let count = take(1)?[0] as usize;
        let mut levels = Vec::new();
        for _ in 0..count.min(numbers.len()) {
            if take(1)?[0] == 0.0 {
                levels.push(None);
                continue;
            }
            let mut sum = Summary::empty(landmarks, outputs);
            let scalars = take(2)?;
            (sum.log_evidence, sum.rows) = (scalars[0], scalars[1]);
            for column in 0..landmarks {
                let own = &mut sum.information.col_as_slice_mut(column)[column..];
                own.copy_from_slice(take(landmarks - column)?);
            }
            for output in 0..outputs {
                let vector = take(landmarks)?;
                sum.vector.col_as_slice_mut(output).copy_from_slice(vector);
            }
            levels.push(Some(sum));
        }
        // Numbers of another count of landmarks may be read to some end, but not to theirs.
        if left.is_empty() {
            Ok(Self { levels, outputs })
        } else {
            Err(foreign())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_survives_as_numbers() {
        let mut tree = SummaryTree::of_outputs(2);
        for part in 0..5 {
            let mut summary = Summary::empty(3, 2);
            summary.rows = f64::from(part);
            summary.information[(2, 1)] = 0.1 * f64::from(part);
            summary.vector[(0, 0)] = 1.0 / 3.0;
            summary.vector[(2, 1)] = 0.2;
            tree.push(summary).unwrap();
        }
        let numbers = tree.to_numbers();
        let back = SummaryTree::from_numbers(3, 2, &numbers).unwrap();
        assert_eq!(back.levels, tree.levels);
        assert!(SummaryTree::from_numbers(4, 2, &numbers).is_err());
        assert!(SummaryTree::from_numbers(3, 2, &numbers[..7]).is_err());
        assert!(SummaryTree::from_numbers(3, 2, &[]).is_err());
    }
}
