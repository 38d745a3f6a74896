//! Nodes that share models and never rows: networks and radial basis functions fused by their weights and by their predictions
//! (thesis, tables 3.3 to 3.10).

use quorate::Result;
use quorate::ensemble::{cooperative, non_parametric, parametric};
use quorate::fusion::{Cell, Fusion, Learned, Moments, Record};
use quorate::member::{Basis, Expansion, InWeights, NetworkMember, WeightSpace};
use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::gaussian::Marginals;
use quorate_gp::linalg::Matrix;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::thesis_joint::{Asked, Common, Noise, together};
use super::thesis_ways::{How, WAYS};

/// Training rows whose predictions tell how nodes vary together.
const RECORD_ROWS: usize = 5_000;

/// Queries asked together.
pub const TOGETHER: usize = 100;

/// Error that stands for weights that could not be found.
const NO_WEIGHTS: f64 = 1e6;

/// Rows cut into nodes, and rows to predict.
pub struct Problem {
    pub nodes: Vec<Dataset>,
    pub train: Dataset,
    pub test: Dataset,
}

/// What every node fits.
#[derive(Clone)]
pub enum Model {
    /// With the precision of the weights learned by the evidence, or held.
    Network {
        hidden: usize,
        held: Option<f64>,
    },
    Radial {
        basis: Basis,
        expansion: Expansion,
    },
}

/// What all nodes say about some rows, noise inside.
struct Said {
    targets: Vec<f64>,
    opinions: Vec<Vec<Moments>>,
    priors: Vec<Vec<Moments>>,
    linearised: Vec<Vec<Moments>>,
}

