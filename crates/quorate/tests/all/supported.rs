//! Nearest rows with landmarks behind them, against dense references and through the front door.
#![allow(clippy::unwrap_used, clippy::needless_range_loop, missing_docs)]

use crate::common;

use common::dense;
use common::shards::{bytes, table};
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::{JitterPolicy, Matrix};
use quorate::gp::posterior::{ExactPosterior, Predict};
use quorate::gp::watch::Unwatched;
use quorate::landmarks::{LandmarkBelief, Landmarks, Summary, SummaryTree};
use quorate::local::{LocalAnswers, Neighbourhood, SupportedAnswers, SupportedShape};
use quorate::partition::PartedRows;
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, file};

const NOISE: GaussianNoise = GaussianNoise { variance: 0.05 };

fn kernel() -> BoundKernel {
    let column = InputColumn {
        name: "x".into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    let text = "1.2 * matern32(length_scale=0.6)";
    text.parse::<Kernel>().unwrap().bind(&[column]).unwrap()
}

/// Three clusters of twelve rows on a line.
fn places() -> Vec<f64> {
    (0..36)
        .map(|i| f64::from(i / 12) * 2.0 + f64::from(i % 12) * 0.07 + 0.01 * f64::from(i % 5))
        .collect()
}

fn data() -> Dataset {
    let places = places();
    let targets = places
        .iter()
        .map(|x| (1.7 * x).sin() + 0.1 * (9.0 * x).cos());
    Dataset::new(places.clone(), 1, targets.collect(), None, None).unwrap()
}

const LANDMARKS: [f64; 5] = [0.1, 0.9, 2.2, 3.1, 4.6];
const QUESTIONS: [f64; 4] = [0.33, 0.95, 2.71, 4.5];

fn landmarks() -> Landmarks {
    Landmarks::new(kernel(), Inputs::new(&LANDMARKS, 5, 1).unwrap()).unwrap()
}

fn answers(lists: &[Vec<usize>], neighbours: usize, replace_touched: bool) -> SupportedAnswers {
    let rows = PartedRows::new(data(), lists);
    let mut tree = SummaryTree::default();
    for part in rows.parts() {
        tree.push(Summary::of_part(&landmarks(), NOISE, &part).unwrap())
            .unwrap();
    }
    let total = tree.total(5).unwrap();
    let shape = SupportedShape {
        neighbourhood: Neighbourhood {
            neighbours,
            together: 1,
            least_rows: 0,
        },
        landmarks: 5,
        part_size: 12,
        replace_touched,
    };
    let local = LocalAnswers::new(kernel(), NOISE, data(), shape.neighbourhood);
    let belief = LandmarkBelief::new(landmarks(), &total).unwrap();
    SupportedAnswers::new(local, belief, &total, &rows, shape)
}

fn block(a: &[f64], b: &[f64]) -> Vec<Vec<f64>> {
    let mut out = Matrix::zeros(a.len(), b.len());
    let inputs = |values| Inputs::new(values, values.len(), 1).unwrap();
    kernel().fill(inputs(a), inputs(b), out.as_mut());
    (0..a.len())
        .map(|i| (0..b.len()).map(|j| out[(i, j)]).collect())
        .collect()
}

/// Covariance of the rows `a` and `b` as the landmarks see it: `k(a, Z) K_ZZ^-1 k(Z, b)`.
fn through(a: &[f64], b: &[f64]) -> Vec<Vec<f64>> {
    let mut prior = block(&LANDMARKS, &LANDMARKS);
    let jitter = landmarks().factor().jitter().absolute;
    (0..5).for_each(|i| prior[i][i] += jitter);
    let solved = dense::solve(&prior, &block(&LANDMARKS, b)).0;
    let left = block(a, &LANDMARKS);
    let entry = |i: usize, j: usize| (0..5).map(|k| left[i][k] * solved[k][j]).sum();
    (0..a.len())
        .map(|i| (0..b.len()).map(|j| entry(i, j)).collect())
        .collect()
}

fn nearest(question: f64, count: usize) -> Vec<usize> {
    let places = places();
    let mut order: Vec<usize> = (0..places.len()).collect();
    let distance = |row: usize| (places[row] - question).abs();
    order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// Mean and variance of one question under the model written out: exact within parts and between the question and its
/// own part `own`, through the landmarks elsewhere (Snelson and Ghahramani 2007, eq. 12).
fn dense_answer(question: f64, parts: &[Vec<usize>], own: usize) -> (f64, f64) {
    let order: Vec<usize> = parts.concat();
    let part_of: Vec<usize> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, rows)| vec![part; rows.len()])
        .collect();
    let places: Vec<f64> = order.iter().map(|&row| places()[row]).collect();
    let targets: Vec<f64> = order.iter().map(|&row| data().targets()[row]).collect();
    let (exact, low) = (block(&places, &places), through(&places, &places));
    let covariance: Vec<Vec<f64>> = (0..order.len())
        .map(|i| {
            (0..order.len())
                .map(|j| match (i == j, part_of[i] == part_of[j]) {
                    (true, _) => exact[i][i] + NOISE.variance,
                    (_, true) => exact[i][j],
                    _ => low[i][j],
                })
                .collect()
        })
        .collect();
    let (near, far) = (block(&[question], &places), through(&[question], &places));
    let cross: Vec<f64> = (0..order.len())
        .map(|j| {
            if part_of[j] == own {
                near[0][j]
            } else {
                far[0][j]
            }
        })
        .collect();
    let right: Vec<Vec<f64>> = (0..order.len())
        .map(|i| vec![targets[i], cross[i]])
        .collect();
    let solved = dense::solve(&covariance, &right).0;
    let mean = (0..order.len()).map(|i| cross[i] * solved[i][0]).sum();
    let explained: f64 = (0..order.len()).map(|i| cross[i] * solved[i][1]).sum();
    (mean, block(&[question], &[question])[0][0] - explained)
}

