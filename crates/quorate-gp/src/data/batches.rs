//! Sources of rows that need not fit in memory.

use std::sync::Arc;

use crate::Result;

use super::frame::{Frame, Header};
use super::stray::Stray;

/// A table read from its first row to its last, some rows at a time.
pub trait Batches {
    /// Names and types of the columns.
    fn header(&self) -> &Arc<Header>;

    /// The next rows, or nothing when the table has ended.
    fn next_batch(&mut self) -> Result<Option<Frame>>;

    /// What a person should know about how the table was opened, such as a column that was skipped.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Columns that are text because of a few cells, as far as the cells that were looked at tell.
    fn strays(&self) -> &[Stray] {
        &[]
    }
}

impl<B: Batches + ?Sized> Batches for Box<B> {
    fn header(&self) -> &Arc<Header> {
        (**self).header()
    }

    fn next_batch(&mut self) -> Result<Option<Frame>> {
        (**self).next_batch()
    }

    fn notes(&self) -> &[String] {
        (**self).notes()
    }

    fn strays(&self) -> &[Stray] {
        (**self).strays()
    }
}

impl<B: Batches + ?Sized> Batches for &mut B {
    fn header(&self) -> &Arc<Header> {
        (**self).header()
    }

    fn next_batch(&mut self) -> Result<Option<Frame>> {
        (**self).next_batch()
    }

    fn notes(&self) -> &[String] {
        (**self).notes()
    }

    fn strays(&self) -> &[Stray] {
        (**self).strays()
    }
}

/// Reads a whole table into memory.
pub fn read_all(source: &mut dyn Batches) -> Result<Frame> {
    let Some(mut whole) = source.next_batch()? else {
        return Ok(Frame::empty(source.header().clone()));
    };
    while let Some(frame) = source.next_batch()? {
        whole.append(frame)?;
    }
    Ok(whole)
}

/// A frame that is already in memory, as a source of rows.
#[derive(Clone, Debug)]
pub struct InMemory {
    header: Arc<Header>,
    frame: Option<Frame>,
}

impl InMemory {
    /// Hands `frame` out as one batch.
    pub fn new(frame: Frame) -> Self {
        Self {
            header: frame.header.clone(),
            frame: Some(frame),
        }
    }
}

impl Batches for InMemory {
    fn header(&self) -> &Arc<Header> {
        &self.header
    }

    fn next_batch(&mut self) -> Result<Option<Frame>> {
        Ok(self.frame.take())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::Column;

    struct Counting {
        header: Arc<Header>,
        left: usize,
        next_row: usize,
    }

    impl Batches for Counting {
        fn header(&self) -> &Arc<Header> {
            &self.header
        }

        fn next_batch(&mut self) -> Result<Option<Frame>> {
            if self.left == 0 {
                return Ok(None);
            }
            self.left -= 1;
            let cells = vec![self.next_row as f64, self.next_row as f64 + 1.0];
            let frame = Frame::new(
                self.header.clone(),
                vec![Column::Number(cells)],
                self.next_row,
            )?;
            self.next_row += 2;
            Ok(Some(frame))
        }
    }

    #[test]
    fn every_batch_is_read_in_order() {
        let one = Frame::from_columns(vec![("x", Column::Number(vec![]))]).unwrap();
        let mut source = Counting {
            header: one.header.clone(),
            left: 3,
            next_row: 1,
        };
        let frame = read_all(&mut source).unwrap();
        assert_eq!(
            frame.columns[0],
            Column::Number(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        );
        assert_eq!(frame.row_number(5), 6);
        assert_eq!(read_all(&mut source).unwrap(), one);
    }
}
