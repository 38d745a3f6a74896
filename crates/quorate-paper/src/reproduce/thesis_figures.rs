//! The thesis' figures 3.3 to 3.26: what fused nodes say of the toy function, with error bars; and where the parametric hierarchy
//! breaks.

use quorate::Result;
use quorate::gp::data::Dataset;

use super::thesis_nodes::{Model, Problem, answers, hierarchies};
use super::thesis_ways::{How, WAYS};
use super::thesis_weights::{KINDS, NOISE, SCALE, SPLITS, models, problem, rows, toy_nodes};
use super::{Claim, Context, Curve, Panel, Reproduction, Size, mean_and_error};
use crate::draw::{Draw, Stream};
use crate::sine;

/// Places at which functions are drawn.
const PLACES: usize = 61;
/// Nodes of a hundred rows each, for the parametric hierarchy.
const AGENTS: [usize; 8] = [4, 7, 10, 13, 14, 16, 20, 40];
/// Rows of each.
const ROWS: usize = 100;
/// Weights of the radial basis functions: one for each, and a constant.
const WEIGHTS: usize = 11;

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let repetitions = match context.size {
        Size::Paper => 20,
        Size::Quick => 2,
    };
    let models = models();
    let panels = drawn(context, &models)?;
    let mut found = vec![vec![Vec::new(); 4]; AGENTS.len()];
    for repetition in 0..repetitions {
        let seed = context.seed + repetition;
        context
            .watch
            .progress("hierarchies", repetition as usize, repetitions as usize);
        let mut draw = Draw::new(seed, Stream::Rows);
        let most = AGENTS[AGENTS.len() - 1] * ROWS;
        let (train, test) = (rows(&mut draw, most)?, rows(&mut draw, 1000)?);
        for (own, agents) in found.iter_mut().zip(AGENTS) {
            let problem = problem(&train, &test, &vec![ROWS; agents]);
            for (kind, model) in models.iter().enumerate() {
                let errors = hierarchies(&problem, model, seed, context.watch)?;
                own[2 * kind].push(errors[0]);
                own[2 * kind + 1].push(errors[1]);
            }
        }
    }
    let table: Vec<Vec<f64>> = (AGENTS.iter().zip(&found))
        .map(|(agents, own)| {
            let each = own.iter().flat_map(|errors| {
                let (mean, error) = mean_and_error(errors);
                [mean, error]
            });
            std::iter::once(*agents as f64).chain(each).collect()
        })
        .collect();
    let curve = |name: &str, column: usize| Curve {
        name: name.to_owned(),
        points: table.iter().map(|row| (row[0], row[column])).collect(),
    };
    let told = |column: usize, some: &dyn Fn(usize) -> bool| {
        let own = AGENTS
            .iter()
            .zip(&table)
            .filter(|(agents, _)| some(**agents));
        let each: Vec<String> = own
            .map(|(agents, row)| format!("{agents}: {:.3}", row[column]))
            .collect();
        each.join(", ")
    };
    // The others of so many agents have a covariance of rank at most two less.
    let lacking = |agents: usize| agents < WEIGHTS + 2;
    let worst = |column: usize, some: &dyn Fn(usize) -> bool| {
        let own = AGENTS
            .iter()
            .zip(&table)
            .filter(|(agents, _)| some(**agents));
        own.map(|(_, row)| row[column]).fold(0.0, f64::max)
    };
    let (without, with) = (worst(5, &lacking), worst(5, &|agents| !lacking(agents)));
    Ok(Reproduction {
        title: "Functions of fused nodes, and what breaks".to_owned(),
        setting: vec![
            format!("Pictures: the toy function sin(2 pi x) (dashed), what the fused nodes of one training set of 1000 rows with noise {NOISE} say of it, and one deviation to both sides, noise inside; networks and radial basis functions, few, many and differently many rows a node, one line of pictures for each way to fuse. Nothing is drawn where weights could not be found."),
            format!("Table: test error over the targets' deviation of the parametric hierarchy when each of so many nodes has {ROWS} rows, means and standard errors of {repetitions} repetitions: with the covariance of the others' weights inverted as it stands, and in the directions that it has. Radial basis functions have {WEIGHTS} weights: with fewer than {} nodes the covariance of the others' weights has no inverse.", WEIGHTS + 2),
        ],
        labels: Vec::new(),
        columns: vec![
            "nodes",
            "networks, inverted",
            "standard error",
            "networks, in its directions",
            "standard error",
            "radial, inverted",
            "standard error",
            "radial, in its directions",
            "standard error",
        ],
        curves: vec![
            curve("networks, inverted", 1),
            curve("networks, in its directions", 3),
            curve("radial, inverted", 5),
            curve("radial, in its directions", 7),
        ],
        rows: table.clone(),
        axes: ("nodes of 100 rows each", "normalised test error"),
        logarithmic: (true, true),
        panels,
        claims: vec![Claim {
            theirs: "A Gaussian through the weights fails with many rows a node (10 nodes: radial 6.8; 8 nodes: 23.5) and works with few (40 nodes: 0.30).".to_owned(),
            ours: format!(
                "it fails with few nodes, whatever their rows: radial basis functions with 100 rows a node, covariance inverted as it stands, fewer nodes than the inverse needs {}; more {}; in the directions that it has {}",
                told(5, &lacking),
                told(5, &|agents| !lacking(agents)),
                told(7, &|_| true)
            ),
            agrees: without > 1.5 * with,
        }],
    })
}

/// A picture for every way, situation and model that the thesis draws.
fn drawn(context: &Context<'_>, models: &[Model; 2]) -> Result<Vec<Panel>> {
    let mut draw = Draw::new(context.seed, Stream::Rows);
    let train = rows(&mut draw, 1000)?;
    let places: Vec<f64> = (0..PLACES)
        .map(|place| 2.0 * place as f64 / (PLACES - 1) as f64)
        .collect();
    let inputs = places.iter().map(|x| (x - 1.0) * SCALE).collect();
    let truth: Vec<f64> = places.iter().map(|x| sine(*x)).collect();
    let grid = Dataset::new(inputs, 1, truth.clone(), None, None)?;
    let mut told = Vec::new();
    for (split, sizes) in toy_nodes().iter().enumerate() {
        for (kind, model) in models.iter().enumerate() {
            context.watch.progress("drawing", told.len(), 6);
            let Problem { nodes, .. } = problem(&train, &grid, sizes);
            let asked = Problem {
                nodes,
                train: train.clone(),
                test: grid.clone(),
            };
            let own = answers(&asked, model, context.seed, context.watch)?;
            told.push((split, kind, own));
        }
    }
    let pairs = |values: &[f64]| places.iter().copied().zip(values.iter().copied()).collect();
    let mut panels = Vec::new();
    for (place, way) in WAYS.iter().enumerate() {
        if matches!(way.how, How::Inverted | How::Printed) {
            continue;
        }
        for (split, kind, own) in &told {
            let known = own[place].as_deref().unwrap_or_default();
            let means: Vec<f64> = known.iter().map(|own| own.mean).collect();
            let bars = (places.iter().zip(known))
                .filter(|(_, own)| own.mean.is_finite() && own.variance.is_finite())
                .map(|(x, own)| {
                    let deviation = own.variance.max(0.0).sqrt();
                    (*x, own.mean - deviation, own.mean + deviation)
                });
            panels.push(Panel {
                title: format!("{}, {}, {}", way.name, SPLITS[*split], KINDS[*kind]),
                truth: pairs(&truth),
                mean: pairs(&means),
                bars: bars.collect(),
            });
        }
    }
    Ok(panels)
}