fn thirds() -> Vec<Vec<usize>> {
    (0..3)
        .map(|part| (part * 12..part * 12 + 12).collect())
        .collect()
}

fn assert_answers(answers: &SupportedAnswers, expected: impl Fn(f64) -> (f64, f64)) {
    let found = answers
        .marginals(Inputs::new(&QUESTIONS, 4, 1).unwrap())
        .unwrap();
    for (row, &question) in QUESTIONS.iter().enumerate() {
        let (mean, variance) = expected(question);
        let (m, v) = (found.mean[(row, 0)], found.variance[(row, 0)]);
        assert!((m - mean).abs() < 1e-9, "{question}: {m} and {mean}");
        assert!(
            (v - variance).abs() < 1e-9,
            "{question}: {v} and {variance}"
        );
    }
}

#[test]
fn a_neighbourhood_that_is_a_whole_part_needs_no_replacement() {
    for replace in [false, true] {
        assert_answers(&answers(&thirds(), 12, replace), |question| {
            let near = nearest(question, 12);
            let own = near[0] / 12;
            assert!(near.iter().all(|row| row / 12 == own));
            dense_answer(question, &thirds(), own)
        });
    }
}

#[test]
fn replacing_touched_parts_equals_the_dense_model_of_neighbourhood_and_remainders() {
    assert_answers(&answers(&thirds(), 17, true), |question| {
        let near = nearest(question, 17);
        let mut parts = vec![near.clone()];
        parts.extend(thirds().into_iter().map(|part| {
            part.into_iter()
                .filter(|row| !near.contains(row))
                .collect::<Vec<usize>>()
        }));
        parts.retain(|part| !part.is_empty());
        dense_answer(question, &parts, 0)
    });
}

/// `mean = w' B^-1 b + H' y_s`, `variance = k(x, x) - v'v - C'H + w' B^-1 w`, typed with inverses in place of factors and
/// coordinates that are not whitened: `v'v = k_xZ K^-1 k_Zx`, `w' B^-1 w` with `B^-1` the posterior covariance.
#[test]
fn the_plain_formula_equals_its_dense_form() {
    let lists = thirds();
    let belief = {
        let mut tree = SummaryTree::default();
        for part in data().split(&lists) {
            tree.push(Summary::of_part(&landmarks(), NOISE, &part).unwrap())
                .unwrap();
        }
        LandmarkBelief::new(landmarks(), &tree.total(5).unwrap()).unwrap()
    };
    let z = Inputs::new(&LANDMARKS, 5, 1).unwrap();
    let posterior = belief.joint(z).unwrap();
    let mut prior = block(&LANDMARKS, &LANDMARKS);
    (0..5).for_each(|i| prior[i][i] += landmarks().factor().jitter().absolute);
    assert_answers(&answers(&lists, 17, false), |question| {
        let near = nearest(question, 17);
        let places: Vec<f64> = near.iter().map(|&row| places()[row]).collect();
        let targets: Vec<f64> = near.iter().map(|&row| data().targets()[row]).collect();
        let mut q = block(&places, &places);
        let low = through(&places, &places);
        for i in 0..17 {
            for j in 0..17 {
                q[i][j] -= low[i][j];
            }
            q[i][i] += NOISE.variance;
        }
        let (direct, far) = (block(&places, &[question]), through(&places, &[question]));
        let c: Vec<Vec<f64>> = (0..17).map(|i| vec![direct[i][0] - far[i][0]]).collect();
        let h = dense::solve(&q, &c).0;
        // In coordinates of the landmarks' own values: K^-1 (k_Zx - k_Zs h).
        let (to_x, to_s) = (block(&LANDMARKS, &[question]), block(&LANDMARKS, &places));
        let w: Vec<Vec<f64>> = (0..5)
            .map(|k| vec![to_x[k][0] - (0..17).map(|i| to_s[k][i] * h[i][0]).sum::<f64>()])
            .collect();
        let w = dense::solve(&prior, &w).0;
        let mean = (0..5)
            .map(|k| w[k][0] * posterior.mean[(k, 0)])
            .sum::<f64>()
            + (0..17).map(|i| h[i][0] * targets[i]).sum::<f64>();
        let mut variance = block(&[question], &[question])[0][0]
            - through(&[question], &[question])[0][0]
            - (0..17).map(|i| c[i][0] * h[i][0]).sum::<f64>();
        for k in 0..5 {
            for l in 0..5 {
                variance += w[k][0] * posterior.covariance[(k, l)] * w[l][0];
            }
        }
        (mean, variance)
    });
}

