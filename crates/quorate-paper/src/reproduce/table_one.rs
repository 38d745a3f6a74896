//! Two classes by one process and by committees (GBCM, table 1).

use quorate::Result;
use quorate_gp::data::{Inputs, random_rows};
use quorate_gp::kernel::BoundKernel;

use super::classes::Classes;
use super::generalized::{ClassCommittee, log_loss, one_process, percent_correct};
use super::setting::{Art, scaled_prior};
use super::{Claim, Context, Reproduction, Size, beside, mean_and_error};

/// The prior's variance (GBCM, section 7: A = 10, a weak prior).
const AMPLITUDE: f64 = 10.0;
/// Rows that choose the width (the same place).
const VALIDATION: usize = 100;
/// Test rows of the artificial sets.
const TEST: usize = 500;

/// A column of the table: where its rows come from, and what the paper printed for each of its rows.
struct Set {
    name: &'static str,
    rows: usize,
    source: Source,
    theirs: [(f64, f64); 5],
}

enum Source {
    /// A file of the data folder.
    File(&'static str),
    /// The artificial map: inputs and standard deviation of the noise.
    Art(usize, f64),
}

const SETS: [Set; 6] = [
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

/// The table's rows: one process, then committees of module size K/M and query-set size N_Q.
const COMMITTEES: [Option<(usize, usize)>; 5] = [
    None,
    Some((10, 50)),
    Some((100, 50)),
    Some((10, 100)),
    Some((100, 100)),
];

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let repetitions: u64 = match context.size {
        Size::Paper => 20,
        Size::Quick => 2,
    };
    let mut labels = Vec::new();
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    let mut left_out = Vec::new();
    let (mut near, mut inside, mut cells) = (0, 0, 0);
    let mut lost = Vec::new();
    for (place, set) in SETS.iter().enumerate() {
        let Some(supply) = Supply::of(&set.source, context)? else {
            left_out.push(set.name);
            continue;
        };
        let mut all: [Vec<f64>; 5] = Default::default();
        for repetition in 0..repetitions {
            context.watch.check()?;
            let done = place * repetitions as usize + repetition as usize;
            context
                .watch
                .progress("repeating", done, SETS.len() * repetitions as usize);
            let (train, test) = supply.draw(set.rows, context.seed + repetition)?;
            let kernel = validated(&train, context.seed + repetition)?;
            for (committee, shares) in COMMITTEES.iter().zip(&mut all) {
                shares.push(asked(*committee, &kernel, &train, &test)?);
            }
        }
        for ((committee, shares), theirs) in COMMITTEES.iter().zip(&all).zip(set.theirs) {
            let (mean, error) = mean_and_error(shares);
            if committee.is_some() {
                lost.push(mean_and_error(&all[0]).0 - mean);
            }
            labels.push(format!("{}, {}", set.name, name(*committee)));
            let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
            let most = shares.iter().copied().fold(0.0, f64::max);
            rows.push(vec![theirs.0, theirs.1, mean, error, least, most]);
            inside += usize::from((least..=most).contains(&theirs.0));
            cells += 1;
            // Both have an error; what is told as 0.0 is rounded.
            near += usize::from(
                (mean - theirs.0).abs() <= 2.0 * (error.powi(2) + theirs.1.powi(2)).sqrt(),
            );
        }
    }
    let within = |share: f64| near as f64 >= share * cells as f64;
    claims.push(Claim {
        theirs: "The percentages of table 1".to_owned(),
        ours: format!("{near} of {cells} lie within two standard errors (of both) of print"),
        agrees: within(0.8),
    });
    claims.push(Claim {
        theirs: "The paper tells one artificial map and error bars of a few tenths".to_owned(),
        ours: format!(
            "with a map drawn anew in every repetition single ones differ far more: {inside} of {cells} printed numbers lie between the least and the most of {repetitions}"
        ),
        agrees: inside as f64 >= 0.9 * cells as f64,
    });
    let loss = mean_and_error(&lost);
    claims.push(Claim {
        theirs: "The committees are as good as one process".to_owned(),
        ours: format!(
            "they are {:.2} +- {:.2} percent points worse, over {} committees and sets",
            loss.0,
            loss.1,
            lost.len()
        ),
        agrees: loss.0 < 1.0,
    });
    let mut setting = vec![
        "Inputs have mean 0 and standard deviation 1 on the training rows. Prior A exp(-|x - x'|^2 / (2 gamma^2)) with A = 10; gamma by the log loss of 100 of the training rows under one process over the others.".to_owned(),
        format!("Percent correct, mean and standard error of {repetitions} repetitions: K random rows train, all others test; of the artificial sets {TEST} further rows, against the class of the map without noise."),
        "GBCM(i, j): modules of i rows, each expanded at its own mode (Laplace); test rows asked j at a time. GPR: one process, by Laplace's method.".to_owned(),
        "The centres of the artificial map are drawn anew in every repetition; the paper does not say whether its own were.".to_owned(),
    ];
    if !left_out.is_empty() {
        setting.push(format!(
            "Not computed, because their tables were not given: {}.",
            left_out.join(", ")
        ));
    }
    Ok(Reproduction {
        title: "Two classes by one process and by committees".to_owned(),
        setting,
        labels,
        columns: vec![
            "paper_percent",
            "paper_error",
            "percent_correct",
            "standard_error",
            "least",
            "most",
        ],
        curves: beside(&rows, 0, 2),
        rows,
        axes: ("row of the table", "percent correct"),
        logarithmic: (false, false),
        panels: Vec::new(),
        claims,
    })
}

fn name(committee: Option<(usize, usize)>) -> String {
    match committee {
        None => "GPR".to_owned(),
        Some((module, questions)) => format!("GBCM({module}, {questions})"),
    }
}

/// Where rows come from.
enum Supply {
    Table(Classes),
    Art(usize, f64),
}

impl Supply {
    fn of(source: &Source, context: &Context<'_>) -> Result<Option<Supply>> {
        Ok(match source {
            Source::Art(inputs, noise) => Some(Supply::Art(*inputs, *noise)),
            Source::File(name) => {
                (context.data)(name)?.map(|table| Supply::Table(Classes::of(&table)))
            }
        })
    }

