//! A look at a table before anything is learned from it: how long it is, and a sample of its rows.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::Result;

use super::batches::Batches;
use super::chunks::Chunks;
use super::frame::Frame;

/// Some rows of a table, in its order, and how many it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The sample; the whole table where that is no longer.
    pub sample: Frame,
    /// Positions of its rows in the table, counted from 0.
    pub positions: Vec<usize>,
    /// Rows seen: all of the table, or those that were read of a stream, at most twice the sample.
    pub rows: usize,
    /// True when the table goes on behind the rows that were seen.
    pub goes_on: bool,
}

impl Survey {
    /// Looks through a whole table and keeps `count` of its rows, each with the same chance, the same for the same seed
    /// and for any size of batches (Vitter 1985, algorithm R).
    pub fn across(source: &mut dyn Batches, count: usize, seed: u64) -> Result<Survey> {
        let mut reservoir = Reservoir::new(count, seed);
        // Rows that were in the sample at some time; those since replaced are dropped when they are as many again.
        let mut pool = Pool::new(Frame::empty(source.header().clone()));
        while let Some(batch) = source.next_batch()? {
            let before = reservoir.seen;
            for _ in 0..batch.rows() {
                reservoir.offer();
            }
            let mut fresh: Vec<usize> = reservoir.slots.clone();
            fresh.retain(|position| *position >= before);
            fresh.sort_unstable();
            let rows: Vec<usize> = fresh.iter().map(|position| position - before).collect();
            if rows.len() == batch.rows() {
                pool.add(batch, fresh)?;
            } else if !rows.is_empty() {
                pool.add(batch.select_rows(&rows), fresh)?;
            }
            if pool.positions.len() > 2 * count {
                pool.keep(&reservoir.slots);
            }
        }
        if pool.positions.len() > reservoir.slots.len() {
            pool.keep(&reservoir.slots);
        }
        Ok(Survey {
            sample: pool.frame,
            positions: pool.positions,
            rows: reservoir.seen,
            goes_on: false,
        })
    }

    /// The first `count` rows of a table that can be read only once, and the rows that were read behind them; the source
    /// stands behind those.
    pub fn first(source: &mut dyn Batches, count: usize) -> Result<(Survey, Option<Frame>)> {
        let mut chunks = Chunks::new(source, count);
        let first = chunks.next_batch()?;
        let sample = first.unwrap_or_else(|| Frame::empty(chunks.header().clone()));
        // Nothing waits inside: what is less than a chunk is the end.
        let next = chunks.next_batch()?;
        let survey = Survey {
            positions: (0..sample.rows()).collect(),
            rows: sample.rows() + next.as_ref().map_or(0, Frame::rows),
            sample,
            goes_on: next.is_some(),
        };
        let rest = match (next, chunks.waiting()) {
            (Some(mut next), Some(more)) => {
                next.append(more)?;
                Some(next)
            }
            (next, _) => next,
        };
        Ok((survey, rest))
    }

    /// True when the sample is the table.
    pub fn is_whole(&self) -> bool {
        self.positions.len() == self.rows && !self.goes_on
    }
}

/// Rows of a table with their positions, in its order.
struct Pool {
    frame: Frame,
    positions: Vec<usize>,
}

impl Pool {
    fn new(frame: Frame) -> Self {
        Self {
            frame,
            positions: Vec::new(),
        }
    }

    fn add(&mut self, rows: Frame, positions: Vec<usize>) -> Result<()> {
        if self.positions.is_empty() {
            self.frame = rows;
        } else {
            self.frame.append(rows)?;
        }
        self.positions.extend(positions);
        Ok(())
    }

    fn keep(&mut self, positions: &[usize]) {
        let mut wanted = positions.to_vec();
        wanted.sort_unstable();
        let is_wanted = |place: &usize| wanted.binary_search(&self.positions[*place]).is_ok();
        let places: Vec<usize> = (0..self.positions.len()).filter(is_wanted).collect();
        self.frame = self.frame.select_rows(&places);
        self.positions = places.iter().map(|&place| self.positions[place]).collect();
    }
}

/// Positions that are in the sample so far.
struct Reservoir {
    slots: Vec<usize>,
    count: usize,
    seen: usize,
    random: ChaCha12Rng,
}

impl Reservoir {
    fn new(count: usize, seed: u64) -> Self {
        Self {
            slots: Vec::new(),
            count: count.max(1),
            seen: 0,
            random: ChaCha12Rng::seed_from_u64(seed ^ 0x7361_6d70),
        }
    }

    fn offer(&mut self) {
        let position = self.seen;
        self.seen += 1;
        if self.slots.len() < self.count {
            self.slots.push(position);
            return;
        }
        let slot = (self.random.next_u64() % self.seen as u64) as usize;
        if slot < self.count {
            self.slots[slot] = position;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::{Column, InMemory};

    fn numbers(count: usize) -> Frame {
        let cells = (0..count).map(|row| row as f64).collect();
        Frame::from_columns(vec![("x", Column::Number(cells))]).unwrap()
    }

    fn in_batches(count: usize, size: usize) -> Chunks<InMemory> {
        Chunks::new(InMemory::new(numbers(count)), size)
    }

    #[test]
    fn a_sample_is_spread_over_the_table_and_does_not_depend_on_batches() {
        let survey = Survey::across(&mut in_batches(5000, 700), 400, 3).unwrap();
        assert_eq!((survey.rows, survey.positions.len()), (5000, 400));
        assert!(!survey.is_whole());
        let cells: Vec<f64> = survey.positions.iter().map(|&row| row as f64).collect();
        assert_eq!(survey.sample.columns[0], Column::Number(cells));
        assert_eq!(survey.sample.row_number(7), survey.positions[7] + 1);
        let mean = survey.positions.iter().sum::<usize>() as f64 / 400.0;
        // Three standard errors of the mean of 400 uniform positions.
        assert!((mean - 2500.0).abs() < 3.0 * 5000.0 / 12.0_f64.sqrt() / 20.0);
        let other = Survey::across(&mut in_batches(5000, 64), 400, 3).unwrap();
        assert_eq!(survey.positions, other.positions);
        assert_eq!(survey.sample.columns, other.sample.columns);
        let another = Survey::across(&mut in_batches(5000, 64), 400, 4).unwrap();
        assert_ne!(survey.positions, another.positions);
    }

    #[test]
    fn a_short_table_is_its_own_sample() {
        let survey = Survey::across(&mut in_batches(50, 7), 50, 0).unwrap();
        assert!(survey.is_whole());
        assert_eq!(survey.sample.columns, numbers(50).columns);
        let (first, rest) = Survey::first(&mut in_batches(50, 7), 51).unwrap();
        assert!(first.is_whole() && rest.is_none());
        let mut source = in_batches(50, 7);
        let (first, rest) = Survey::first(&mut source, 17).unwrap();
        assert_eq!(
            (first.sample.rows(), first.rows, first.goes_on),
            (17, 34, true)
        );
        let mut whole = first.sample;
        whole.append(rest.unwrap()).unwrap();
        while let Some(batch) = source.next_batch().unwrap() {
            whole.append(batch).unwrap();
        }
        assert_eq!(whole.columns, numbers(50).columns);
    }
}
