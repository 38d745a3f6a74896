//! Batches of one size, whatever the size in which they come.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Result;

use super::batches::Batches;
use super::frame::{Frame, Header};

/// The rows of a source in frames of exactly `rows` rows; the last has what is left.
#[derive(Debug)]
pub struct Chunks<B> {
    source: B,
    rows: usize,
    waiting: VecDeque<Frame>,
}

impl<B: Batches> Chunks<B> {
    /// Cuts the rows of a source anew.
    pub fn new(source: B, rows: usize) -> Self {
        Self {
            source,
            rows: rows.max(1),
            waiting: VecDeque::new(),
        }
    }

    /// Rows that were read and not yet given, if any.
    pub fn waiting(&mut self) -> Option<Frame> {
        // A frame is cut only when the one before it is full, so at most one waits.
        self.waiting.pop_front()
    }

    /// The same source, with some rows put in front of it.
    pub fn behind(first: Frame, source: B, rows: usize) -> Self {
        let mut chunks = Self::new(source, rows);
        chunks.waiting.push_back(first);
        chunks
    }
}

impl<B: Batches> Batches for Chunks<B> {
    fn header(&self) -> &Arc<Header> {
        self.source.header()
    }

    fn next_batch(&mut self) -> Result<Option<Frame>> {
        let mut chunk: Option<Frame> = None;
        loop {
            let have = chunk.as_ref().map_or(0, Frame::rows);
            if have == self.rows {
                return Ok(chunk);
            }
            let next = match self.waiting.pop_front() {
                Some(waiting) => Some(waiting),
                None => self.source.next_batch()?,
            };
            let Some(next) = next else {
                return Ok(chunk);
            };
            let missing = self.rows - have;
            let next = if next.rows() > missing {
                let (now, later) = next.split_at(missing);
                self.waiting.push_front(later);
                now
            } else {
                next
            };
            match &mut chunk {
                Some(chunk) => chunk.append(next)?,
                None => chunk = Some(next),
            }
        }
    }

    fn notes(&self) -> &[String] {
        self.source.notes()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::{Column, InMemory, read_all};

    #[test]
    fn rows_come_in_frames_of_one_size_and_keep_their_numbers() {
        let cells = |range: std::ops::Range<usize>| range.map(|row| row as f64).collect();
        let table = Frame::from_columns(vec![("x", Column::Number(cells(0..23)))]).unwrap();
        let threes = Chunks::new(InMemory::new(table.clone()), 3);
        let mut fives = Chunks::new(threes, 5);
        let mut sizes = Vec::new();
        let mut last = 0;
        while let Some(frame) = fives.next_batch().unwrap() {
            sizes.push(frame.rows());
            assert_eq!(frame.row_number(0), last + 1);
            last += frame.rows();
        }
        assert_eq!(sizes, [5, 5, 5, 5, 3]);
        let (first, rest) = table.clone().split_at(8);
        let mut joined = Chunks::behind(first, InMemory::new(rest), 6);
        assert_eq!(read_all(&mut joined).unwrap().columns, table.columns);
    }
}
