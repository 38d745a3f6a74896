//! Weights that rules found for the members of a committee.

use serde::Serialize;

/// A member and its weight under a rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// Kind of the member, or which part of the rows it saw.
    pub member: String,
    /// Mean of its weights over the folds.
    pub weight: f64,
}

/// Weights with the names of their members.
pub(super) fn named(names: &[String], weights: &[f64]) -> Vec<Weight> {
    let both = names.iter().zip(weights);
    both.map(|(member, &weight)| Weight {
        member: member.clone(),
        weight,
    })
    .collect()
}

/// Names of members on parts.
pub(super) fn part_names(count: usize) -> Vec<String> {
    (1..=count).map(|part| format!("part {part}")).collect()
}

/// Weights of the folds so far, added up; none as soon as a fold has none or has other members.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    sum: Option<Vec<Weight>>,
    folds: usize,
}

impl Gathered {
    pub fn add(&mut self, own: Option<Vec<Weight>>) {
        self.sum = match (self.sum.take(), own) {
            (None, own) if self.folds == 0 => own,
            (Some(mut sum), Some(own)) if same_members(&sum, &own) => {
                for (total, own) in sum.iter_mut().zip(own) {
                    total.weight += own.weight;
                }
                Some(sum)
            }
            _ => None,
        };
        self.folds += 1;
    }

    pub fn mean(self) -> Option<Vec<Weight>> {
        let folds = self.folds.max(1) as f64;
        let mut sum = self.sum?;
        sum.iter_mut().for_each(|own| own.weight /= folds);
        Some(sum)
    }
}

fn same_members(one: &[Weight], other: &[Weight]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.member == b.member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_averaged_over_folds_with_the_same_members() {
        let names = part_names(2);
        let mut gathered = Gathered::default();
        gathered.add(Some(named(&names, &[0.25, 0.75])));
        gathered.add(Some(named(&names, &[0.75, 0.25])));
        let mean = gathered.clone().mean().expect("both folds have weights");
        assert_eq!(mean, named(&names, &[0.5, 0.5]));
        gathered.add(None);
        gathered.add(Some(named(&names, &[1.0, 0.0])));
        assert_eq!(gathered.mean(), None);
    }
}
