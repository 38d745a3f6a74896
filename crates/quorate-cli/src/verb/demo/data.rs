//! The two tables of the demo, each with rows to learn from and rows to be judged by.

use quorate_gp::data::{Column, Frame};
use quorate_paper::{Generator, Options, generate};

use crate::failure::Result;

/// Between these inputs the sine has no training rows, so that the interval has to open.
const GAP: std::ops::Range<f64> = 1.1..1.5;

/// A table in two parts.
pub struct Split {
    /// Rows to learn from.
    pub train: Frame,
    /// Rows to be judged by.
    pub test: Frame,
    /// Standard deviation of the noise: no prediction can have a smaller error.
    pub noise: f64,
}

/// Two periods of a sine; training rows leave a gap, test rows do not.
pub fn sine(seed: u64) -> Result<Split> {
    let mut split = split(Generator::Sine, 100, 500, 0.2, seed)?;
    let outside: Vec<usize> = match split.train.column("x") {
        Some(Column::Number(x)) => (0..x.len()).filter(|&row| !GAP.contains(&x[row])).collect(),
        _ => Vec::new(),
    };
    split.train = split.train.select_rows(&outside);
    Ok(split)
}

/// Friedman's function of ten inputs, of which the last five do nothing.
pub fn friedman(seed: u64) -> Result<Split> {
    split(Generator::Friedman, 250, 500, 1.0, seed)
}

fn split(kind: Generator, train: usize, test: usize, noise: f64, seed: u64) -> Result<Split> {
    let options = Options {
        noise: Some(noise),
        ..Options::default()
    };
    // The first rows of a longer table are the shorter table, so one table is cut in two.
    let whole = generate(kind, train + test, seed, &options)?;
    Ok(Split {
        train: whole.select_rows(&(0..train).collect::<Vec<_>>()),
        test: whole.select_rows(&(train..train + test).collect::<Vec<_>>()),
        noise,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn training_rows_leave_the_gap_open_and_test_rows_do_not() {
        let split = sine(1).unwrap();
        let inside = |table: &Frame| match table.column("x") {
            Some(Column::Number(x)) => x.iter().filter(|x| GAP.contains(x)).count(),
            _ => panic!("no column x"),
        };
        assert_eq!(inside(&split.train), 0);
        assert!(inside(&split.test) > 50);
        assert!(split.train.rows() > 60);
    }
}
