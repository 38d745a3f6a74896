//! Fusion of predictions on the thesis' toy data, radial basis function networks (thesis, tables 3.6 to 3.10).

use quorate::Result;
use quorate::fusion::{Cell, Fusion, Learned, Moments, Record};
use quorate::member::{Basis, Expansion, Member, WeightSpace};
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::Predict;

use super::{Claim, Context, Reproduction, Size, beside, mean_and_error};
use crate::draw::{Draw, Stream};
use crate::sine;

/// Radial basis functions of every network, shared, and their width: the centres of ten clusters of uniform inputs.
const CENTRES: usize = 10;
const WIDTH: f64 = 0.3;
const NOISE: f64 = 0.2;
/// Rows of the nodes of table 3.1.
const DIFFERENT: [usize; 8] = [86, 369, 249, 126, 72, 45, 32, 21];

/// How predictions are fused, with the thesis' test error for few, many and differently many rows a node.
const RULES: [(&str, How, [f64; 3]); 6] = [
    ("error averaging", How::Average, [0.2939, 0.2843, 0.2917]),
    (
        "weighted averaging",
        How::Predictions,
        [2.5550, 0.2719, 0.2850],
    ),
    ("weighted by errors, shrunk", How::Errors, [f64::NAN; 3]),
    ("model averaging", How::Evidence, [0.4659, 0.2834, 0.2869]),
    ("product", How::Product, [0.2867, 0.2839, 0.2881]),
    ("committee machine", How::Machine, [0.2912, 0.2790, 0.2812]),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Average,
    /// Weights from the covariance of predictions, as the thesis has it.
    Predictions,
    /// Weights from the second moments of errors, shrunk.
    Errors,
    Evidence,
    Product,
    Machine,
}

