//! The columns of GBCM table 1 and where their rows come from.

use quorate::Result;
use quorate_gp::data::random_rows;

use super::Context;
use super::classes::Classes;
use super::setting::Art;
use crate::draw::{Draw, Stream};

/// Test rows of the artificial sets.
pub const TEST: usize = 500;

/// A column of the table: where its rows come from, and what the paper printed for each of its rows.
pub struct Set {
    pub name: &'static str,
    pub rows: usize,
    pub source: Source,
    pub theirs: [(f64, f64); 5],
}

pub enum Source {
    /// A file of the data folder.
    File(&'static str),
    /// The artificial map: inputs and standard deviation of the noise.
    Art(usize, f64),
}

pub const SETS: [Set; 6] = [
    Set {
        name: "BUPA",
        rows: 200,
        source: Source::File("bupa.csv.gz"),
        theirs: [
            (69.15, 0.5),
            (70.0, 0.8),
            (70.6, 1.7),
            (69.9, 0.9),
            (69.2, 0.7),
        ],
    },
    Set {
        name: "DIAB",
        rows: 600,
        source: Source::File("pima_full.csv.gz"),
        theirs: [
            (77.5, 0.0),
            (77.8, 1.3),
            (78.2, 1.0),
            (76.6, 0.7),
            (76.7, 0.8),
        ],
    },
    Set {
        name: "ART, no overlap",
        rows: 600,
        source: Source::Art(5, 0.0),
        theirs: [
            (97.6, 0.4),
            (98.0, 0.4),
            (97.3, 0.5),
            (97.4, 0.3),
            (97.6, 0.4),
        ],
    },
    Set {
        name: "ART, noise 0.5",
        rows: 600,
        source: Source::Art(5, 0.5),
        theirs: [
            (93.2, 0.4),
            (93.2, 0.9),
            (93.5, 1.0),
            (92.9, 0.6),
            (93.2, 0.5),
        ],
    },
    Set {
        name: "ART, 50 inputs",
        rows: 600,
        source: Source::Art(50, 0.1),
        theirs: [
            (90.1, 0.4),
            (89.9, 0.9),
            (89.1, 1.0),
            (90.6, 0.6),
            (91.7, 0.7),
        ],
    },
    Set {
        name: "ART, 2 inputs",
        rows: 600,
        source: Source::Art(2, 0.1),
        theirs: [
            (98.4, 0.4),
            (99.0, 0.4),
            (98.6, 0.5),
            (98.4, 0.3),
            (98.0, 0.4),
        ],
    },
];

/// Where rows come from.
pub enum Supply {
    Table(Classes),
    Art(usize, f64),
}

impl Supply {
    pub fn of(source: &Source, context: &Context<'_>) -> Result<Option<Supply>> {
        Ok(match source {
            Source::Art(inputs, noise) => Some(Supply::Art(*inputs, *noise)),
            Source::File(name) => {
                (context.data)(name)?.map(|table| Supply::Table(Classes::of(&table)))
            }
        })
    }

    /// Training and test rows, standardised; the artificial map is another one for each `map`.
    pub fn draw(&self, rows: usize, map: u64, seed: u64) -> Result<(Classes, Classes)> {
        let (train, mut test) = match self {
            Supply::Table(all) => {
                let train = random_rows(all.labels.len(), rows, seed);
                let others: Vec<usize> = (0..all.labels.len())
                    .filter(|row| train.binary_search(row).is_err())
                    .collect();
                // Modules and blocks of questions are cut as rows come: the order of the file must not tell.
                let mut draw = Draw::new(seed, Stream::Rows);
                let mut shuffled = |rows: Vec<usize>| {
                    let mut keyed: Vec<(f64, usize)> =
                        rows.into_iter().map(|row| (draw.uniform(), row)).collect();
                    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                    keyed.into_iter().map(|(_, row)| row).collect::<Vec<_>>()
                };
                let (train, others) = (shuffled(train), shuffled(others));
                (all.select(&train), all.select(&others))
            }
            Supply::Art(inputs, noise) => {
                let mut art = Art::on_map(*inputs, map, seed, *noise);
                let (learned, asked) = (art.rows(rows)?, art.questions(TEST));
                let sign = |value: f64| f64::from(value > 0.0);
                let members = learned.members().iter();
                let train = Classes {
                    values: members
                        .clone()
                        .flat_map(|member| learned.inputs().row(member.group))
                        .copied()
                        .collect(),
                    width: *inputs,
                    labels: members.map(|member| sign(member.target)).collect(),
                };
                let test = Classes {
                    values: asked.values,
                    width: *inputs,
                    labels: asked.truth.iter().map(|value| sign(*value)).collect(),
                };
                (train, test)
            }
        };
        let mut scaled = train.clone();
        train.standardise(&mut [&mut scaled, &mut test]);
        Ok((scaled, test))
    }
}
