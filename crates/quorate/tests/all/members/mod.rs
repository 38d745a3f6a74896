//! Members against other software, and what every kind of member promises.
#![allow(clippy::unwrap_used)]

use crate::common;
mod evidence;
mod general;
mod kinds;
mod machines;
mod makers;
mod trees;
mod weights;

use quorate::gp::data::{Classes, Column, Dataset, Frame, InputColumn, Roles, Schema, TargetKind};
use serde_json::Value;

fn golden(file: &str) -> Value {
    let found = common::golden("members").into_iter();
    found.into_iter().find(|(name, _)| name == file).unwrap().1
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn width(value: &Value) -> usize {
    value[0].as_array().unwrap().len()
}

fn near(ours: f64, theirs: f64, tolerance: f64) {
    assert!(
        (ours - theirs).abs() <= tolerance * theirs.abs().max(1.0),
        "{ours} {theirs}"
    );
}

fn rings(rows: usize) -> (Frame, Classes, Dataset, Vec<InputColumn>) {
    let wave = |row: usize, rate: f64| (row as f64 * rate).sin() * 1.8;
    let x: Vec<f64> = (0..rows).map(|row| wave(row, 0.71)).collect();
    let z: Vec<f64> = (0..rows).map(|row| wave(row, 1.37)).collect();
    let labels = (0..rows).map(|row| {
        let noise = (row as f64 * 78.233).sin() * 0.15;
        let label = match x[row].hypot(z[row]) + noise {
            near if near < 1.0 => "in",
            near if near < 1.7 => "mid",
            _ => "out",
        };
        Some(std::sync::Arc::from(label))
    });
    let frame = Frame::from_columns(vec![
        ("label", Column::Text(labels.collect())),
        ("x", Column::Number(x)),
        ("z", Column::Number(z)),
    ])
    .unwrap();
    let roles = Roles {
        target: "label".into(),
        ..Roles::default()
    };
    let (schema, _) = Schema::learn_as(TargetKind::Classes, &frame, &roles).unwrap();
    let data = schema.training_data(&frame).unwrap();
    let classes = schema.target().classes().unwrap().clone();
    (frame, classes, data, schema.columns().to_vec())
}