/// Test error, training error, share of test targets within one deviation.
type Found = [f64; 3];

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let (repetitions, rows): (u64, usize) = match context.size {
        Size::Paper => (20, 1000),
        Size::Quick => (2, 1000),
    };
    let splits: [(&str, Vec<usize>); 3] = [
        ("few", vec![25; 40]),
        ("many", vec![100; 10]),
        ("different", DIFFERENT.to_vec()),
    ];
    let mut labels = Vec::new();
    let mut table = Vec::new();
    let mut all = Vec::new();
    for (place, (split, sizes)) in splits.iter().enumerate() {
        let mut found: Vec<Vec<Found>> = vec![Vec::new(); RULES.len()];
        for repetition in 0..repetitions {
            context.watch.check()?;
            let done = place * repetitions as usize + repetition as usize;
            context
                .watch
                .progress("fusing", done, splits.len() * repetitions as usize);
            let nodes = Nodes::new(rows, sizes, context.seed + repetition)?;
            for (own, (_, how, _)) in found.iter_mut().zip(&RULES) {
                own.push(nodes.score(*how)?);
            }
        }
        for ((name, _, theirs), own) in RULES.iter().zip(&found) {
            let column =
                |index: usize| mean_and_error(&own.iter().map(|f| f[index]).collect::<Vec<_>>());
            let (test, error) = column(0);
            let row = vec![theirs[place], test, error, column(1).0, 100.0 * column(2).0];
            // What the thesis does not have is told among the claims.
            if theirs[place].is_finite() {
                labels.push(format!("{split}, {name}"));
                table.push(row.clone());
            }
            all.push(row);
        }
    }
    let at = |split: usize, how: How| {
        let rule = RULES.iter().position(|rule| rule.1 == how).unwrap_or(0);
        all[split * RULES.len() + rule].clone()
    };
    let test = |split: usize, how: How| at(split, how)[1];
    let inside = |split: usize, how: How| at(split, how)[4];
    let claims = vec![
        Claim {
            theirs: "Averaging, product and committee machine reach 0.28 to 0.29 in all three situations.".into(),
            ours: format!(
                "{:.3} to {:.3} with few rows a node, {:.3} to {:.3} with many.",
                [How::Average, How::Product, How::Machine].map(|h| test(0, h)).into_iter().fold(f64::INFINITY, f64::min),
                [How::Average, How::Product, How::Machine].map(|h| test(0, h)).into_iter().fold(0.0, f64::max),
                [How::Average, How::Product, How::Machine].map(|h| test(1, h)).into_iter().fold(f64::INFINITY, f64::min),
                [How::Average, How::Product, How::Machine].map(|h| test(1, h)).into_iter().fold(0.0, f64::max),
            ),
            agrees: (0..3).all(|split| {
                [How::Average, How::Product, How::Machine]
                    .iter()
                    .all(|&how| test(split, how) < 0.30)
            }),
        },
        Claim {
            theirs: "Weighted averaging does not work with few rows a node (2.56).".into(),
            ours: format!(
                "{:.3}; with weights from shrunk errors {:.3}.",
                test(0, How::Predictions),
                test(0, How::Errors)
            ),
            agrees: test(0, How::Predictions) > 2.0 * test(0, How::Average),
        },
        Claim {
            theirs: "Weighted averaging beats averaging with many rows a node (0.272 against 0.284).".into(),
            ours: format!(
                "{:.3} against {:.3}; with weights from shrunk errors {:.3}.",
                test(1, How::Predictions),
                test(1, How::Average),
                test(1, How::Errors)
            ),
            agrees: test(1, How::Predictions) < test(1, How::Average),
        },
        Claim {
            theirs: "Model averaging is poor with few rows a node (0.466), because evidences are of different rows.".into(),
            ours: format!("{:.3}, averaging {:.3}.", test(0, How::Evidence), test(0, How::Average)),
            agrees: test(0, How::Evidence) > test(0, How::Average),
        },
        Claim {
            theirs: "Products underestimate the error bars, the more the more nodes there are.".into(),
            ours: format!(
                "{:.0} % of targets within one deviation with 40 nodes, {:.0} % with 10; 68 % would be right.",
                inside(0, How::Product),
                inside(1, How::Product)
            ),
            agrees: inside(0, How::Product) < inside(1, How::Product) && inside(1, How::Product) < 60.0,
        },
    ];
    Ok(Reproduction {
        title: "Fusion of predictions of radial basis function networks on the toy data".into(),
        setting: vec![
            format!(
                "Training and test sets of {rows} rows, x uniform on [0, 2), t = sin(2 pi x) plus noise {NOISE}; {CENTRES} shared \
                 Gaussian functions of width {WIDTH} and a constant, weights and noise of each node by the evidence procedure."
            ),
            "Few: 40 nodes of 25 rows; many: 10 of 100; different: the eight nodes of table 3.1. Errors are normalised by the \
             deviation of the targets: the noise alone is 0.27."
                .into(),
            "Weighted averaging takes its weights from the covariance of predictions on the training inputs, as the thesis does; \
             the claims have them from second moments of errors with shrunk correlations too. Product and committee machine fuse predictive \
             distributions, noise inside, one query at a time, each node divided by its own prior."
                .into(),
            format!("Means and standard errors of {repetitions} repetitions."),
        ],
        labels,
        columns: vec!["paper", "test error", "standard error", "training error", "% within one deviation"],
        curves: beside(&table, 0, 1),
        rows: table,
        axes: ("row of the table", "normalised test error"),
        logarithmic: (false, true),
        panels: Vec::new(),
        claims,
    })
}

/// Networks trained on the rows of each node, and what they say.
struct Nodes {
    train: Said,
    test: Said,
    log_evidence: Vec<Option<f64>>,
}

/// Targets and predictive distributions, noise inside: a row for each query, an entry for each node.
struct Said {
    targets: Vec<f64>,
    opinions: Vec<Vec<Moments>>,
    priors: Vec<Vec<Moments>>,
}

impl Nodes {
    fn new(rows: usize, sizes: &[usize], seed: u64) -> Result<Self> {
        let mut draw = Draw::new(seed, Stream::Rows);
        let mut rows_of = |count: usize| -> (Vec<f64>, Vec<f64>) {
            (0..count)
                .map(|_| {
                    let x = draw.between(0.0, 2.0);
                    (x, sine(x) + NOISE * draw.normal())
                })
                .unzip()
        };
        let (train, test) = (rows_of(rows), rows_of(rows));
        let basis = Basis::Radial {
            centres: (0..CENTRES)
                .map(|i| (2.0 * i as f64 + 1.0) / CENTRES as f64)
                .collect(),
            width: WIDTH,
        };
        let mut members = Vec::new();
        let mut first = 0;
        for size in sizes {
            let last = (first + size).min(rows);
            let (x, t) = (train.0[first..last].to_vec(), train.1[first..last].to_vec());
            let data = Dataset::new(x, 1, t, None, None)?;
            members.push(WeightSpace::fit(
                basis.clone(),
                Expansion::numbers(1),
                &data,
            )?);
            first = last;
        }
        Ok(Self {
            train: Said::of(&members, train)?,
            test: Said::of(&members, test)?,
            log_evidence: members.iter().map(|m| m.log_evidence()).collect(),
        })
    }

