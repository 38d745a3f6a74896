//! Rows with the part that each belongs to.

use quorate_gp::data::Dataset;

/// Rows, and the part of each.
#[derive(Clone, Debug, PartialEq)]
pub struct PartedRows {
    /// The rows.
    pub data: Dataset,
    /// Part of each distinct row, counted from 0.
    pub part_of: Vec<u32>,
}

impl PartedRows {
    /// Rows in the given parts.
    pub fn new(data: Dataset, parts: &[Vec<usize>]) -> Self {
        let mut part_of = vec![0; data.rows()];
        for (part, rows) in parts.iter().enumerate() {
            rows.iter().for_each(|&row| part_of[row] = part as u32);
        }
        Self { data, part_of }
    }

    /// The rows of each part, in increasing order.
    pub fn lists(&self) -> Vec<Vec<usize>> {
        let count = self
            .part_of
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let mut lists = vec![Vec::new(); count];
        for (row, &part) in self.part_of.iter().enumerate() {
            lists[part as usize].push(row);
        }
        lists.retain(|list| !list.is_empty());
        lists
    }

    /// The parts without some rows, and those rows. Parts that would be empty are left out; a table of one row keeps it.
    pub fn without(&self, some: &[usize]) -> (PartedRows, Dataset) {
        let mut is_out = vec![false; self.data.rows()];
        some.iter().for_each(|&row| is_out[row] = true);
        let mut left: Vec<usize> = (0..self.data.rows()).filter(|&row| !is_out[row]).collect();
        if left.is_empty() {
            left = (0..self.data.rows()).collect();
        }
        let part_of = left.iter().map(|&row| self.part_of[row]).collect();
        let data = self.data.select(&left);
        (PartedRows { data, part_of }, self.data.select(some))
    }

    /// Each part as a data set of its own.
    pub fn parts(&self) -> Vec<Dataset> {
        self.data.split(&self.lists())
    }
}
