//! A source of rows in pieces of one size, whatever the size of its batches.

use std::sync::Arc;

use super::batches::Batches;
use super::frame::{Frame, Header};
use crate::Result;

/// Hands the rows of another source out in pieces of a fixed number of rows; only the last may be shorter.
///
/// Where answers depend on which questions are asked together, this keeps them the same for every file format.
#[derive(Debug)]
pub struct Pieces<B> {
    source: B,
    rows: usize,
    /// Rows read and not handed out yet; never more than one batch and one piece.
    waiting: Option<Frame>,
}

impl<B: Batches> Pieces<B> {
    /// Pieces of `rows` rows, at least one.
    pub fn new(source: B, rows: usize) -> Self {
        Self {
            source,
            rows: rows.max(1),
            waiting: None,
        }
    }
}

impl<B: Batches> Batches for Pieces<B> {
    fn header(&self) -> &Arc<Header> {
        self.source.header()
    }

    fn next_batch(&mut self) -> Result<Option<Frame>> {
        while self.waiting.as_ref().map_or(0, Frame::rows) < self.rows {
            let Some(batch) = self.source.next_batch()? else {
                return Ok(self.waiting.take().filter(|rest| rest.rows() > 0));
            };
            match &mut self.waiting {
                Some(waiting) => waiting.append(batch)?,
                None => self.waiting = Some(batch),
            }
        }
        let Some(waiting) = self.waiting.take() else {
            return Ok(None);
        };
        if waiting.rows() == self.rows {
            return Ok(Some(waiting));
        }
        let rows: Vec<usize> = (0..waiting.rows()).collect();
        self.waiting = Some(waiting.select_rows(&rows[self.rows..]));
        Ok(Some(waiting.select_rows(&rows[..self.rows])))
    }

    fn notes(&self) -> &[String] {
        self.source.notes()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::{Column, InMemory};

    fn pieces(batches: &[usize], rows: usize) -> Vec<(usize, Vec<f64>)> {
        struct Several(Vec<Frame>, Arc<Header>);
        impl Batches for Several {
            fn header(&self) -> &Arc<Header> {
                &self.1
            }
            fn next_batch(&mut self) -> Result<Option<Frame>> {
                Ok((!self.0.is_empty()).then(|| self.0.remove(0)))
            }
        }
        let header = Frame::from_columns(vec![("x", Column::Number(vec![]))])
            .unwrap()
            .header;
        let mut next = 1;
        let frames = batches
            .iter()
            .map(|&count| {
                let cells = (next..next + count).map(|row| row as f64).collect();
                let frame = Frame::new(header.clone(), vec![Column::Number(cells)], next).unwrap();
                next += count;
                frame
            })
            .collect();
        let mut source = Pieces::new(Several(frames, header), rows);
        let mut seen = Vec::new();
        while let Some(piece) = source.next_batch().unwrap() {
            let Column::Number(cells) = &piece.columns[0] else {
                unreachable!()
            };
            seen.push((piece.row_number(0), cells.clone()));
        }
        seen
    }

    #[test]
    fn pieces_have_one_size_whatever_the_batches() {
        let whole = pieces(&[10], 4);
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[0], (1, vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(whole[1], (5, vec![5.0, 6.0, 7.0, 8.0]));
        assert_eq!(whole[2], (9, vec![9.0, 10.0]));
        for batches in [
            &[4, 4, 2][..],
            &[1; 10],
            &[3, 0, 7],
            &[0, 10, 0],
            &[5, 3, 2],
        ] {
            assert_eq!(pieces(batches, 4), whole, "{batches:?}");
        }
    }

    #[test]
    fn an_empty_table_has_no_piece() {
        assert!(pieces(&[], 4).is_empty());
        assert!(pieces(&[0, 0], 4).is_empty());
        let frame = Frame::from_columns(vec![("x", Column::Number(vec![1.0]))]).unwrap();
        let mut one = Pieces::new(InMemory::new(frame.clone()), 0);
        assert_eq!(one.next_batch().unwrap(), Some(frame));
        assert_eq!(one.next_batch().unwrap(), None);
    }
}