/// Fits a model to each node and fuses by every way: test error over the targets' deviation, and the share of targets within one
/// deviation of what was predicted.
pub fn fuse(
    problem: &Problem,
    model: &Model,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<(f64, f64)>> {
    let told = answers(problem, model, seed, watch)?.into_iter();
    let targets = problem.test.targets();
    Ok(told
        .map(|own| own.map_or((NO_WEIGHTS, 0.0), |own| score(targets, &own)))
        .collect())
}

/// What is told of every test row by every way; none where weights could not be found.
pub fn answers(
    problem: &Problem,
    model: &Model,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<Option<Vec<Moments>>>> {
    let agents = agents(&problem.nodes, model, seed, watch)?;
    let agents: Vec<&dyn InWeights> = agents.iter().map(AsRef::as_ref).collect();
    let asked = random_rows(problem.train.rows(), RECORD_ROWS, seed);
    let train = Said::of(&agents, &problem.train.select(&asked))?;
    let test = Said::of(&agents, &problem.test)?;
    watch.check()?;
    // The last node is the new agent, the others those it hears of.
    let (new, others) = (
        &problem.nodes[problem.nodes.len() - 1],
        &agents[..agents.len() - 1],
    );
    let query = problem.test.inputs();
    let single = |belief: &Marginals, noise: f64| {
        let rows = 0..query.rows();
        rows.map(|row| Moments {
            mean: belief.mean[(row, 0)],
            variance: belief.variance[(row, 0)] + noise,
        })
        .collect()
    };
    let machine = Fusion::bayesian_committee_machine();
    let (asked, prior) = match model {
        Model::Network { .. } => (Asked::drawn(&agents, query, seed), Common::Drawn),
        // Linear in its weights, so that this is no approximation.
        Model::Radial { .. } => (Asked::new(&agents, query), Common::AllLinearised),
    };
    let common = [
        (Common::None, Noise::Mean),
        (prior, Noise::Mean),
        (Common::OneLinearised, Noise::First),
        (Common::AllLinearised, Noise::Mean),
    ];
    let asked = together(&asked, TOGETHER, &common, watch)?;
    WAYS.iter()
        .map(|way| {
            watch.check()?;
            Ok(Some(match way.how {
                How::Cooperative => {
                    let fused = cooperative(&agents, seed)?;
                    single(&fused.marginals(agents[0], query), fused.noise)
                }
                How::Parametric => {
                    let fused = parametric(others, new)?;
                    single(&fused.marginals(agents[0], query), fused.noise)
                }
                How::Inverted => inverted(others, new, query),
                How::NonParametric => {
                    let learned = given(non_parametric(others, new)?);
                    test.fused(&test.priors, others.len(), &mixture(), Some(&learned))
                }
                How::Average | How::Weighted | How::Evidence => {
                    let fusion = match way.how {
                        How::Average => Fusion::error_averaging(),
                        How::Weighted => Fusion::covariance_weighted(false),
                        _ => Fusion::bayesian_model_averaging(),
                    };
                    let evidence = agents.iter().map(|agent| agent.log_evidence()).collect();
                    let record = train.record(way.how == How::Weighted, evidence);
                    match fusion.learn(&record) {
                        Ok(learned) => {
                            test.fused(&test.priors, agents.len(), &fusion, Some(&learned))
                        }
                        // More nodes than the predictions can tell apart: no weights at all.
                        Err(_) => return Ok(None),
                    }
                }
                How::Product => test.fused(&test.priors, agents.len(), &Fusion::product(), None),
                How::Machine => test.fused(&test.priors, agents.len(), &machine, None),
                How::Linearised => test.fused(&test.linearised, agents.len(), &machine, None),
                How::ProductTogether => asked[0].moments.clone(),
                How::MachineTogether => asked[1].moments.clone(),
                How::OneTogether => asked[2].moments.clone(),
                How::AllTogether => asked[3].moments.clone(),
                How::Printed => test.fused(&test.printed(), agents.len(), &machine, None),
            }))
        })
        .collect()
}

/// A model of every node.
pub fn agents(
    nodes: &[Dataset],
    model: &Model,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<Box<dyn InWeights>>> {
    let each = nodes.par_iter().enumerate();
    each.map(|(node, rows)| -> Result<Box<dyn InWeights>> {
        watch.check()?;
        Ok(match model {
            Model::Network { hidden, held } => {
                let expansion = Expansion::numbers(rows.inputs().width());
                let seed = seed.wrapping_add(1000 * node as u64);
                Box::new(NetworkMember::fit_under(
                    *hidden, expansion, rows, seed, *held,
                )?)
            }
            Model::Radial { basis, expansion } => {
                Box::new(WeightSpace::fit(basis.clone(), expansion.clone(), rows)?)
            }
        })
    })
    .collect()
}

/// Test errors of the parametric hierarchy alone: with its covariance inverted as it stands, and in the directions that it has.
pub fn hierarchies(
    problem: &Problem,
    model: &Model,
    seed: u64,
    watch: &dyn Watch,
) -> Result<[f64; 2]> {
    let agents = agents(&problem.nodes, model, seed, watch)?;
    let agents: Vec<&dyn InWeights> = agents.iter().map(AsRef::as_ref).collect();
    let (new, others) = (
        &problem.nodes[problem.nodes.len() - 1],
        &agents[..agents.len() - 1],
    );
    let (query, targets) = (problem.test.inputs(), problem.test.targets());
    let fused = parametric(others, new)?.marginals(agents[0], query);
    let told: Vec<Moments> = (0..query.rows())
        .map(|row| Moments {
            mean: fused.mean[(row, 0)],
            variance: fused.variance[(row, 0)],
        })
        .collect();
    let typed = inverted(others, new, query);
    Ok([score(targets, &typed).0, score(targets, &told).0])
}

/// The mode of eq. 3.2 as one would type it: `(Sigma^-1 + J'J / s)^-1` from the mean of the weights, with the function linear in the
/// weights around them. `Sigma` has a rank of at most one less than there are agents; what elimination then calls its inverse is
/// rounding, divided by rounding.
fn inverted(agents: &[&dyn InWeights], rows: &Dataset, query: Inputs<'_>) -> Vec<Moments> {
    let (size, count) = (agents[0].weights().len(), agents.len() as f64);
    let noise = agents.iter().map(|own| own.noise_variance()).sum::<f64>() / count;
    let mean = |place: usize| agents.iter().map(|own| own.weights()[place]).sum::<f64>() / count;
    let mu: Vec<f64> = (0..size).map(mean).collect();
    let sigma = Matrix::from_fn(size, size, |i, j| {
        let each = agents
            .iter()
            .map(|own| (own.weights()[i] - mu[i]) * (own.weights()[j] - mu[j]));
        each.sum::<f64>() / count
    });
    let one = Matrix::from_fn(size, size, |i, j| f64::from(u8::from(i == j)));
    let mut precision = eliminated(sigma, one);
    let (outputs, slopes) = agents[0].under(&mu, rows.inputs());
    let mut right = Matrix::zeros(size, 1);
    for row in 0..rows.rows() {
        let share = rows.weights()[row] / noise;
        for i in 0..size {
            right[(i, 0)] += share * slopes[(row, i)] * (rows.targets()[row] - outputs[row]);
            for j in 0..size {
                precision[(i, j)] += share * slopes[(row, i)] * slopes[(row, j)];
            }
        }
    }
    let change = eliminated(precision, right);
    let weights: Vec<f64> = (0..size)
        .map(|place| mu[place] + change[(place, 0)])
        .collect();
    let (outputs, _) = agents[0].under(&weights, query);
    let told = outputs.into_iter().map(|mean| Moments {
        mean,
        variance: f64::NAN,
    });
    told.collect()
}

/// Gaussian elimination with the largest pivot of each column, whatever it is.
pub fn eliminated(mut matrix: Matrix, mut right: Matrix) -> Matrix {
    let size = matrix.nrows();
    for pivot in 0..size {
        let best = (pivot..size)
            .max_by(|&a, &b| {
                matrix[(a, pivot)]
                    .abs()
                    .total_cmp(&matrix[(b, pivot)].abs())
            })
            .unwrap_or(pivot);
        for own in [&mut matrix, &mut right] {
            for column in 0..own.ncols() {
                let (a, b) = (own[(pivot, column)], own[(best, column)]);
                (own[(pivot, column)], own[(best, column)]) = (b, a);
            }
        }
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[(row, pivot)] / matrix[(pivot, pivot)];
            for own in [&mut matrix, &mut right] {
                for column in 0..own.ncols() {
                    let above = own[(pivot, column)];
                    own[(row, column)] -= factor * above;
                }
            }
        }
    }
    Matrix::from_fn(size, right.ncols(), |row, column| {
        right[(row, column)] / matrix[(row, row)]
    })
}

/// A mixture whose weights are given.
fn mixture() -> Fusion {
    Fusion::bayesian_model_averaging()
}

fn given(weights: Vec<f64>) -> Learned {
    let count = weights.len();
    Learned {
        weights,
        correlation: Matrix::from_fn(count, count, |_, _| 1.0),
    }
}

impl Said {
    fn of(agents: &[&dyn InWeights], rows: &Dataset) -> Result<Self> {
        let query: Inputs<'_> = rows.inputs();
        let each: Vec<[Marginals; 3]> = agents
            .par_iter()
            .map(|agent| {
                let belief = agent.marginals(query)?;
                Ok([belief, agent.prior(query), agent.linearised_prior(query)])
            })
            .collect::<Result<_>>()?;
        let noisy = |which: usize| -> Vec<Vec<Moments>> {
            let at = |row: usize| {
                let nodes = each.iter().zip(agents);
                nodes.map(move |(own, agent)| Moments {
                    mean: own[which].mean[(row, 0)],
                    variance: own[which].variance[(row, 0)] + agent.noise_variance(),
                })
            };
            (0..rows.rows()).map(|row| at(row).collect()).collect()
        };
        Ok(Self {
            targets: rows.targets().to_vec(),
            opinions: noisy(0),
            priors: noisy(1),
            linearised: noisy(2),
        })
    }

    /// How nodes vary together: their predictions about their own mean, as the thesis has it, or their errors.
    fn record(&self, of_predictions: bool, log_evidence: Vec<Option<f64>>) -> Record {
        let (rows, nodes) = (self.targets.len(), log_evidence.len());
        let mean =
            |node: usize| self.opinions.iter().map(|all| all[node].mean).sum::<f64>() / rows as f64;
        let centres: Vec<f64> = (0..nodes).map(mean).collect();
        Record {
            targets: match of_predictions {
                true => vec![0.0; rows],
                false => self.targets.clone(),
            },
            weights: vec![1.0; rows],
            means: Matrix::from_fn(rows, nodes, |row, node| {
                let own = self.opinions[row][node].mean;
                if of_predictions {
                    own - centres[node]
                } else {
                    own
                }
            }),
            variances: Matrix::from_fn(rows, nodes, |row, node| self.opinions[row][node].variance),
            log_evidence,
        }
    }

    /// The linearised prior as printed below eq. 3.8: one for all, that of the first node, about zero.
    fn printed(&self) -> Vec<Vec<Moments>> {
        let one = |all: &Vec<Moments>| {
            let own = Moments {
                mean: 0.0,
                variance: all[0].variance,
            };
            vec![own; all.len()]
        };
        self.linearised.iter().map(one).collect()
    }

    /// What the first nodes say together; a row without a belief (a precision that is not positive) counts as the prior's mean
    /// would.
    fn fused(
        &self,
        priors: &[Vec<Moments>],
        nodes: usize,
        fusion: &Fusion,
        learned: Option<&Learned>,
    ) -> Vec<Moments> {
        let at = |row: usize| {
            let cell = Cell {
                opinions: &self.opinions[row][..nodes],
                priors: &priors[row][..nodes],
                base: None,
                noise: 0.0,
                learned,
                between: None,
            };
            fusion.combine_cell(&cell).unwrap_or(Moments {
                mean: 0.0,
                variance: f64::INFINITY,
            })
        };
        (0..self.targets.len()).map(at).collect()
    }
}

/// Error over the targets' deviation, and the share of targets within one deviation.
pub fn score(targets: &[f64], told: &[Moments]) -> (f64, f64) {
    let rows = targets.len() as f64;
    let centre = targets.iter().sum::<f64>() / rows;
    let (mut errors, mut spread, mut inside) = (0.0, 0.0, 0.0);
    for (target, fused) in targets.iter().zip(told) {
        let error = (target - fused.mean).powi(2);
        errors += error;
        spread += (target - centre).powi(2);
        inside += f64::from(u8::from(error <= fused.variance));
    }
    ((errors / spread).sqrt(), inside / rows)
}
