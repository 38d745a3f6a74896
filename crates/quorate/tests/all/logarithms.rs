//! Classes of few rows that differ by factors: logarithms of positive columns, where they lose less.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{Forecast, Model, ModelSpec, file};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::common::frame;
use crate::common::shards::bytes;

const MEASURES: [&str; 3] = ["length", "width", "depth"];

fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Animals of very different sizes; of the same length those of one kind are a tenth wider.
fn animals(rows: usize, seed: u64) -> Frame {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut measures: [Vec<f64>; 3] = Default::default();
    let mut kind = Vec::new();
    for row in 0..rows {
        let wide = row % 2 == 1;
        let length = (4.0 * unit(&mut random)).exp();
        let mut near = || (0.1 * (unit(&mut random) - 0.5)).exp();
        measures[0].push(length);
        measures[1].push(0.7 * length * near() * if wide { 1.1 } else { 1.0 });
        measures[2].push(0.4 * length * near());
        kind.push(Some(if wide { "wide" } else { "narrow" }.into()));
    }
    let numbers = measures.map(Column::Number);
    let named = MEASURES.into_iter().zip(numbers);
    let columns = named.chain([("kind", Column::Text(kind))]);
    Frame::from_columns(columns.collect()).unwrap()
}

fn outcome(model: &Model) -> String {
    model.inspect().unwrap().outcome
}

fn loss(model: &Model, rows: &Frame) -> f64 {
    model.score(rows).unwrap().classes().unwrap().log_loss
}

fn probabilities(model: &Model, rows: &Frame) -> Vec<f64> {
    match model.forecast(rows).unwrap() {
        Forecast::Classes(told) => told.probabilities,
        other => panic!("{other:?}"),
    }
}

#[test]
fn logarithms_are_taken_where_they_tell_more_unless_a_kernel_is_named() {
    let (train, test) = (animals(80, 1), animals(400, 2));
    let spec = ModelSpec::new("kind");
    let model = Model::fit(&spec, &train, &Unwatched).unwrap();
    let said = outcome(&model);
    assert!(said.contains("taken by their logarithms"), "{said}");
    let named = ModelSpec {
        kernel: "se(ard) + linear".parse().unwrap(),
        ..spec
    };
    let plain = Model::fit(&named, &train, &Unwatched).unwrap();
    assert!(!outcome(&plain).contains("logarithms"));
    let (own, other) = (loss(&model, &test), loss(&plain, &test));
    assert!(own < 0.7 * other, "{own} {other}");

    // A file keeps them, to the last bit.
    let loaded = file::from_bytes(&bytes(&model), "model").unwrap();
    assert_eq!(probabilities(&loaded, &test), probabilities(&model, &test));
}

#[test]
fn numbers_without_a_logarithm_are_still_answered() {
    let model = Model::fit(&ModelSpec::new("kind"), &animals(80, 1), &Unwatched).unwrap();
    assert!(outcome(&model).contains("taken by their logarithms"));
    let odd = [0.0, -3.0, -1e300, 1e300, f64::NAN];
    let rows = MEASURES.map(|name| (name, odd.to_vec()));
    for share in probabilities(&model, &frame(rows.to_vec())) {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}

/// Animals of one shape or the other, whose shapes differ less than those of one kind among each other.
#[test]
fn columns_that_grow_together_are_told_by_size_and_shapes() {
    let (train, test) = (animals(80, 1), animals(400, 2));
    let spec = ModelSpec {
        kernel: "auto".parse().unwrap(),
        ..ModelSpec::new("kind")
    };
    let model = Model::fit(&spec, &train, &Unwatched).unwrap();
    let said = outcome(&model);
    assert!(
        said.contains("length, width, depth by their common size and their shapes"),
        "{said}"
    );
    // Readers of the first version of files would take columns one by one.
    assert_eq!(model.inspect().unwrap().format_version, 2);
    let written = bytes(&model);
    let loaded = file::from_bytes(&written, "model").unwrap();
    assert_eq!(probabilities(&loaded, &test), probabilities(&model, &test));

    // Twice as large, and nothing else, is the same shape.
    let grown = |rows: &Frame| {
        let twice = MEASURES.map(|name| match rows.column(name).unwrap() {
            Column::Number(cells) => (
                name,
                Column::Number(cells.iter().map(|own| 2.0 * own).collect()),
            ),
            Column::Text(_) => panic!("{name} holds numbers"),
        });
        Frame::from_columns(twice.into()).unwrap()
    };
    let small = probabilities(&model, &test);
    let large = probabilities(&model, &grown(&test));
    let away = small.iter().zip(&large).map(|(a, b)| (a - b).abs());
    let mean = away.sum::<f64>() / small.len() as f64;
    assert!(mean < 0.1, "{mean}");
}

#[test]
fn a_measure_that_is_missing_is_taken_to_fit_the_others() {
    let (train, test) = (animals(80, 1), animals(400, 2));
    let model = Model::fit(&ModelSpec::new("kind"), &train, &Unwatched).unwrap();
    assert!(outcome(&model).contains("common size and their shapes"));
    let without = MEASURES.map(|name| match test.column(name).unwrap() {
        Column::Number(cells) if name != "depth" => (name, Column::Number(cells.clone())),
        _ => (name, Column::Number(vec![f64::NAN; 400])),
    });
    let without = Frame::from_columns(without.into()).unwrap();
    // Depth says little of kinds; its mean, beside the length and width of a giant, would be a shape that nobody has.
    let (all, fewer) = (
        probabilities(&model, &test),
        probabilities(&model, &without),
    );
    let away = all.iter().zip(&fewer).map(|(a, b)| (a - b).abs());
    let mean = away.sum::<f64>() / all.len() as f64;
    assert!(mean < 0.15, "{mean}");
    let notes = model.schema().encode(&without).unwrap().notes;
    assert!(notes[0].contains("the size that the others"), "{notes:?}");
}

#[test]
fn a_file_whose_proportions_are_damaged_is_refused() {
    let model = Model::fit(&ModelSpec::new("kind"), &animals(80, 1), &Unwatched).unwrap();
    let schema = serde_json::to_value(model.schema()).unwrap();
    assert!(schema["proportions"]["columns"].is_array(), "{schema}");
    type Damage = (&'static str, serde_json::Value);
    let damages: [Damage; 4] = [
        ("size", 0.0.into()),
        ("shape", (-1.0).into()),
        ("columns", vec!["length", "width", "nobody"].into()),
        ("columns", vec!["length", "width"].into()),
    ];
    for (entry, value) in damages {
        let mut damaged = schema.clone();
        damaged["proportions"][entry] = value;
        let read = serde_json::from_value::<quorate::gp::data::Schema>(damaged);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("proportions of columns"), "{entry}: {error}");
    }
}
