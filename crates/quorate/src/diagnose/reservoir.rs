//! A random sample of a stream whose length is not known.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;

/// Keeps each of the items offered with the same probability (Vitter 1985, algorithm R).
#[derive(Clone, Debug)]
pub struct Reservoir<T> {
    items: Vec<T>,
    most: usize,
    offered: usize,
    random: ChaCha12Rng,
}

impl<T> Reservoir<T> {
    /// Room for `most` items.
    pub fn new(most: usize, seed: u64) -> Self {
        Self {
            items: Vec::new(),
            most,
            offered: 0,
            random: ChaCha12Rng::seed_from_u64(seed),
        }
    }

    /// Offers one item, which is made only when it is kept.
    pub fn offer(&mut self, item: impl FnOnce() -> T) {
        self.offered += 1;
        if self.items.len() < self.most {
            self.items.push(item());
        } else if self.most > 0 {
            let place = self.random.random_range(0..self.offered);
            if place < self.most {
                self.items[place] = item();
            }
        }
    }

    /// The sample.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_kept_equally_often() {
        let mut kept = [0usize; 40];
        for seed in 0..2000 {
            let mut sample = Reservoir::new(10, seed);
            for item in 0..40 {
                sample.offer(|| item);
            }
            let items = sample.into_items();
            assert_eq!(items.len(), 10);
            for item in items {
                kept[item] += 1;
            }
        }
        // 500 expected, standard deviation 19: five of them.
        assert!(
            kept.iter().all(|&count| (405..595).contains(&count)),
            "{kept:?}"
        );
    }
}
