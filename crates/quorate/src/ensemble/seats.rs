//! Who sits in a committee, and what each of them is shown.

use quorate_gp::data::{Classes, Dataset};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use super::makers::{Bag, changed, parts, reweighted};
use crate::error::{Error, Result};
use crate::member::normals;

/// How members come to their rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MakerChoice {
    /// Random parts that share no rows.
    #[default]
    Parts,
    /// Bootstrap samples of all rows (Breiman 1996).
    Bags,
    /// All rows for everybody: for members of different kinds.
    All,
    /// All rows, with noise of its own added to the targets of each (Breiman 2000, *Randomizing outputs*).
    Noise,
    /// All rows, with some labels of its own drawn anew for each (Breiman 2000).
    Flips,
    /// One after the other: each listens to what the last got wrong.
    Boost,
    /// Three members, the second on rows of which the first got half wrong, the third on rows about which they disagree.
    Filter,
}

impl MakerChoice {
    /// True where a member depends on those before it.
    pub fn is_successive(self) -> bool {
        matches!(self, MakerChoice::Boost | MakerChoice::Filter)
    }
}

/// What one member is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Share {
    /// These distinct rows.
    Rows(Vec<usize>),
    /// A bootstrap sample.
    Bag {
        /// Seed of the sample.
        seed: u64,
    },
    /// All rows, with noise on the targets.
    Noisy {
        /// Seed of the noise.
        seed: u64,
        /// Its deviation.
        deviation: f64,
    },
    /// All rows, some with another label.
    Flipped {
        /// Seed of the labels.
        seed: u64,
        /// Probability that a label is drawn anew.
        rate: f64,
    },
}

/// A place in a committee: the recipe of whoever sits there, and what is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Seat {
    /// Position of the recipe.
    pub recipe: usize,
    /// What is shown.
    pub share: Share,
}

/// What decides who is shown what.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    /// How members come to their rows.
    pub maker: MakerChoice,
    /// Members of the committee; where every kind sees all rows there is one of each.
    pub count: usize,
    /// Share of the target's variance that is added, or of the labels that are drawn anew.
    pub strength: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Making {
    /// The seats of a committee of so many recipes, who take turns.
    pub fn seats(self, recipes: usize, data: &Dataset) -> Vec<Seat> {
        let seed = |place: usize| self.seed.wrapping_add(place as u64);
        let share = |place: usize| match self.maker {
            MakerChoice::Bags => Share::Bag { seed: seed(place) },
            MakerChoice::Noise => Share::Noisy {
                seed: seed(place),
                deviation: self.strength.sqrt(),
            },
            MakerChoice::Flips => Share::Flipped {
                seed: seed(place),
                rate: self.strength,
            },
            _ => Share::Rows((0..data.rows()).collect()),
        };
        let shares: Vec<Share> = match self.maker {
            MakerChoice::Parts => {
                let own = parts(data.rows(), self.count, self.seed);
                own.into_iter().map(Share::Rows).collect()
            }
            MakerChoice::All => (0..recipes).map(share).collect(),
            _ => (0..self.count.max(1)).map(share).collect(),
        };
        let turn = |(place, share)| Seat {
            recipe: place % recipes.max(1),
            share,
        };
        shares.into_iter().enumerate().map(turn).collect()
    }
}

impl Share {
    /// The rows that are shown, of those groups that are kept. A member of one or two rows keeps them: without any it has
    /// nothing to say.
    pub fn of(
        &self,
        data: &Dataset,
        classes: Option<&Classes>,
        kept: impl Fn(usize) -> bool,
    ) -> Result<Dataset> {
        let group = |place: usize| data.members()[place].group;
        let one = |place: usize| f64::from(u8::from(kept(group(place))));
        match self {
            Share::Rows(own) => {
                let left: Vec<usize> = own.iter().copied().filter(|&row| kept(row)).collect();
                Ok(data.select(if left.is_empty() { own } else { &left }))
            }
            Share::Bag { seed } => {
                let bag = Bag::draw(data, *seed, None)?;
                let left = reweighted(data, |place| one(place) * f64::from(bag.counts[place]));
                left.or(Ok(bag.rows))
            }
            Share::Noisy { seed, deviation } => {
                let noise = normals(data.members().len() * data.outputs(), *seed);
                changed(data, one, |place, targets| {
                    for (output, target) in targets.iter_mut().enumerate() {
                        *target += deviation * noise[place * data.outputs() + output];
                    }
                })
            }
            Share::Flipped { seed, rate } => {
                let classes = classes.ok_or_else(|| {
                    Error::Spec("labels can be flipped where the target is a class".into())
                })?;
                let scales = classes.scales();
                let first = classes.count() - classes.outputs();
                let mut random = ChaCha12Rng::seed_from_u64(seed ^ 0x666c_6970);
                let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                changed(data, one, |_, targets| {
                    // Two numbers for every row, so that what happens to one does not depend on the others. New labels
                    // are drawn in proportion to their shares, so that those stay as they are.
                    let (flip, mut point) = (unit() < *rate, unit());
                    if !flip {
                        return;
                    }
                    let drawn = classes.shares().iter().position(|share| {
                        point -= share;
                        point < 0.0
                    });
                    let class = drawn.unwrap_or(classes.count() - 1);
                    for (output, target) in targets.iter_mut().enumerate() {
                        let raw = if first + output == class { 1.0 } else { -1.0 };
                        *target = scales[output].apply(raw);
                    }
                })
            }
        }
    }

    /// For each distinct row, whether the member has seen none of it; only bags leave rows out that others see.
    pub fn unseen(&self, data: &Dataset) -> Result<Vec<bool>> {
        let mut unseen = vec![false; data.rows()];
        if let Share::Bag { seed } = self {
            unseen.fill(true);
            let bag = Bag::draw(data, *seed, None)?;
            for (place, member) in data.members().iter().enumerate() {
                if bag.counts[place] > 0 {
                    unseen[member.group] = false;
                }
            }
        }
        Ok(unseen)
    }
}
