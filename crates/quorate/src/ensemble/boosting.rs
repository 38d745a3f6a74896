//! AdaBoost: members one after the other, each listening to the rows that the last got wrong (Tresp 2001, *Committee
//! Machines*, 2.4; Freund and Schapire 1997; for several classes Zhu, Zou, Rosset and Hastie 2009).

use quorate_gp::data::{Dataset, Inputs};

use super::makers::Bag;
use crate::error::Result;
use crate::fusion::{largest, weighted_vote};
use crate::member::{Tree, TreeShape};

/// How a member hears of the rows' weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As weights of its rows.
    Reweighting,
    /// By a bootstrap sample in which they are probabilities.
    Subsampling {
        /// Seed of the samples.
        seed: u64,
    },
}

/// Trees and their votes.
#[derive(Clone, Debug, PartialEq)]
pub struct Boosted {
    classes: usize,
    trees: Vec<(Tree, f64)>,
}

/// Members at most, and the trees they are; leaves may be of any weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boosting {
    /// Members at most.
    pub rounds: usize,
    /// Cuts between the root of a tree and its leaves.
    pub depth: usize,
    /// How members hear of weights.
    pub how: How,
}

impl Boosting {
    /// Boosts classification trees; `labels` are classes `0..classes`.
    ///
    /// Boosting ends early when a member makes no error, or none better than chance: what it would be weighted by is not
    /// a number then.
    pub fn fit(self, inputs: Inputs<'_>, labels: &[usize], classes: usize) -> Result<Boosted> {
        let rows = labels.len();
        let targets: Vec<f64> = labels
            .iter()
            .flat_map(|&label| (0..classes).map(move |class| f64::from(u8::from(class == label))))
            .collect();
        let shape = TreeShape {
            depth: self.depth,
            leaf: f64::MIN_POSITIVE,
        };
        let mut weights = vec![1.0; rows];
        let mut trees = Vec::new();
        for round in 0..self.rounds {
            let heard = match self.how {
                How::Reweighting => weights.clone(),
                How::Subsampling { seed } => {
                    // Rows are told apart by their number: equal inputs may have different labels.
                    let numbers = (0..rows).map(|row| row as f64).collect();
                    let plain = Dataset::new(numbers, 1, vec![0.0; rows], None, None)?;
                    let bag = Bag::draw(&plain, seed.wrapping_add(round as u64), Some(&weights))?;
                    bag.counts.into_iter().map(f64::from).collect()
                }
            };
            let tree = Tree::grow(inputs, classes, &targets, &heard, shape);
            let wrong =
                |row: usize| largest(&tree.leaf(inputs.row(row)).value) != Some(labels[row]);
            let mistaken: Vec<bool> = (0..rows).map(wrong).collect();
            let total: f64 = weights.iter().sum();
            let error: f64 = mistaken
                .iter()
                .zip(&weights)
                .filter(|(mistaken, _)| **mistaken)
                .map(|(_, weight)| weight / total)
                .sum();
            if error <= 0.0 {
                trees.push((tree, 1.0));
                break;
            }
            let chance = 1.0 - 1.0 / classes as f64;
            if error >= chance {
                // The first member speaks even if it knows nothing.
                if trees.is_empty() {
                    trees.push((tree, 1.0));
                }
                break;
            }
            // log beta of the paper; with more than two classes a member need only beat their chance.
            let vote = ((1.0 - error) / error).ln() + (classes as f64 - 1.0).ln();
            for (weight, mistaken) in weights.iter_mut().zip(&mistaken) {
                if *mistaken {
                    *weight *= vote.exp();
                }
            }
            let mean = weights.iter().sum::<f64>() / rows as f64;
            weights.iter_mut().for_each(|weight| *weight /= mean);
            trees.push((tree, vote));
        }
        Ok(Boosted { classes, trees })
    }
}

impl Boosted {
    /// Number of members.
    pub fn members(&self) -> usize {
        self.trees.len()
    }

    /// The class of a row: each member votes for one.
    pub fn class(&self, row: &[f64]) -> usize {
        let (votes, weights): (Vec<Vec<f64>>, Vec<f64>) = self
            .trees
            .iter()
            .map(|(tree, vote)| {
                let own = largest(&tree.leaf(row).value);
                let one = |class: usize| f64::from(u8::from(Some(class) == own));
                ((0..self.classes).map(one).collect::<Vec<f64>>(), *vote)
            })
            .unzip();
        weighted_vote(&votes, &weights).unwrap_or(0)
    }
}