    /// What the rule needs to know about the nodes before it is asked.
    fn learn(&self, how: How) -> Result<(Fusion, Option<Learned>)> {
        let said = &self.train;
        let (rows, nodes) = (said.targets.len(), self.log_evidence.len());
        let mean =
            |node: usize| said.opinions.iter().map(|all| all[node].mean).sum::<f64>() / rows as f64;
        let centres: Vec<f64> = (0..nodes).map(mean).collect();
        let record = |of_errors: bool| Record {
            targets: match of_errors {
                true => said.targets.clone(),
                false => vec![0.0; rows],
            },
            weights: vec![1.0; rows],
            means: Matrix::from_fn(rows, nodes, |row, node| {
                let own = said.opinions[row][node].mean;
                if of_errors { own } else { own - centres[node] }
            }),
            variances: Matrix::from_fn(rows, nodes, |row, node| said.opinions[row][node].variance),
            log_evidence: self.log_evidence.clone(),
        };
        let fusion = match how {
            How::Average => Fusion::error_averaging(),
            How::Predictions => Fusion::covariance_weighted(false),
            How::Errors => Fusion::covariance_weighted(true),
            How::Evidence => Fusion::bayesian_model_averaging(),
            How::Product => Fusion::product(),
            How::Machine => Fusion::bayesian_committee_machine(),
        };
        let learned = match how {
            How::Product | How::Machine => None,
            How::Predictions => Some(fusion.learn(&record(false))?),
            How::Average | How::Errors | How::Evidence => Some(fusion.learn(&record(true))?),
        };
        Ok((fusion, learned))
    }

    fn score(&self, how: How) -> Result<Found> {
        let (fusion, learned) = self.learn(how)?;
        let (test, inside) = self.test.score(&fusion, learned.as_ref())?;
        let (train, _) = self.train.score(&fusion, learned.as_ref())?;
        Ok([test, train, inside])
    }
}

impl Said {
    fn of(members: &[WeightSpace], (inputs, targets): (Vec<f64>, Vec<f64>)) -> Result<Self> {
        let query = Inputs::new(&inputs, inputs.len(), 1)?;
        let mut opinions = vec![Vec::new(); targets.len()];
        let mut priors = vec![Vec::new(); targets.len()];
        for member in members {
            let (belief, before) = (member.marginals(query)?, member.prior(query));
            let noise = member.noise_variance();
            for row in 0..targets.len() {
                opinions[row].push(Moments {
                    mean: belief.mean[(row, 0)],
                    variance: belief.variance[(row, 0)] + noise,
                });
                priors[row].push(Moments {
                    mean: 0.0,
                    variance: before.variance[(row, 0)] + noise,
                });
            }
        }
        Ok(Self {
            targets,
            opinions,
            priors,
        })
    }

    /// Root mean squared error over the targets' deviation, and the share within one deviation.
    fn score(&self, fusion: &Fusion, learned: Option<&Learned>) -> Result<(f64, f64)> {
        let rows = self.targets.len() as f64;
        let centre = self.targets.iter().sum::<f64>() / rows;
        let (mut errors, mut spread, mut inside) = (0.0, 0.0, 0.0);
        for (row, target) in self.targets.iter().enumerate() {
            let fused = fusion.combine_cell(&Cell {
                opinions: &self.opinions[row],
                priors: &self.priors[row],
                base: None,
                noise: 0.0,
                learned,
                between: None,
            })?;
            let error = (target - fused.mean).powi(2);
            errors += error;
            spread += (target - centre).powi(2);
            inside += f64::from(u8::from(error <= fused.variance));
        }
        Ok(((errors / spread).sqrt(), inside / rows))
    }
}
