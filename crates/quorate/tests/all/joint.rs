//! The committee asked jointly, against dense references and through the front door.
#![allow(clippy::unwrap_used, clippy::needless_range_loop, missing_docs)]

use crate::common;

use common::shards::{bytes, table};
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::kernel::{BoundKernel, Kernel};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::JitterPolicy;
use quorate::gp::posterior::{ExactPosterior, Predict};
use quorate::gp::watch::Unwatched;
use quorate::joint::{Cells, JointAnswers, JointShape};
use quorate::partition::PartedRows;
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, PartChoice, file};

const NOISE: GaussianNoise = GaussianNoise { variance: 0.05 };

fn bound(text: &str, width: usize) -> BoundKernel {
    let columns: Vec<InputColumn> = (0..width)
        .map(|i| InputColumn {
            name: format!("x{i}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    text.parse::<Kernel>().unwrap().bind(&columns).unwrap()
}

/// Rows of a wavy function of two inputs.
fn rows(count: usize) -> Dataset {
    let value = |i: usize, k: f64| (i as f64 * k + 0.31).sin() * 2.0;
    let inputs = (0..count).flat_map(|i| [value(i, 0.77), value(i, 1.31)]);
    let targets = (0..count).map(|i| value(i, 0.77).sin() + 0.2 * (i as f64 * 2.9).cos());
    Dataset::new(inputs.collect(), 2, targets.collect(), None, None).unwrap()
}

fn shape(questions: usize) -> JointShape {
    JointShape {
        part_size: 1000,
        questions,
        companions: 0,
        prior: true,
    }
}

#[test]
fn one_part_equals_the_exact_process_everywhere() {
    let kernel = bound(
        "0.9 * matern32(ard, length_scale=[0.9, 1.4]) + 0.1 * linear",
        2,
    );
    let data = rows(60);
    let exact =
        ExactPosterior::condition(kernel.clone(), NOISE, data.clone(), JitterPolicy::default())
            .unwrap();
    // More questions than rows and fewer: both ways to hear a member.
    for count in [90, 13] {
        let values: Vec<f64> = (0..2 * count)
            .map(|i| (i as f64 * 0.93).cos() * 2.5)
            .collect();
        let query = Inputs::new(&values, count, 2).unwrap();
        let all: Vec<usize> = (0..60).collect();
        let parted = PartedRows::new(data.clone(), &[all]);
        let joint = JointAnswers::new(kernel.clone(), NOISE, &parted, shape(100)).unwrap();
        let (ours, theirs) = (joint.joint(query).unwrap(), exact.joint(query).unwrap());
        let marginals = joint.marginals(query).unwrap();
        for i in 0..count {
            assert!((ours.mean[(i, 0)] - theirs.mean[(i, 0)]).abs() < 1e-10);
            assert!((marginals.variance[(i, 0)] - theirs.covariance[(i, i)]).abs() < 1e-10);
            for j in 0..count {
                let difference = ours.covariance[(i, j)] - theirs.covariance[(i, j)];
                assert!(difference.abs() < 1e-10, "{i}, {j}: {difference:e}");
            }
        }
    }
}

/// Of a cell only those questions are asked that tell the others; one part says the same through them as at all of them.
#[test]
fn a_few_questions_of_a_cell_speak_for_all() {
    let kernel = bound("1.2 * se(ard, length_scale=[0.9, 1.4])", 2);
    let data = rows(60);
    let exact =
        ExactPosterior::condition(kernel.clone(), NOISE, data.clone(), JitterPolicy::default())
            .unwrap();
    let values: Vec<f64> = (0..400).map(|i| (i as f64 * 0.93).cos() * 2.5).collect();
    let query = Inputs::new(&values, 200, 2).unwrap();
    let theirs = exact.marginals(query).unwrap();
    let all: Vec<usize> = (0..60).collect();
    let whole = PartedRows::new(data.clone(), std::slice::from_ref(&all));
    let one = JointAnswers::new(kernel.clone(), NOISE, &whole, shape(200)).unwrap();
    let ask = |members: &JointAnswers, questions: usize, asked: usize, unknown: f64| {
        let how = Cells {
            questions,
            asked,
            unknown,
        };
        members.marginals_in_cells(query, how, &Unwatched).unwrap()
    };
    let furthest = |ours: &quorate::gp::gaussian::Marginals| {
        let each = (0..200).map(|row| {
            let mean = (ours.mean[(row, 0)] - theirs.mean[(row, 0)]).abs();
            mean.max((ours.variance[(row, 0)] - theirs.variance[(row, 0)]).abs())
        });
        each.fold(0.0, f64::max)
    };
    assert!(furthest(&ask(&one, 50, 50, 1e-9)) < 1e-5);
    assert!(furthest(&ask(&one, 50, 50, 1e-4)) < 1e-2);
    // Too few questions are felt, and said: what they leave unknown is a part of the variance.
    let few = ask(&one, 200, 5, 0.0);
    assert!(furthest(&few) > 0.05);
    // Several parts: a cell of all questions is a block of them.
    let lists: Vec<Vec<usize>> = all.chunks(20).map(<[usize]>::to_vec).collect();
    let parted = PartedRows::new(data, &lists);
    let three = JointAnswers::new(kernel, NOISE, &parted, shape(200)).unwrap();
    let (cell, block) = (ask(&three, 200, 200, 1e-9), three.marginals(query).unwrap());
    for row in 0..200 {
        assert!((cell.mean[(row, 0)] - block.mean[(row, 0)]).abs() < 1e-4);
        assert!((cell.variance[(row, 0)] - block.variance[(row, 0)]).abs() < 1e-4);
    }
}

/// Matern-1/2 in one dimension is a Markov process: given the function at the cut points, intervals are independent,
/// which is all that the committee assumes.
#[test]
fn intervals_with_their_cut_points_among_the_questions_equal_the_full_process() {
    let kernel = bound("1.3 * matern12(length_scale=0.7)", 1);
    let place: Vec<f64> = (0..80)
        .map(|i| f64::from(i) * 0.1 + 0.03 * f64::from(i % 3))
        .collect();
    let targets = place.iter().map(|x| (1.7 * x).sin()).collect();
    let data = Dataset::new(place.clone(), 1, targets, None, None).unwrap();
    let lists: Vec<Vec<usize>> = (0..4)
        .map(|part| (part * 20..part * 20 + 20).collect())
        .collect();
    let cuts: Vec<f64> = (1..4)
        .map(|part| 0.5 * (place[part * 20 - 1] + place[part * 20]))
        .collect();
    let values: Vec<f64> = cuts
        .into_iter()
        .chain((0..30).map(|i| f64::from(i) * 0.29 - 0.3))
        .collect();
    let query = Inputs::new(&values, values.len(), 1).unwrap();
    let exact =
        ExactPosterior::condition(kernel.clone(), NOISE, data.clone(), JitterPolicy::default())
            .unwrap();
    let parted = PartedRows::new(data, &lists);
    let joint = JointAnswers::new(kernel, NOISE, &parted, shape(100)).unwrap();
    let (ours, theirs) = (joint.joint(query).unwrap(), exact.joint(query).unwrap());
    for i in 0..values.len() {
        assert!((ours.mean[(i, 0)] - theirs.mean[(i, 0)]).abs() < 1e-12);
        for j in 0..values.len() {
            let difference = ours.covariance[(i, j)] - theirs.covariance[(i, j)];
            assert!(difference.abs() < 1e-12, "{i}, {j}: {difference:e}");
        }
    }
    // Without the cut points the committee is only close.
    let without = Inputs::new(&values[3..], values.len() - 3, 1).unwrap();
    let apart = joint.joint(without).unwrap();
    let error = |i: usize| (apart.mean[(i, 0)] - ours.mean[(i + 3, 0)]).abs();
    let largest = (0..30).map(error).fold(0.0, f64::max);
    assert!(largest > 1e-6, "{largest:e}");
}

#[test]
fn equal_questions_get_equal_answers() {
    let kernel = bound("se(ard, length_scale=[0.9, 1.4])", 2);
    let parted = PartedRows::new(rows(60), &[(0..30).collect(), (30..60).collect()]);
    let joint = JointAnswers::new(kernel, NOISE, &parted, shape(100)).unwrap();
    let once = [0.2, -0.4, 1.0, 1.1, 0.3, 0.9];
    let twice: Vec<f64> = once.iter().chain(&once).copied().collect();
    let alone = joint.marginals(Inputs::new(&once, 3, 2).unwrap()).unwrap();
    let both = joint.marginals(Inputs::new(&twice, 6, 2).unwrap()).unwrap();
    for row in 0..6 {
        assert!((both.mean[(row, 0)] - alone.mean[(row % 3, 0)]).abs() < 1e-8);
        assert!((both.variance[(row, 0)] - alone.variance[(row % 3, 0)]).abs() < 1e-8);
    }
}

fn quick() -> ModelSpec {
    ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Joint,
        kernel: "matern52(length_scale=0.8) * category".parse().unwrap(),
        learn: LearnChoice::None,
        part_size: Some(50),
        questions: Some(40),
        companions: Some(20),
        ..ModelSpec::new("y")
    }
}

#[test]
fn a_saved_model_answers_to_the_last_bit_on_any_number_of_threads() {
    for parts in ["tree", "random", "cluster", "given", "column:site"] {
        let spec = ModelSpec {
            parts: Some(parts.parse().unwrap()),
            ..quick()
        };
        let answer = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let model = Model::fit(&spec, &table(0, 230), &Unwatched).unwrap();
                let prediction = model.predict(&table(500, 590)).unwrap();
                (bytes(&model), prediction)
            })
        };
        let (saved, prediction) = answer(1);
        assert_eq!((&saved, &prediction), (&answer(2).0, &answer(2).1));
        let loaded = file::from_bytes(&saved, "model").unwrap();
        assert_eq!(prediction, loaded.predict(&table(500, 590)).unwrap());
        assert_eq!(saved, bytes(&loaded));
        let scores = loaded.evaluate(&table(500, 590)).unwrap();
        // The hyperparameters are not learned; the target has a deviation of about 1.
        assert!(scores.rmse < 0.3, "{parts}: {}", scores.rmse);
    }
}

