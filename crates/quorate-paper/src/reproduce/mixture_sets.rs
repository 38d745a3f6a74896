//! The sets of Mixtures of Gaussian Processes, table 1: what was printed of them, and how their rows are drawn.

use quorate::Result;
use quorate::mixture::MixtureRows;
use quorate_gp::data::{Column, Frame, random_rows};

use super::mixtures::{Problem, Questions};
use super::setting::Art;
use crate::draw::{Draw, Stream};

/// Rows to learn from, and experts (table 1: N = 100, M = 10).
pub const ROWS: usize = 100;
pub const EXPERTS: usize = 10;
/// Standard deviation of the noise of the artificial sets (table 1).
pub const NOISE: f64 = 0.2;
/// Test rows of the artificial sets.
pub const TEST: usize = 1000;
/// Bandwidths are drawn from here on: "between 0 and max. s", where 0 itself is no kernel.
const LEAST_SHARE: f64 = 0.01;

/// A row of the table: where its rows come from, the greatest bandwidth, and what was printed.
pub struct Set {
    pub name: &'static str,
    pub source: Source,
    pub most: f64,
    pub theirs: [f64; 3],
}

pub enum Source {
    /// The artificial map with so many standard normal inputs, as in figure 1.
    Art(usize),
    /// A file of the data folder, and its target.
    File(&'static str, &'static str),
}

pub const SETS: [Set; 9] = [
    Set {
        name: "ART, 1 input",
        source: Source::Art(1),
        most: 1.0,
        theirs: [0.0167, 0.0080, 0.0054],
    },
    Set {
        name: "ART, 2 inputs",
        source: Source::Art(2),
        most: 3.0,
        theirs: [0.0573, 0.0345, 0.0239],
    },
    Set {
        name: "ART, 5 inputs",
        source: Source::Art(5),
        most: 6.0,
        theirs: [0.1994, 0.1383, 0.0808],
    },
    Set {
        name: "ART, 10 inputs",
        source: Source::Art(10),
        most: 10.0,
        theirs: [0.1670, 0.1135, 0.0739],
    },
    Set {
        name: "ART, 20 inputs",
        source: Source::Art(20),
        most: 20.0,
        theirs: [0.1716, 0.1203, 0.0662],
    },
    Set {
        name: "HOUSING",
        source: Source::File("boston.csv.gz", "y"),
        most: 10.0,
        theirs: [0.4677, 0.3568, 0.2634],
    },
    Set {
        name: "BUPA",
        source: Source::File("bupa.csv.gz", "label"),
        most: 20.0,
        theirs: [0.9654, 0.9067, 0.8804],
    },
    Set {
        name: "DIABETES",
        source: Source::File("pima_full.csv.gz", "label"),
        most: 40.0,
        theirs: [0.8230, 0.7660, 0.7275],
    },
    Set {
        name: "WAVEFORM",
        source: Source::File("waveform.csv.gz", "label"),
        most: 40.0,
        theirs: [0.6295, 0.5979, 0.4453],
    },
];

impl Set {
    /// Data sets at the size of the paper: maps differ more than samples of a table do.
    pub fn repetitions(&self) -> u64 {
        match self.source {
            Source::Art(_) => 100,
            Source::File(..) => 20,
        }
    }

    /// Rows with ten experts of random bandwidths, and questions with their answers.
    pub fn draw(&self, table: Option<&Frame>, seed: u64) -> Result<(Problem, Questions)> {
        let (values, targets, query, truth, width) = match (&self.source, table) {
            (Source::Art(inputs), _) => {
                let mut art = Art::normal(*inputs, seed, NOISE);
                let (data, asked) = (art.rows(ROWS)?, art.questions(TEST));
                let values = data.inputs().values().to_vec();
                let targets = data.targets().to_vec();
                (values, targets, asked.values, asked.truth, *inputs)
            }
            (Source::File(_, target), Some(table)) => standardised(table, target, seed),
            (Source::File(..), None) => {
                return Err(quorate::Error::Spec("the table is not there".into()));
            }
        };
        let mut draw = Draw::new(seed, Stream::Models);
        let mut scales: Vec<f64> = (0..EXPERTS)
            .map(|_| self.most * draw.between(LEAST_SHARE, 1.0))
            .collect();
        scales.sort_by(f64::total_cmp);
        let problem = Problem {
            rows: MixtureRows::new(values, width, targets, None)?,
            width,
            scales,
            noise: None,
        };
        let values = query;
        Ok((problem, Questions { values, truth }))
    }
}

type Standardised = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>, usize);

/// Rows to learn from and all others, standardised by the former; missing cells are the mean.
fn standardised(table: &Frame, target: &str, seed: u64) -> Standardised {
    let train = random_rows(table.rows(), ROWS, seed);
    let rest: Vec<usize> = (0..table.rows())
        .filter(|row| train.binary_search(row).is_err())
        .collect();
    let column = |name: &String| match table.column(name) {
        Some(Column::Number(cells)) => {
            let seen: Vec<f64> = train.iter().map(|&row| cells[row]).collect();
            let known: Vec<f64> = seen.into_iter().filter(|cell| cell.is_finite()).collect();
            let count = known.len().max(1) as f64;
            let mean = known.iter().sum::<f64>() / count;
            let spread = known.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / count;
            let deviation = if spread > 0.0 { spread.sqrt() } else { 1.0 };
            let scaled = |cell: &f64| {
                if cell.is_finite() {
                    (cell - mean) / deviation
                } else {
                    0.0
                }
            };
            cells.iter().map(scaled).collect()
        }
        _ => vec![0.0; table.rows()],
    };
    let names = &table.header.names;
    let inputs: Vec<Vec<f64>> = (names.iter())
        .filter(|name| *name != target)
        .map(column)
        .collect();
    let targets = column(&target.to_owned());
    let rows = |some: &[usize]| -> Vec<f64> {
        let cells = some
            .iter()
            .flat_map(|&row| inputs.iter().map(move |own| own[row]));
        cells.collect()
    };
    let of = |some: &[usize]| some.iter().map(|&row| targets[row]).collect::<Vec<f64>>();
    (
        rows(&train),
        of(&train),
        rows(&rest),
        of(&rest),
        inputs.len(),
    )
}
