//! Committees of members: limits, bags, what averaging gains, and that a comparison covers the registry.
#![allow(clippy::unwrap_used)]

mod answers;
mod classes;
mod comparison;
mod gains;
mod tables;

use quorate::gp::data::{Column, ColumnKind, Dataset, Frame, InputColumn};
use quorate::gp::watch::Unwatched;
use quorate::member::{Kind, Member, Recipe, Setting};

fn unit(row: usize, salt: u64) -> f64 {
    let mut bits = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ salt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for _ in 0..3 {
        bits ^= bits >> 31;
        bits = bits.wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

fn sine(rows: usize, salt: u64) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..rows).map(|row| 3.0 * unit(row, salt) - 1.5).collect();
    let noise = |row: usize| (0..12).map(|k| unit(row, salt * 100 + k + 7)).sum::<f64>() - 6.0;
    let y = x
        .iter()
        .enumerate()
        .map(|(row, x)| (2.0 * x).sin() + 0.2 * noise(row));
    let y = y.collect();
    (x, y)
}

fn columns() -> Vec<InputColumn> {
    vec![InputColumn {
        name: "x".into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    }]
}

fn data(rows: usize, salt: u64) -> Dataset {
    let (x, y) = sine(rows, salt);
    Dataset::new(x, 1, y, None, None).unwrap()
}

fn recipe(kind: &Kind, data: &Dataset) -> Box<dyn Recipe> {
    let columns = columns();
    let setting = Setting {
        columns: &columns,
        seed: 1,
        watch: &Unwatched,
    };
    (kind.prepare)(&setting, data).unwrap()
}

fn fit_parts(recipe: &dyn Recipe, data: &Dataset, parts: &[Vec<usize>]) -> Vec<Box<dyn Member>> {
    parts
        .iter()
        .map(|part| recipe.fit(&data.select(part)).unwrap())
        .collect()
}

const QUERY: [f64; 4] = [-1.2, 0.1, 0.8, 2.5];

fn table(rows: usize) -> Frame {
    let (x, y) = sine(rows, 7);
    let other = (0..rows).map(|row| unit(row, 77)).collect();
    Frame::from_columns(vec![
        ("x", Column::Number(x)),
        ("other", Column::Number(other)),
        ("y", Column::Number(y)),
    ])
    .unwrap()
}

fn table_of_classes(rows: usize) -> Frame {
    let (x, y) = sine(rows, 8);
    let label = |value: &f64| match *value {
        low if low < -0.4 => "low",
        high if high > 0.4 => "high",
        _ => "middle",
    };
    let labels = y
        .iter()
        .map(|value| Some(std::sync::Arc::from(label(value))));
    Frame::from_columns(vec![
        ("label", Column::Text(labels.collect())),
        ("x", Column::Number(x)),
    ])
    .unwrap()
}
