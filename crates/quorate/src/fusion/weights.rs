//! How much each member is listened to at one query.

use super::{Cell, Weights};
use crate::error::{Error, Result};

impl Weights {
    /// True where the weights are found from rows the members have not seen, or from their evidence.
    pub fn is_found_before(self) -> bool {
        matches!(
            self,
            Weights::Covariance { .. } | Weights::Evidence | Weights::Stacked | Weights::Density
        )
    }

    /// The weights of all members at one query.
    pub(super) fn at(self, cell: &Cell<'_>) -> Result<Vec<f64>> {
        let members = cell.opinions.len();
        Ok(match self {
            Weights::One => vec![1.0; members],
            Weights::Equal => vec![1.0 / members as f64; members],
            // Deisenroth and Ng 2015, sec. 3.4.
            Weights::Learned => learned(cell),
            Weights::LearnedShare => {
                let nats = learned(cell);
                let total: f64 = nats.iter().sum();
                match total > 0.0 {
                    true => nats.iter().map(|own| own / total).collect(),
                    false => vec![1.0 / members as f64; members],
                }
            }
            // Liu, Cai, Wang and Ong 2018, below eq. 15: the first augmented expert has one.
            Weights::BeyondBase => {
                let base = cell.base.ok_or_else(|| {
                    Error::Spec("this rule needs a member that saw only the shared rows".into())
                })?;
                let beyond = |member| match member {
                    0 => 1.0,
                    _ => cell.learned_nats(member, base.variance),
                };
                (0..members).map(beyond).collect()
            }
            // Cohen, Mbuvha, Marwala and Deisenroth 2020, eq. 9, with the variance in units of the reference's.
            Weights::Tempered { temperature } => {
                let unit = 1.0 / cell.reference().0;
                let own = cell.opinions.iter().map(|opinion| opinion.variance / unit);
                softmax(&own.map(|share| -temperature * share).collect::<Vec<f64>>())
            }
            Weights::Boosted if cell.learned.is_none() => vec![1.0 / members as f64; members],
            Weights::Covariance { .. }
            | Weights::Evidence
            | Weights::Stacked
            | Weights::Boosted
            | Weights::Density => {
                let found = cell.learned.map(|learned| learned.weights.clone());
                found
                    .filter(|weights| weights.len() == members)
                    .ok_or_else(|| {
                        Error::Spec("this rule needs weights found before it is asked".into())
                    })?
            }
        })
    }
}

fn learned(cell: &Cell<'_>) -> Vec<f64> {
    let own = |member| cell.learned_nats(member, cell.priors[member].variance);
    (0..cell.opinions.len()).map(own).collect()
}

/// Shares in proportion to the exponentials.
pub(super) fn softmax(logarithms: &[f64]) -> Vec<f64> {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logarithms.iter().map(|l| (l - largest).exp()).collect();
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}