#[test]
fn blocks_are_consecutive_rows_and_share_a_covariance() {
    let model = Model::fit(&quick(), &table(0, 230), &Unwatched).unwrap();
    assert_eq!(model.questions_together(), Some(40));
    let whole = model.predict(&table(500, 590)).unwrap();
    let block = model.predict(&table(540, 580)).unwrap();
    assert_eq!(whole.mean[40..80], block.mean);
    let draws = model.sample(&table(500, 540), 2, 1, false).unwrap();
    assert!(draws.iter().flatten().all(|value| value.is_finite()));
    let error = model.sample(&table(500, 541), 1, 1, false).unwrap_err();
    assert!(error.to_string().contains("--questions"), "{error}");
    let page = model.inspect().unwrap();
    assert_eq!(page.held_out.unwrap().rows(), 23);
    assert!(page.leave_one_out.is_none() && page.committee.is_none());
}

#[test]
fn companions_help_where_questions_are_few() {
    let alone = ModelSpec {
        companions: Some(0),
        parts: Some(PartChoice::Random),
        ..quick()
    };
    let accompanied = ModelSpec {
        companions: Some(150),
        ..alone.clone()
    };
    let error = |spec: &ModelSpec| -> f64 {
        let model = Model::fit(spec, &table(0, 400), &Unwatched).unwrap();
        let one_by_one = (1000..1040).map(|row| model.evaluate(&table(row, row + 1)).unwrap().mae);
        one_by_one.sum()
    };
    let (without, with) = (error(&alone), error(&accompanied));
    assert!(
        with < 0.9 * without,
        "{with} with companions, {without} without"
    );
}

