//! The thesis' tables 3.3 to 3.10: networks and radial basis functions, fused by weights and by predictions.

use quorate::gp::data::{Dataset, Schema};
use quorate::member::{Basis, Expansion, Setting, radial_basis};
use quorate::{Error, ModelSpec, Result};
use quorate_gp::data::random_rows;

use super::thesis_nodes::{Model, Problem, TOGETHER, fuse};
use super::thesis_page::{Explained, page};
use super::thesis_ways::WAYS;
use super::thesis_why::Why;
use super::thesis_why_toy::{self as why_toy, WEAK};
use super::thesis_why_wind::{self as why_wind, Worlds};
use super::{Claim, Context, Reproduction, Size};
use crate::draw::{Draw, Stream};
use crate::sine;

pub const NOISE: f64 = 0.2;
/// Rows of the nodes of tables 3.1 and 3.2.
const TOY_NODES: [usize; 8] = [86, 369, 249, 126, 72, 45, 32, 21];
const WIND_NODES: [usize; 14] = [
    12126, 16210, 37482, 15269, 3365, 3233, 1046, 149, 126, 363, 106, 242, 188, 95,
];
const TABLE: &str = "scatterometry.parquet";
/// Hidden units of the toy data's networks.
const HIDDEN: usize = 3;
/// Hidden units of scatterometry's.
const WIND_HIDDEN: usize = 10;
/// Test rows of scatterometry that are asked about.
const ASKED: usize = 5_000;
pub const SPLITS: [&str; 3] = ["few", "many", "different"];
pub const KINDS: [&str; 2] = ["network", "radial"];

/// For each split, kind and way: errors and shares within one deviation, one for each repetition.
pub type Found = Vec<Vec<Vec<Vec<(f64, f64)>>>>;

/// The toy data.
pub fn toy(context: &Context<'_>) -> Result<Reproduction> {
    let repetitions = match context.size {
        Size::Paper => 20,
        Size::Quick => 2,
    };
    let sizes = toy_nodes();
    let models = models();
    let mut found: Found = vec![vec![vec![Vec::new(); WAYS.len()]; 2]; 3];
    let mut why = Why::default();
    for repetition in 0..repetitions {
        context
            .watch
            .progress("fusing", repetition as usize, repetitions as usize);
        let seed = context.seed + repetition;
        let mut draw = Draw::new(seed, Stream::Rows);
        let (train, test) = (rows(&mut draw, 1000)?, rows(&mut draw, 1000)?);
        for (split, sizes) in sizes.iter().enumerate() {
            let problem = problem(&train, &test, sizes);
            for (kind, model) in models.iter().enumerate() {
                let own = fuse(&problem, model, seed, context.watch)?;
                for (way, score) in own.into_iter().enumerate() {
                    found[split][kind][way].push(score);
                }
            }
        }
        let many = problem(&train, &test, &sizes[1]);
        why.repeat(&why_toy::variants(&many, HIDDEN), seed, context.watch)?;
    }
    let setting = vec![
        format!(
            "Training and test sets of 1000 rows, x uniform on [0, 2), t = sin(2 pi x) plus noise {NOISE}. Networks of three hidden \
             units; ten shared Gaussian functions of width 0.3; weights and noise of each node by the evidence procedure. \
             Few: 40 nodes of 25 rows; many: 10 of 100; different: the eight nodes of table 3.1."
        ),
        format!(
            "Means and standard errors of {repetitions} repetitions. {}",
            common()
        ),
        format!(
            "Why: ten networks of 100 rows, with one thing changed at a time: how many queries are asked together, whose noise is in the prior, and \
             weights held by a prior precision of {WEAK} instead of that of the evidence."
        ),
    ];
    Ok(page(
        "Fusion of networks and radial basis functions on the toy data, by weights and by predictions",
        setting,
        &found,
        Explained {
            is_toy: true,
            why: &why,
            priors: why_toy::priors_told(&why),
            claim: Claim {
                theirs: "The committee machine needs sufficiently many query points (3.3.1), and Monte Carlo gives a very good prior over functions (3.4.9).".into(),
                ours: why_toy::told(&why),
                agrees: why_toy::isolates(&why),
            },
        },
    ))
}

/// Rows of the nodes of the toy data in the three situations.
pub fn toy_nodes() -> [Vec<usize>; 3] {
    [vec![25; 40], vec![100; 10], TOY_NODES.to_vec()]
}

/// The models of the toy data: networks of three hidden units, and ten radial basis functions.
pub fn models() -> [Model; 2] {
    [
        Model::Network {
            hidden: HIDDEN,
            held: None,
        },
        Model::Radial {
            // The centres of ten clusters of uniform inputs, and a width of 0.3, in standardised inputs.
            basis: Basis::Radial {
                centres: (0..10)
                    .map(|i| ((2.0 * f64::from(i) + 1.0) / 10.0 - 1.0) * SCALE)
                    .collect(),
                width: 0.3 * SCALE,
            },
            expansion: Expansion::numbers(1),
        },
    ]
}

