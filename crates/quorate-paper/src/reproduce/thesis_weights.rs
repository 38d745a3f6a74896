//! The thesis' tables 3.3 to 3.10: networks and radial basis functions, fused by weights and by predictions.

use quorate::gp::data::{Dataset, Schema};
use quorate::member::{Basis, Expansion, Setting, radial_basis};
use quorate::{Error, ModelSpec, Result};
use quorate_gp::data::random_rows;

use super::thesis_nodes::{How, Model, Problem, WAYS, fuse};
use super::{Claim, Context, Reproduction, Size, beside, mean_and_error};
use crate::draw::{Draw, Stream};
use crate::sine;

pub const NOISE: f64 = 0.2;
/// Rows of the nodes of tables 3.1 and 3.2.
const TOY_NODES: [usize; 8] = [86, 369, 249, 126, 72, 45, 32, 21];
const WIND_NODES: [usize; 14] = [
    12126, 16210, 37482, 15269, 3365, 3233, 1046, 149, 126, 363, 106, 242, 188, 95,
];
const TABLE: &str = "scatterometry.parquet";
/// Test rows of scatterometry that are asked about.
const ASKED: usize = 5_000;
pub const SPLITS: [&str; 3] = ["few", "many", "different"];
pub const KINDS: [&str; 2] = ["network", "radial"];

/// For each split, kind and way: errors and shares within one deviation, one for each repetition.
type Found = Vec<Vec<Vec<Vec<(f64, f64)>>>>;

/// The toy data.
pub fn toy(context: &Context<'_>) -> Result<Reproduction> {
    let repetitions = match context.size {
        Size::Paper => 20,
        Size::Quick => 2,
    };
    let sizes = toy_nodes();
    let models = models();
    let mut found: Found = vec![vec![vec![Vec::new(); WAYS.len()]; 2]; 3];
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
    ];
    Ok(page(
        "Fusion of networks and radial basis functions on the toy data, by weights and by predictions",
        setting,
        &found,
        false,
    ))
}

/// Rows of the nodes of the toy data in the three situations.
pub fn toy_nodes() -> [Vec<usize>; 3] {
    [vec![25; 40], vec![100; 10], TOY_NODES.to_vec()]
}