#[test]
fn parts_follow_the_column_that_is_named() {
    let spec = ModelSpec {
        parts: Some(PartChoice::Column("site".into())),
        part_size: Some(500),
        ignore: vec!["site".into()],
        kernel: "matern52(length_scale=0.8)".parse().unwrap(),
        ..quick()
    };
    let model = Model::fit(&spec, &table(0, 60), &Unwatched).unwrap();
    let saved = bytes(&model);
    let tensors = safetensors::SafeTensors::deserialize(&saved).unwrap();
    let view = tensors.tensor("part").unwrap();
    let parts: Vec<u8> = view.data().chunks(8).map(|word| word[0]).collect();
    let expected: Vec<u8> = (0..60).map(|i| (i % 7 % 2) as u8).collect();
    assert_eq!(parts, expected);
    let absent = ModelSpec {
        parts: Some(PartChoice::Column("sight".into())),
        ..spec
    };
    let error = Model::fit(&absent, &table(0, 60), &Unwatched).unwrap_err();
    assert!(error.to_string().contains("site"), "{error}");
}

#[test]
fn a_negligible_prior_makes_the_committee_bolder() {
    let bold = ModelSpec {
        negligible_prior: true,
        ..quick()
    };
    let far = table(0, 5);
    let models = [quick(), bold].map(|spec| {
        let model = Model::fit(&spec, &table(100, 330), &Unwatched).unwrap();
        model.predict(&far).unwrap().latent_variance
    });
    assert!(
        models[0]
            .iter()
            .zip(&models[1])
            .all(|(keep, leave)| leave < keep)
    );
}

#[test]
fn every_damaged_byte_is_noticed() {
    let saved = bytes(&Model::fit(&quick(), &table(0, 20), &Unwatched).unwrap());
    for place in (0..saved.len()).step_by(3) {
        let mut damaged = saved.clone();
        damaged[place] ^= 0x10;
        assert!(file::from_bytes(&damaged, "model").is_err(), "byte {place}");
    }
}