#[test]
fn one_part_equals_the_exact_process_everywhere() {
    let exact =
        ExactPosterior::condition(kernel(), NOISE, data(), JitterPolicy::default()).unwrap();
    let query = Inputs::new(&QUESTIONS, 4, 1).unwrap();
    let expected = exact.marginals(query).unwrap();
    let all: Vec<usize> = (0..36).collect();
    for replace in [false, true] {
        let found = answers(std::slice::from_ref(&all), 36, replace)
            .marginals(query)
            .unwrap();
        for row in 0..4 {
            assert!((found.mean[(row, 0)] - expected.mean[(row, 0)]).abs() < 1e-10);
            assert!((found.variance[(row, 0)] - expected.variance[(row, 0)]).abs() < 1e-10);
        }
    }
    // Without landmarks too.
    let shape = Neighbourhood {
        neighbours: 36,
        together: 2,
        least_rows: 0,
    };
    let local = LocalAnswers::new(kernel(), NOISE, data(), shape);
    let found = local.marginals(query).unwrap();
    for row in 0..4 {
        assert!((found.mean[(row, 0)] - expected.mean[(row, 0)]).abs() < 1e-10);
        assert!((found.variance[(row, 0)] - expected.variance[(row, 0)]).abs() < 1e-10);
    }
}

fn quick() -> ModelSpec {
    ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Local,
        kernel: "matern52(length_scale=0.8) * category".parse().unwrap(),
        learn: LearnChoice::None,
        landmarks: Some(30),
        neighbours: Some(15),
        part_size: Some(50),
        ..ModelSpec::new("y")
    }
}

#[test]
fn a_saved_model_answers_to_the_last_bit_on_any_number_of_threads() {
    for replace_touched in [false, true] {
        let spec = ModelSpec {
            replace_touched,
            ..quick()
        };
        let answer = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let model = Model::fit(&spec, &table(0, 230), &Unwatched).unwrap();
                let prediction = model.predict(&table(500, 530)).unwrap();
                (bytes(&model), prediction)
            })
        };
        let (saved, prediction) = answer(1);
        assert_eq!((&saved, &prediction), (&answer(2).0, &answer(2).1));
        let loaded = file::from_bytes(&saved, "model").unwrap();
        assert_eq!(prediction, loaded.predict(&table(500, 530)).unwrap());
        assert_eq!(saved, bytes(&loaded));
        let error = loaded.sample(&table(500, 510), 1, 1, false).unwrap_err();
        assert!(error.to_string().contains("no joint covariance"), "{error}");
        let page = loaded.inspect().unwrap();
        assert_eq!(page.committee.unwrap().landmarks, 30);
        assert_eq!(page.held_out.unwrap().rows(), 23);
    }
}

#[test]
fn landmarks_help_where_neighbourhoods_are_small() {
    let spec = ModelSpec {
        neighbours: Some(3),
        landmarks: Some(60),
        ..quick()
    };
    let alone = ModelSpec {
        landmarks: None,
        part_size: None,
        ..spec.clone()
    };
    let rmse = |spec: &ModelSpec| {
        let model = Model::fit(spec, &table(0, 600), &Unwatched).unwrap();
        model.evaluate(&table(2000, 2200)).unwrap().rmse
    };
    let (with, without) = (rmse(&spec), rmse(&alone));
    assert!(with < without, "{with} with landmarks, {without} without");
}
