//! Several classes: the softmax of one latent function for each.

use crate::data::Dataset;
use crate::{Error, Result};

/// How often each class was seen at each latent place: rows with equal inputs share one.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    count: usize,
    /// Row after row, one number for each class.
    seen: Vec<f64>,
    /// Sum over the classes of each row.
    totals: Vec<f64>,
}

impl Classes {
    /// The targets of a data set as class codes 0, 1, ..., `count - 1`; weights count.
    ///
    /// ```
    /// use quorate_gp::data::Dataset;
    /// use quorate_gp::likelihood::Classes;
    ///
    /// let data = Dataset::new(vec![0.0, 1.0, 0.0], 1, vec![2.0, 0.0, 1.0], None, None)?;
    /// let classes = Classes::of(&data, 3)?;
    /// assert_eq!(classes.row(0), [0.0, 1.0, 1.0]);
    /// # Ok::<(), quorate_gp::Error>(())
    /// ```
    pub fn of(data: &Dataset, count: usize) -> Result<Self> {
        if count < 2 {
            return Err(Error::Invalid(format!(
                "classification needs at least two classes, not {count}"
            )));
        }
        let mut seen = vec![0.0; data.rows() * count];
        for member in data.members() {
            let code = member.target;
            if !(code >= 0.0 && code < count as f64 && code.fract() == 0.0) {
                return Err(Error::Invalid(format!(
                    "the class of row {} is {code}, but there are the classes 0 to {}",
                    member.row + 1,
                    count - 1
                )));
            }
            seen[member.group * count + code as usize] += member.weight;
        }
        Ok(Self {
            count,
            totals: seen.chunks(count).map(|row| row.iter().sum()).collect(),
            seen,
        })
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of distinct rows.
    pub fn rows(&self) -> usize {
        self.totals.len()
    }

    /// How often each class was seen at a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.seen[row * self.count..(row + 1) * self.count]
    }

    /// Total weight of a row.
    pub fn total(&self, row: usize) -> f64 {
        self.totals[row]
    }

    /// The given rows, in that order.
    ///
    /// # Panics
    /// When a row is not among them.
    pub fn select(&self, rows: &[usize]) -> Classes {
        Self {
            count: self.count,
            seen: rows
                .iter()
                .flat_map(|&row| self.row(row))
                .copied()
                .collect(),
            totals: rows.iter().map(|&row| self.totals[row]).collect(),
        }
    }
}

/// Writes `softmax(latent)` and returns `log sum exp(latent)`.
pub fn softmax(latent: &[f64], out: &mut [f64]) -> f64 {
    let top = latent.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let mut sum = 0.0;
    for (value, f) in out.iter_mut().zip(latent) {
        *value = (f - top).exp();
        sum += *value;
    }
    for value in out.iter_mut() {
        *value /= sum;
    }
    top + sum.ln()
}