/// Simulated scatterometry.
pub fn scatterometry(context: &Context<'_>) -> Result<Reproduction> {
    let Some(table) = (context.data)(TABLE)? else {
        return Err(Error::Spec(format!(
            "thesis-3-scatterometry needs {TABLE}: name the folder that holds it with `--data DIR`"
        )));
    };
    // A thirtieth of the nodes, and of the rows of the different ones, to try it.
    let (share, repetitions) = match context.size {
        Size::Paper => (1, 3),
        Size::Quick => (30, 2),
    };
    let half = table.rows() / 2;
    let frame = |from: usize, to: usize| table.select_rows(&(from..to).collect::<Vec<_>>());
    let spec = ModelSpec::new("y");
    let (schema, _) = Schema::learn(&frame(0, half), &spec.roles())?;
    let train = schema.training_data(&frame(0, half))?;
    let test = schema.training_data(&frame(half, table.rows()))?;
    let test = test.select(&random_rows(
        test.rows(),
        ASKED / share.min(10),
        context.seed,
    ));
    let setting = Setting {
        columns: schema.columns(),
        seed: context.seed,
        watch: context.watch,
    };
    let (basis, expansion) = radial_basis(
        &setting,
        &train.select(&random_rows(train.rows(), 2000, context.seed)),
    )?;
    let models = [
        Model::Network {
            hidden: WIND_HIDDEN,
            held: None,
        },
        Model::Radial { basis, expansion },
    ];
    let sizes = [
        vec![100; 900 / share],
        vec![1000; 90 / share],
        WIND_NODES
            .iter()
            .map(|rows| (rows / share).max(20))
            .collect(),
    ];
    let mut found: Found = vec![vec![vec![Vec::new(); WAYS.len()]; 2]; 3];
    for (split, sizes) in sizes.iter().enumerate() {
        let problem = problem(&train, &test, sizes);
        for (kind, model) in models.iter().enumerate() {
            context.watch.progress("fusing", 2 * split + kind, 6);
            let own = fuse(&problem, model, context.seed, context.watch)?;
            for (way, score) in own.into_iter().enumerate() {
                found[split][kind][way].push(score);
            }
        }
    }
    let mut why = Why::default();
    for repetition in 0..repetitions {
        context
            .watch
            .progress("teaching", repetition as usize, repetitions as usize);
        let seed = context.seed + repetition;
        let worlds = Worlds::new(&train, &test, &sizes[1], WIND_HIDDEN, seed)?;
        why.repeat(&worlds.variants(), seed, context.watch)?;
    }
    let setting = vec![
        format!(
            "Simulated scatterometer measurements (CMOD5.N): the data of the thesis are not public, so errors compare within a column. \
             {} training rows cut into nodes, {} test rows asked about. Networks of ten hidden units, 50 shared Gaussian functions. \
             Few: 900 nodes of 100 rows; many: 90 of 1000; different: the fourteen nodes of table 3.2{}.",
            train.rows(),
            test.rows(),
            if share > 1 {
                "; a thirtieth of all that"
            } else {
                ""
            }
        ),
        common(),
        format!(
            "Why: {repetitions} repetitions with the rows in other orders, 1000 of them asked about, with targets as they are, targets that a network of ten hidden units \
             taught (learned from 20000 rows, with noise of its deviation), and targets with noise of deviation {} added; all nodes and ten of them, \
             and with less of the noise inside what is fused.",
            why_wind::LOUD
        ),
    ];
    Ok(page(
        "Fusion of networks and radial basis functions on simulated scatterometry, by weights and by predictions",
        setting,
        &found,
        Explained {
            is_toy: false,
            why: &why,
            priors: String::new(),
            claim: Claim {
                theirs: "With enough rows a node the committee machine with Monte Carlo is best for networks: why not here?".into(),
                ours: why_wind::told(&why),
                agrees: why_wind::isolates(&why),
            },
        },
    ))
}

/// One over the deviation of numbers uniform on [0, 2).
pub const SCALE: f64 = 1.732_050_807_568_877_2;

pub fn rows(draw: &mut Draw, count: usize) -> Result<Dataset> {
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let x = draw.between(0.0, 2.0);
        inputs.push((x - 1.0) * SCALE);
        targets.push(sine(x) + NOISE * draw.normal());
    }
    Ok(Dataset::new(inputs, 1, targets, None, None)?)
}

pub fn problem(train: &Dataset, test: &Dataset, sizes: &[usize]) -> Problem {
    let mut first = 0;
    let nodes = sizes.iter().map(|size| {
        let last = (first + size).min(train.rows());
        let own: Vec<usize> = (first..last).collect();
        first = last;
        train.select(&own)
    });
    Problem {
        nodes: nodes.collect(),
        train: train.clone(),
        test: test.clone(),
    }
}

fn common() -> String {
    format!(
        "Errors are normalised by the deviation of the targets, noise included. In the hierarchies the last node is the new agent, and the \
     others are those it hears of; the table has the parametric one in the directions that its covariance has, the claims also with that covariance \
     inverted as it stands. Weighted averaging takes its weights from the covariance of predictions, as the thesis does, and 1e6 stands for weights that could not be found. Product and committee \
     machine fuse predictive distributions, noise inside: one query at a time, each node divided by its own prior, that of \
     networks integrated over the weights, which is the limit of the thesis' Monte Carlo, or linearised; and {TOGETHER} queries together (eq. 3.5), where \
     what nodes know of one query tells of the others, with one prior for all nodes about zero: the mean of theirs by Monte Carlo over the weights, \
     or of theirs linearised, which the thesis did not try, both with the mean of their noise, or that of the first node linearised, with its noise, as printed. Differences are from \
     the product of the same nodes asked one at a time."
    )
}