/// The models of the toy data: networks of three hidden units, and ten radial basis functions.
pub fn models() -> [Model; 2] {
    [
        Model::Network { hidden: 3 },
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
    let share = match context.size {
        Size::Paper => 1,
        Size::Quick => 30,
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
        Model::Network { hidden: 10 },
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
    ];
    Ok(page(
        "Fusion of networks and radial basis functions on simulated scatterometry, by weights and by predictions",
        setting,
        &found,
        true,
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
    "Errors are normalised by the deviation of the targets, noise included. In the hierarchies the last node is the new agent, and the \
     others are those it hears of; the table has the parametric one in the directions that its covariance has, the claims also with that covariance \
     inverted as it stands. Weighted averaging takes its weights from the covariance of predictions, as the thesis does, and 1e6 stands for weights that could not be found. Product and committee \
     machine fuse predictive distributions, noise inside, one query at a time, each node divided by its own prior; that of \
     networks integrated over the weights, which is the limit of the thesis' Monte Carlo, or linearised."
        .into()
}

fn page(title: &str, setting: Vec<String>, found: &Found, is_wind: bool) -> Reproduction {
    let mut labels = Vec::new();
    let mut table = Vec::new();
    let mean = |split: usize, kind: usize, how: How| {
        let way = WAYS.iter().position(|way| way.how == how).unwrap_or(0);
        let own: Vec<f64> = found[split][kind][way]
            .iter()
            .map(|score| score.0)
            .collect();
        mean_and_error(&own).0
    };
    let inside = |split: usize, kind: usize, how: How| {
        let way = WAYS.iter().position(|way| way.how == how).unwrap_or(0);
        let own: Vec<f64> = found[split][kind][way]
            .iter()
            .map(|score| score.1)
            .collect();
        100.0 * mean_and_error(&own).0
    };
    for (split, split_name) in SPLITS.iter().enumerate() {
        for (kind, kind_name) in KINDS.iter().enumerate() {
            for way in &WAYS {
                let theirs = if is_wind { way.scatterometry } else { way.toy };
                let theirs = theirs[2 * split + kind];
                if theirs.is_nan() {
                    continue;
                }
                let place = WAYS
                    .iter()
                    .position(|other| other.how == way.how)
                    .unwrap_or(0);
                let own: Vec<f64> = found[split][kind][place].iter().map(|s| s.0).collect();
                let (ours, error) = mean_and_error(&own);
                labels.push(format!("{split_name}, {kind_name}, {}", way.name));
                table.push(vec![theirs, ours, error, inside(split, kind, way.how)]);
            }
        }
    }
    let all = |kind: usize, how: How| [0, 1, 2].map(|split| mean(split, kind, how));
    let told =
        |numbers: [f64; 3]| format!("{:.3}, {:.3}, {:.3}", numbers[0], numbers[1], numbers[2]);
    let (nets, radial) = (all(0, How::Cooperative), all(1, How::Cooperative));
    let best = |split: usize| {
        let others = [
            How::Average,
            How::Weighted,
            How::Evidence,
            How::Product,
            How::Linearised,
        ];
        others
            .iter()
            .map(|how| mean(split, 0, *how))
            .fold(f64::INFINITY, f64::min)
    };
    let claims = vec![
        Claim {
            theirs: "Averaging weights fails for networks (0.91, 4.1, 8.5 on the toy data) and works for radial basis functions.".into(),
            ours: format!("networks {}, radial {}", told(nets), told(radial)),
            agrees: nets.iter().zip(radial).all(|(net, radial)| *net > 1.5 * radial),
        },
        Claim {
            theirs: "A Gaussian through the weights fails with many rows a node (networks 1.5, radial 6.8 on the toy data).".into(),
            ours: format!(
                "with its covariance inverted as it stands, although ten agents give it no more than nine directions: networks {}, radial {}; \
                 in the directions that it has: networks {}, radial {}",
                told(all(0, How::Inverted)),
                told(all(1, How::Inverted)),
                told(all(0, How::Parametric)),
                told(all(1, How::Parametric))
            ),
            agrees: mean(1, 0, How::Inverted) > 1.2 * mean(1, 0, How::Average)
                && mean(1, 1, How::Inverted) > 1.2 * mean(1, 1, How::Average),
        },
        Claim {
            theirs: "The non-parametric hierarchy is stable: similar for both models in all three situations.".into(),
            ours: format!(
                "networks {}, radial {}",
                told(all(0, How::NonParametric)),
                told(all(1, How::NonParametric))
            ),
            agrees: [0, 1].iter().all(|kind| {
                let own = all(*kind, How::NonParametric);
                own.iter().all(|error| *error < 2.0 * mean(1, *kind, How::Average))
            }),
        },
        Claim {
            theirs: "Weighted averaging breaks with few rows a node (networks 1e5, radial 2.6 on the toy data).".into(),
            ours: format!("networks {:.3}, radial {:.3}", mean(0, 0, How::Weighted), mean(0, 1, How::Weighted)),
            agrees: [0, 1].iter().all(|kind| {
                mean(0, *kind, How::Weighted) > 1.5 * mean(0, *kind, How::Average)
            }),
        },
        Claim {
            theirs: "Products underestimate the error bars.".into(),
            ours: format!(
                "of networks {:.0} %, of radial {:.0} % within one deviation with few rows a node; 68 % would be right",
                inside(0, 0, How::Product),
                inside(0, 1, How::Product)
            ),
            agrees: inside(0, 0, How::Product) < 50.0 && inside(0, 1, How::Product) < 50.0,
        },
        Claim {
            theirs: "The committee machine with a linearised prior is poor for networks (1.0), with Monte Carlo accurate (0.27 with many rows).".into(),
            ours: format!(
                "linearised {}, Monte Carlo {}; linearised as printed, one node's prior about zero for all, {}",
                told(all(0, How::Linearised)),
                told(all(0, How::Machine)),
                told(all(0, How::Printed))
            ),
            agrees: all(0, How::Linearised).iter().zip(all(0, How::Machine)).all(|(a, b)| *a > 1.5 * b),
        },
        Claim {
            theirs: "With enough rows a node the committee machine with Monte Carlo is best for networks.".into(),
            ours: format!("{:.4}, the best other {:.4}", mean(1, 0, How::Machine), best(1)),
            agrees: mean(1, 0, How::Machine) <= 1.005 * best(1),
        },
    ];
    Reproduction {
        title: title.into(),
        setting,
        labels,
        columns: vec![
            "paper",
            "test error",
            "standard error",
            "% within one deviation",
        ],
        curves: beside(&table, 0, 1),
        rows: table,
        axes: ("row of the table", "normalised test error"),
        logarithmic: (false, true),
        panels: Vec::new(),
        claims,
    }
}