    /// Training and test rows, standardised.
    fn draw(&self, rows: usize, seed: u64) -> Result<(Classes, Classes)> {
        let (train, mut test) = match self {
            Supply::Table(all) => {
                let train = random_rows(all.labels.len(), rows, seed);
                let others: Vec<usize> = (0..all.labels.len())
                    .filter(|row| train.binary_search(row).is_err())
                    .collect();
                (all.select(&train), all.select(&others))
            }
            Supply::Art(inputs, noise) => {
                let mut art = Art::with_inputs(*inputs, seed, *noise);
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

/// The prior whose width predicts a hundred of the rows best.
fn validated(train: &Classes, seed: u64) -> Result<BoundKernel> {
    let count = train.labels.len();
    let held = random_rows(count, VALIDATION, seed ^ 0x5a);
    let others: Vec<usize> = (0..count)
        .filter(|row| held.binary_search(row).is_err())
        .collect();
    let (data, validation) = (train.select(&others).data()?, train.select(&held).data()?);
    // Distances grow with the root of the number of inputs.
    let unit = (train.width as f64).sqrt();
    let mut best: Option<(f64, BoundKernel)> = None;
    for width in [0.15, 0.25, 0.4, 0.6, 0.9, 1.3, 2.0, 3.0, 4.5] {
        let kernel = scaled_prior(train.width, AMPLITUDE, width * unit)?;
        let loss = log_loss(&one_process(&kernel, data.clone())?, &validation)?;
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, kernel));
        }
    }
    match best {
        Some((_, kernel)) => Ok(kernel),
        None => scaled_prior(train.width, AMPLITUDE, unit),
    }
}

/// Percent correct at the test rows.
fn asked(
    committee: Option<(usize, usize)>,
    kernel: &BoundKernel,
    train: &Classes,
    test: &Classes,
) -> Result<f64> {
    let data = train.data()?;
    let sides: Vec<f64> = test.labels.iter().map(|label| label - 0.5).collect();
    let Some((module, questions)) = committee else {
        let inputs = Inputs::new(&test.values, test.labels.len(), test.width)?;
        let beliefs = one_process(kernel, data)?.latents(inputs)?;
        let means: Vec<f64> = beliefs.iter().map(|belief| belief.mean).collect();
        return Ok(percent_correct(&means, &sides));
    };
    let all: Vec<usize> = (0..data.rows()).collect();
    let modules: Vec<Vec<usize>> = all.chunks(module).map(<[usize]>::to_vec).collect();
    let modules = data.split(&modules);
    let mut means = Vec::with_capacity(sides.len());
    for block in test.values.chunks(questions * test.width) {
        let inputs = Inputs::new(block, block.len() / test.width, test.width)?;
        let mut committee = ClassCommittee::new(kernel, inputs)?;
        for module in &modules {
            committee.hear(module.clone())?;
        }
        means.extend(committee.means()?);
    }
    Ok(percent_correct(&means, &sides))
}
