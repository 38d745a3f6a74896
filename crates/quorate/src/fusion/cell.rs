//! Opinions about one value of the function: what a rule looks at.

use super::learned::Learned;
use super::nested::Between;

/// Mean and variance of a belief about one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Expected value.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
}

/// Everything said about one value of the function.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// What each member believes.
    pub opinions: &'a [Moments],
    /// What each believed before it saw its rows.
    pub priors: &'a [Moments],
    /// The belief of a member that saw only the rows all members share.
    pub base: Option<Moments>,
    /// Variance of the noise that is added after fusion.
    pub noise: f64,
    /// What was found out about the members on rows they have not seen.
    pub learned: Option<&'a Learned>,
    /// How the members' means vary together under their common process.
    pub between: Option<&'a Between>,
}

/// Smallest variance an opinion is taken at its word with, relative to its prior's: an expert that stands on a row without
/// noise has none left, and its precision would be infinite.
const LEAST: f64 = 1e-14;

impl Cell<'_> {
    /// Precision and precision times mean of a member's opinion.
    pub(super) fn information(&self, member: usize) -> (f64, f64) {
        let least = LEAST * self.priors[member].variance;
        information(self.opinions[member], least)
    }

    /// The same before it saw its rows.
    pub(super) fn prior_information(&self, member: usize) -> (f64, f64) {
        information(self.priors[member], f64::MIN_POSITIVE)
    }

    /// The mean of the priors' information: the prior itself where all have the same.
    pub(super) fn reference(&self) -> (f64, f64) {
        let members = self.priors.len() as f64;
        let mut sum = (0.0, 0.0);
        for member in 0..self.priors.len() {
            let (precision, vector) = self.prior_information(member);
            sum = (sum.0 + precision, sum.1 + vector);
        }
        (sum.0 / members, sum.1 / members)
    }

    /// Half the logarithm of the variance's drop from `before`: what the member has learned here, in nats; at least 0.
    pub(super) fn learned_nats(&self, member: usize, before: f64) -> f64 {
        let own = self.opinions[member]
            .variance
            .max(LEAST * self.priors[member].variance);
        (0.5 * (before / own).ln()).max(0.0)
    }
}

/// Precision, and precision times mean.
pub(super) fn information(belief: Moments, least: f64) -> (f64, f64) {
    let precision = 1.0 / belief.variance.max(least).max(f64::MIN_POSITIVE);
    (precision, precision * belief.mean)
}
