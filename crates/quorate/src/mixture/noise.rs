//! Noise that depends on the inputs: a process for the logarithm of its deviation (Tresp 2001, sec. 4 and appendix).

use super::between::Between;
use super::processes::Track;
use super::sites::Sites;
use crate::error::Result;

/// Logarithm of the least deviation of noise: rows that are fitted to the last digit would count without limit.
const LEAST_SPREAD: f64 = -14.0;

/// Precision of noise whose deviation has the logarithm `spread`.
pub fn precision(spread: f64) -> f64 {
    (-2.0 * spread.max(LEAST_SPREAD)).exp()
}

/// What the noise of one expert looks at: its squared errors, expected ones where the expert is not sure of itself.
pub struct Errors<'a> {
    /// Squared error of each row, plus the expert's variance there.
    pub squares: &'a [f64],
    /// The expert's responsibility for each row, times the row's weight.
    pub counts: &'a [f64],
    /// What is added to the process: the logarithm of the usual deviation.
    pub level: f64,
}

impl Errors<'_> {
    /// Squared error in units of the noise variance.
    fn ratio(&self, row: usize, value: f64) -> f64 {
        self.squares[row] * precision(self.level + value)
    }

    /// The sites at a value of the process.
    ///
    /// The appendix prints the observed Hessian, `2 P r^2 e^-2f`, which vanishes where the error is zero; the expected
    /// one is `2 P`. The slope is `P (r^2 e^-2f - 1)`.
    pub fn sites(&self, value: &[f64]) -> Sites {
        let mut sites = Sites::default();
        for (row, f) in value.iter().enumerate() {
            let precision = 2.0 * self.counts[row];
            sites.precision.push(precision);
            let slope = self.counts[row] * (self.ratio(row, *f) - 1.0);
            sites.shift.push(precision * f + slope);
        }
        sites
    }

    /// Expected log density of the rows, as far as it depends on the process.
    pub fn value(&self, value: &[f64]) -> f64 {
        let rows = value.iter().enumerate();
        let each = rows.map(|(row, f)| self.counts[row] * (-f - 0.5 * self.ratio(row, *f)));
        each.sum()
    }

    /// One step of Fisher scoring.
    pub fn step(&self, track: &mut Track, covariance: &Between) -> Result<()> {
        let smoothed = covariance.hear(self.sites(&track.value))?;
        track.step(smoothed, |value| self.value(value));
        Ok(())
    }
}
