//! Starting values that suit the data.

use super::bound::{BoundAtom, BoundFactor, BoundKernel, BoundTerm};
use super::families::levels;
use super::period::strongest_period;
use super::text::{Factor, Key, LEAST, MOST, Term};
use crate::data::{ColumnKind, Inputs};
use crate::parameters::Transform;

/// Ratio of the first length scales of terms that are written alike.
const APART: f64 = 4.0;

impl BoundKernel {
    /// Moves every value that the text did not give to a start that suits standardised data: length scales to the
    /// square root of the number of columns (so that typical rows are one length apart), variances to equal shares
    /// of one, the first coordinate of a level's embedding to the shrunken mean target of the level, periods to the
    /// strongest wave in the targets. Terms that are written alike start with length scales four times each
    /// other's: from equal values their gradients are equal, and they would stay one term for ever.
    pub fn initialise(&mut self, inputs: Inputs<'_>, targets: &[f64]) {
        let mut starts = Vec::new();
        self.start_terms(
            &self.terms,
            &self.kernel.terms,
            inputs,
            targets,
            &mut starts,
        );
        for (index, value) in starts {
            let allowed = self.parameters[index].transform == Transform::Identity
                || (LEAST..=MOST).contains(&value);
            if !self.given[index] && value.is_finite() && allowed {
                self.set_value(index, value);
            }
        }
    }

    fn start_terms(
        &self,
        terms: &[BoundTerm],
        written: &[Term],
        inputs: Inputs<'_>,
        targets: &[f64],
        starts: &mut Vec<(usize, f64)>,
    ) {
        for (place, (term, text)) in terms.iter().zip(written).enumerate() {
            let share = (terms.len() as f64).recip();
            starts.extend(term.variance.map(|index| (index, share)));
            let alike = written[..place].iter().filter(|other| *other == text);
            let stretch = APART.powi(alike.count() as i32);
            for (factor, text) in term.factors.iter().zip(&text.factors) {
                match (factor, text) {
                    (BoundFactor::Sum(terms), Factor::Group(group)) => {
                        self.start_terms(terms, &group.terms, inputs, targets, starts);
                    }
                    (BoundFactor::Atom(atom), _) => {
                        self.start_atom(atom, stretch, inputs, targets, starts);
                    }
                    (BoundFactor::Sum(_), Factor::Atom(_)) => {}
                }
            }
        }
    }

    fn start_atom(
        &self,
        atom: &BoundAtom,
        stretch: f64,
        inputs: Inputs<'_>,
        targets: &[f64],
        starts: &mut Vec<(usize, f64)>,
    ) {
        let reads_numbers = atom
            .columns
            .iter()
            .all(|&column| !matches!(self.columns[column].kind, ColumnKind::Category { .. }));
        for (key, range) in &atom.keys {
            match key {
                Key::LengthScale if reads_numbers => {
                    let length = stretch * (atom.columns.len().max(1) as f64).sqrt();
                    starts.extend(range.clone().map(|index| (index, length)));
                }
                Key::Period => {
                    let numbers = atom
                        .columns
                        .iter()
                        .copied()
                        .filter(|&column| self.columns[column].kind == ColumnKind::Number);
                    for (index, column) in range.clone().zip(numbers) {
                        let x: Vec<f64> = (0..inputs.rows())
                            .map(|row| inputs.row(row)[column])
                            .collect();
                        let period = strongest_period(&x, targets);
                        starts.extend(period.map(|period| (index, period)));
                    }
                }
                Key::Embedding => {
                    let column = atom.columns[0];
                    let levels = levels(&self.columns[column]);
                    let rank = range.len().checked_div(levels).unwrap_or(1).max(1);
                    let means = shrunken_means(inputs, column, levels, targets);
                    let first = range.clone().step_by(rank);
                    // A trace of the pattern keeps levels with equal means from staying equal.
                    starts.extend(
                        first.zip(means).map(|(index, mean)| {
                            (index, mean + 0.1 * pattern(index - range.start))
                        }),
                    );
                }
                _ => {}
            }
        }
    }
}

/// Mean of each level's targets around the mean of all, shrunk towards it as if one more row stood there.
fn shrunken_means(inputs: Inputs<'_>, column: usize, levels: usize, targets: &[f64]) -> Vec<f64> {
    let mean = targets.iter().sum::<f64>() / targets.len().max(1) as f64;
    let mut sums = vec![0.0; levels];
    let mut counts = vec![1.0; levels];
    for (row, target) in (0..inputs.rows()).zip(targets) {
        let level = inputs.row(row)[column] as usize;
        if level < levels {
            sums[level] += target - mean;
            counts[level] += 1.0;
        }
    }
    sums.iter()
        .zip(counts)
        .map(|(sum, count)| sum / count)
        .collect()
}

/// Small distinct numbers of either sign, the same every time.
pub(super) fn pattern(index: usize) -> f64 {
    /// Golden angle in turns: successive points never meet.
    const TURN: f64 = 0.381_966_011_250_105_2;
    0.3 * (std::f64::consts::TAU * TURN * (index as f64 + 1.0)).cos()
}
