//! A seeded choice of rows.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

/// Chooses `count` of `rows` row numbers at random, without repetition, in increasing order; the same for the same seed.
pub fn random_rows(rows: usize, count: usize, seed: u64) -> Vec<usize> {
    let count = count.min(rows);
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..rows).collect();
    for place in 0..count {
        let other = place + (random.next_u64() % (rows - place) as u64) as usize;
        order.swap(place, other);
    }
    order.truncate(count);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::random_rows;

    #[test]
    fn rows_are_distinct_sorted_and_repeatable() {
        let rows = random_rows(100, 30, 7);
        assert_eq!(rows.len(), 30);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows[29] < 100);
        assert_eq!(rows, random_rows(100, 30, 7));
        assert_ne!(rows, random_rows(100, 30, 8));
        assert_eq!(random_rows(5, 9, 0), [0, 1, 2, 3, 4]);
    }
}
